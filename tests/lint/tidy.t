#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# .clang-tidy says what is asked and why some checks are not.
# shellcheck source=tests/lint/lint.sh
. "${LLMBOX_SRC:?run it by make lint}/tests/lint/lint.sh"
tool clang-tidy
each 'clang-tidy finds nothing' c_files \
	'clang-tidy --quiet --warnings-as-errors="*" "$1" -- -std=gnu11 \
		$LINT_CPPFLAGS 2>/dev/null'
done_testing
