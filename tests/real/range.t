#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Real software in a box of a range of ids, for a user who has subordinate ones.
IDENTITY=range
# shellcheck source=tests/real/real.sh
. "${LLMBOX_SRC:?run it by make check-real}/tests/real/real.sh"
