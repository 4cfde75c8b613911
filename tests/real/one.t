#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Real software in a box of one id, as every ordinary user can have it.
IDENTITY=one
# shellcheck source=tests/real/real.sh
. "${LLMBOX_SRC:?run it by make check-real}/tests/real/real.sh"
