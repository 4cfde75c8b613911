#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Includes go one way only: cmd -> rootfs -> core, inside core base <- policy <-
# net <- sandbox <- doctor, super; each library is used in one place; core and rootfs
# never print and never end the program. That libcore.a links alone is shown by
# tests/unit/core_alone.
# shellcheck source=tests/lib/tap.sh
. "${LLMBOX_SRC:?run it by make check}/tests/lib/tap.sh"
cd "$LLMBOX_SRC" || exit 1

# none NAME COMMAND...: what the command prints are the offences.
none()
{
	none_name=$1
	shift
	none_said=$("$@")
	ok "$none_name" test -z "$none_said"
	[ -z "$none_said" ] ||
		printf '%s\n' "$none_said" | head -n 20 | sed 's/^/# /'
}

# includes TREE...: "file header" of every #include "header".
includes()
{
	grep -rEn --include='*.[ch]' '^[[:space:]]*#[[:space:]]*include[[:space:]]*"' "$@" |
		sed -E 's/^([^:]*):[0-9]+:[^"]*"([^"]*)".*/\1 \2/'
}

core_order()
{
	includes core | awk '
	BEGIN {
		n = split("base policy net sandbox doctor super", names)
		for (i = 1; i <= n; i++)
			rank[names[i]] = i
	}
	{
		split($1, file, "/")
		split($2, header, "/")
		if (!(header[1] in rank) || rank[header[1]] > rank[file[2]])
			print $1 " includes " $2
	}'
}

rootfs_order()
{
	includes rootfs | awk '$2 ~ /^(cmd|tests)\// || $2 !~ /\// {
		print $1 " includes " $2 }'
}

cmd_order()
{
	includes cmd | awk '$2 ~ /^tests\// || $2 !~ /\// {
		print $1 " includes " $2 }'
}

# only REGEX-OF-HEADERS REGEX-OF-FILES
only()
{
	grep -rEl --include='*.[ch]' \
		"^[[:space:]]*#[[:space:]]*include[[:space:]]*<$1>" \
		core rootfs cmd | grep -Ev "$2"
}

# Between clone and exec a process ends by _exit(2); that is no exit(3).
prints()
{
	grep -rEn --include='*.c' \
		'(^|[^_[:alnum:]])(v?printf|v?fprintf|puts|fputs|putchar|perror|v?err|v?errx|v?warn|v?warnx|exit|abort_program|psignal)\(' \
		core rootfs | grep -v '^core/sandbox/mkfilter\.c:' |
		grep -vE ':[[:space:]]*(/?\*|//)'
}

none 'core includes core only, from the inside out' core_order
none 'rootfs includes core and rootfs only' rootfs_order
none 'cmd includes by full names' cmd_order
none 'libarchive is in rootfs/archive.c only' \
	only 'archive(_entry)?\.h' '^rootfs/archive\.c$'
none 'yajl is in core/base/json_*.c only' \
	only 'yajl/[^>]*' '^core/base/json_[a-z_]*\.[ch]$'
none 'libseccomp is in core/sandbox/seccomp*.c and mkfilter.c only' \
	only 'seccomp\.h' '^core/sandbox/(seccomp[a-z_]*|mkfilter)\.[ch]$'
none 'core and rootfs never print and never exit' prints
done_testing
