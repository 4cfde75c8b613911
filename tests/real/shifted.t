#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Real software in a box of host root, whose ids are moved.
IDENTITY=shifted
# shellcheck source=tests/real/real.sh
. "${LLMBOX_SRC:?run it by make check-real}/tests/real/real.sh"
