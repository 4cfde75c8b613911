#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Every script of the tree, by shellcheck.
# shellcheck source=tests/lint/lint.sh
. "${LLMBOX_SRC:?run it by make lint}/tests/lint/lint.sh"
tool shellcheck
each 'shellcheck finds nothing' shell_files 'shellcheck -x "$1" 2>&1'
done_testing
