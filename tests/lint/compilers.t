#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# No warning from either compiler, at the level that configure asks for.
# shellcheck source=tests/lint/lint.sh
. "${LLMBOX_SRC:?run it by make lint}/tests/lint/lint.sh"

for compiler in gcc clang; do
	if ! command -v $compiler >/dev/null 2>&1; then
		skip "$compiler" 'is not installed'
		continue
	fi
	export compiler
	each "$compiler warns of nothing" c_files \
		'$compiler -std=gnu11 -O2 -Wall -Wextra -Wshadow \
			-Wpointer-arith -Wwrite-strings -Wstrict-prototypes \
			-Wmissing-prototypes -Wvla -Wformat=2 -Wconversion \
			-Wundef -Werror $LINT_CPPFLAGS -c -o /dev/null "$1" 2>&1'
done
done_testing
