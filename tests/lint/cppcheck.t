#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# cppcheck, with exceptions named in the place they are for.
# shellcheck source=tests/lint/lint.sh
. "${LLMBOX_SRC:?run it by make lint}/tests/lint/lint.sh"
tool cppcheck
# Its style checks take what a cleanup attribute uses for unused.
each 'cppcheck finds nothing' c_files \
	'cppcheck --quiet --enable=warning,portability --inline-suppr \
		--error-exitcode=1 --std=c11 --library=gnu -D__x86_64__ \
		-D__LP64__ -D__linux__ -D_GNU_SOURCE -Icore -I. \
		--suppress=missingInclude \
		--suppress=unknownMacro --suppress=internalAstError \
		--template="{file}:{line}: {id}: {message}" "$1" 2>&1'
done_testing
