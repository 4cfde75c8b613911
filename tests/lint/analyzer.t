#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# gcc's path-sensitive analyser. In gcc 12 it takes a copied struct for
# uninitialized and every CMSG_FIRSTHDR for NULL: those two are left out; clang's
# (tidy.t) looks for the latter.
# shellcheck source=tests/lint/lint.sh
. "${LLMBOX_SRC:?run it by make lint}/tests/lint/lint.sh"
tool gcc
each 'gcc -fanalyzer finds nothing' c_files \
	'gcc -std=gnu11 -O1 -fanalyzer -fanalyzer-verbosity=0 -Werror \
		-Wno-analyzer-null-dereference \
		-Wno-analyzer-use-of-uninitialized-value \
		-fno-diagnostics-show-caret $LINT_CPPFLAGS -c -o /dev/null \
		"$1" 2>&1'
done_testing
