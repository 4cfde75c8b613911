#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Much of the suite on worse hosts: llmbox under a filter that takes one feature
# away (tests/lib/degrade.c). What has to work without it is run whole, and
# every check in it counts; what stops then is in features.t. By "make
# check-degraded", since it takes some minutes; with names of features in
# LLMBOX_DEGRADED only these.
# shellcheck source=tests/lib/box.sh
. "${LLMBOX_SRC:?run it by make check}/tests/lib/box.sh"
need_file "$BUSYBOX" 'busybox-static'
need python3

# A program that is llmbox on that host, in its own process.
llmbox=$LLMBOX
degraded_llmbox()
{
	printf '#!/bin/sh\nexec %s %s -- %s "$@"\n' "$DEGRADE" "$1" "$llmbox" \
		>"$T/llmbox"
	chmod 755 "$T/llmbox"
}

# suite SPEC TEST...
suite()
{
	degraded_llmbox "$1"
	suite_spec=$1
	shift
	for suite_test; do
		LLMBOX=$T/llmbox sh "$LLMBOX_SRC/$suite_test" \
			>"$T/suite.out" 2>&1
		suite_failed=$(grep -c '^not ok' "$T/suite.out")
		is "$suite_spec: $suite_test" \
			"$suite_failed failed, $(grep -c '^1\.\.' "$T/suite.out") plan" \
			'0 failed, 1 plan'
		[ "$suite_failed" -eq 0 ] ||
			diag "$(grep -A 8 '^not ok' "$T/suite.out" | head -n 40)"
	done
}

most='tests/cli/run.t tests/cli/stdio.t tests/cli/image.t tests/cli/volumes.t
	tests/cli/limits.t tests/escape/init.t'
for spec in clone3=EPERM close_range=EPERM keyctl=EPERM statx=ENOSYS \
	faccessat2=ENOSYS landlock_create_ruleset=ENOSYS; do
	case " ${LLMBOX_DEGRADED:-$spec} " in
	*" $spec "*) ;;
	*) continue ;;
	esac
	# shellcheck disable=SC2086 # names of tests
	suite $spec $most
done
# Without files in memory nobody can tell whether a tmpfs has user xattrs:
# changes to an image go to disk, where the disk limit is soft.
case " ${LLMBOX_DEGRADED:-memfd_create=ENOSYS} " in
*' memfd_create=ENOSYS '*)
	suite memfd_create=ENOSYS tests/cli/run.t tests/cli/stdio.t \
		tests/cli/exec.t tests/cli/image.t tests/escape/init.t
	;;
esac
done_testing
