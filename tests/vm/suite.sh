#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# suite.sh DIR TEST...: in vm.sh's machine, runs the tests as make check would
# but for the building, as many at a time as there are processors. Log and
# results of tests/cli/run.t are DIR/tests/cli/run.log and .trs. A test that
# hangs is ended, which counts as its failure.
set -u
export LLMBOX_VM_RESULTS="$1"
shift
cd "${LLMBOX_BUILD:?}" || exit 1

# shellcheck disable=SC2016 # for the inner shell
printf '%s\n' "$@" | xargs -P "$(nproc)" -I '{}' sh -c '
	name=$1
	base=$LLMBOX_VM_RESULTS/${name%.t}
	mkdir -p "${base%/*}"
	case $name in
	*.t) program=$LLMBOX_SRC/$name ;;
	*) program=$LLMBOX_BUILD/$name ;;
	esac
	AM_TAP_AWK=awk exec sh "$LLMBOX_SRC/build-aux/tap-driver.sh" \
		--test-name "$name" --log-file "$base.log" \
		--trs-file "$base.trs" --color-tests no \
		--enable-hard-errors yes --expect-failure no --merge \
		-- timeout -k 10 "${LLMBOX_VM_TEST_SECONDS:-900}" "$program"
' sh '{}'
