#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# mandoc's lint of the manuals.
# shellcheck source=tests/lint/lint.sh
. "${LLMBOX_SRC:?run it by make lint}/tests/lint/lint.sh"
tool mandoc

manuals()
{
	find man -name '*.[1-8]' | sort
}

# Pages of one tree name each other before they are installed.
each 'mandoc finds nothing' manuals \
	'mandoc -T lint -W warning "$1" 2>&1 | grep -v "referenced manual not found"
	true'
done_testing
