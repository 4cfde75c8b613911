#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check.sh TEST...: make check-vm. Runs tests on the kernel of vm.sh, first as
# root, then as an ordinary user, each in a machine of its own. Results and logs
# are left where .ci/run finds them, below tests/vm/results in the build tree;
# what failed is shown again at the end. Where there can be no machine it says
# so, which is a failure with LLMBOX_MUST_WORK=1.
#
#   LLMBOX_VM_USERS    "root user"
#   LLMBOX_VM_SECONDS  3600; for each machine
set -u
: "${LLMBOX:?run it by make check-vm}" "${LLMBOX_SRC:?}" "${LLMBOX_BUILD:?}"
here=$LLMBOX_SRC/tests/vm
results=$LLMBOX_BUILD/tests/vm/results
failed=0

cannot()
{
	echo "check-vm: $*" >&2
	[ "${LLMBOX_MUST_WORK-}" != 1 ] || exit 1
	exit 0
}

[ "$(id -u)" -eq 0 ] || cannot 'skipped: virtiofsd needs root'
VM=$(sh "$here/make_vm.sh")
[ -n "$VM" ] || cannot 'skipped: nothing to run a virtual machine with'
export VM

# failures DIR TEST...: prints the tests that have no results, or other than
# passes and skips.
failures()
{
	failures_dir=$1
	shift
	for test; do
		trs=$failures_dir/${test%.t}.trs
		if ! grep -q '^:test-result' "$trs" 2>/dev/null ||
			grep -qE '^:test-result: (FAIL|XPASS|ERROR)' "$trs"; then
			echo "$test"
		fi
	done
}

rm -rf "$results"
for user in ${LLMBOX_VM_USERS:-root user}; do
	dir=$results/$user
	mkdir -p "$dir"
	chmod 1777 "$dir"
	account=root
	[ "$user" = root ] || account=llmbox-vm
	sh "$here/vm.sh" -u "$account" -o "$dir" -m 2048 -c "$(nproc)" \
		-t "${LLMBOX_VM_SECONDS:-3600}" -- env LLMBOX="$LLMBOX" \
		LLMBOX_SRC="$LLMBOX_SRC" LLMBOX_BUILD="$LLMBOX_BUILD" \
		LLMBOX_MUST_WORK="${LLMBOX_MUST_WORK-}" DEBIAN="${DEBIAN-}" \
		sh "$here/suite.sh" "$dir" "$@" || failed=1
	chown -R 0:0 "$dir"
	for test in $(failures "$dir" "$@"); do
		failed=1
		echo "check-vm: as $user: $test failed:"
		grep -E -A 25 '^not ok' "$dir/${test%.t}.log" 2>/dev/null |
			grep -vE '^ok ' | head -n 60 | sed 's/^/    /'
	done
done
exit $failed
