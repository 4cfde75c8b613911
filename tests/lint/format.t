#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# .clang-format decides.
# shellcheck source=tests/lint/lint.sh
. "${LLMBOX_SRC:?run it by make lint}/tests/lint/lint.sh"
tool clang-format
each 'clang-format changes nothing' c_and_headers \
	'clang-format --dry-run -Werror "$1" 2>&1'
done_testing
