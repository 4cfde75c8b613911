# shellcheck shell=sh
# SPDX-License-Identifier: Apache-2.0
# For the linters that look at one file after the other. Sourced.
#
#   tool COMMAND [PACKAGE]   skips the script where it is missing
#   each NAME LIST COMMAND   COMMAND (one string for sh, "$1" is the file) for
#                            each file of LIST, on all processors; the check
#                            fails if one fails, and shows what was said
#
# $LINT_CPPFLAGS is what the compiler gets (make lint sets it).
# shellcheck source=tests/lib/tap.sh
. "$LLMBOX_SRC/tests/lib/tap.sh"
cd "$LLMBOX_SRC" || exit 1

tool()
{
	command -v "$1" >/dev/null 2>&1 ||
		skip_all "$1 is not installed (Debian: ${2-$1})"
}

c_files()
{
	find cmd core rootfs tests -name '*.c' | sort
}

c_and_headers()
{
	find cmd core rootfs tests -name '*.[ch]' ! -name 'seccomp_ready.h' |
		sort
}

shell_files()
{
	{
		find tests -path tests/cache -prune -o \
			\( -name '*.sh' -o -name '*.t' \) -print
		ls bootstrap .ci/run 2>/dev/null
	} | sort
}

each()
{
	each_name=$1
	each_list=$2
	"$each_list" >"$T/files"
	[ -s "$T/files" ] || {
		skip "$each_name" 'there is no such file'
		return
	}
	cat >"$T/one" <<END
out=\$($3) && [ -z "\$out" ] && exit 0
printf '%s\n' "== \$1" "\$out"
exit 1
END
	each_rc=0
	xargs -P "$(nproc)" -n 1 sh "$T/one" <"$T/files" >"$T/said" 2>&1 ||
		each_rc=1
	ok "$each_name ($(wc -l <"$T/files") files)" test $each_rc -eq 0
	[ $each_rc -eq 0 ] || head -n "${LINT_LINES-200}" "$T/said" |
		sed 's/^/# /'
}
