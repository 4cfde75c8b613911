#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What holds for every file: its licence in the first lines, its own header
# first, a place in Makefile.am, a bearable size, no call that has a safe twin.
# shellcheck source=tests/lib/tap.sh
. "${LLMBOX_SRC:?run it by make check}/tests/lib/tap.sh"
cd "$LLMBOX_SRC" || exit 1

none()
{
	none_name=$1
	shift
	none_said=$("$@")
	ok "$none_name" test -z "$none_said"
	[ -z "$none_said" ] ||
		printf '%s\n' "$none_said" | head -n 20 | sed 's/^/# /'
}

sources()
{
	find cmd core rootfs tests -name '*.[ch]' ! -name 'seccomp_ready.h' |
		sort
}

# Made by make_cache.sh in a build in the tree, so not looked at.
scripts()
{
	find tests .ci bootstrap \( -name '*.sh' -o -name '*.t' -o \
		-name '*.py' -o -path .ci/run -o -path bootstrap \) -type f |
		grep -v '^tests/cache/' | sort
}

without_licence()
{
	for file in $(sources) $(scripts) configure.ac Makefile.am; do
		head -n 2 "$file" | grep -q 'SPDX-License-Identifier: Apache-2.0' ||
			echo "$file"
	done
	find man -name '*.[1-8]' -exec \
		grep -L 'SPDX-License-Identifier: Apache-2.0' {} + 2>/dev/null
}

own_header_not_first()
{
	for file in $(sources | grep '\.c$'); do
		header=${file%.c}.h
		[ -f "$header" ] || continue
		first=$(sed -n 's/^#include "\(.*\)"$/\1/p' "$file" | head -n 1)
		before=$(sed '/^#include/q' "$file" | grep -c '^#include "')
		case $header in
		"$first" | */"$first") [ "$before" -eq 1 ] && continue ;;
		esac
		echo "$file"
	done
}

without_place()
{
	for file in $(sources) $(scripts) \
		$(find man -name '*.[1-8]') $(find examples -type f); do
		# A test in C is named by its program.
		grep -qE "[=[:space:]]${file%.c}(\.c)?([[:space:]]|\$)" \
			Makefile.am || echo "$file"
	done
}

too_long()
{
	for file in $(sources); do
		lines=$(wc -l <"$file")
		case $file in
		tests/*) most=1000 ;;
		*) most=800 ;;
		esac
		[ "$lines" -le "$most" ] || echo "$file has $lines lines"
	done
}

unsafe_calls()
{
	sources | grep -v '^tests/' | xargs grep -nE \
		'(^|[^_[:alnum:]])(strcpy|strcat|sprintf|vsprintf|gets|atoi|atol|atoll|system|popen|tmpnam|mktemp|strtok|usleep|alloca)\(' |
		grep -vE ':[[:space:]]*(/?\*|//)'
}

unfinished()
{
	sources | xargs grep -nE '(^|[^X])(TODO|FIXME|XXX|HACK)([^X]|$)'
}

not_executable()
{
	for file in $(scripts); do
		case $file in
		tests/lib/box.sh | tests/lib/tap.sh | tests/lint/lint.sh | \
			tests/real/check.sh | tests/real/real.sh) continue ;;
		esac
		[ -x "$file" ] || echo "$file"
	done
}

none 'every file names its licence' without_licence
none "a file's own header comes first" own_header_not_first
none 'every file is in Makefile.am' without_place
none 'no file is longer than 800 lines, no test than 1000' too_long
none 'no calls that have a safe twin' unsafe_calls
none 'nothing is marked as unfinished' unfinished
none 'every script can be run' not_executable
done_testing
