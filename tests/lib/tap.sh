# shellcheck shell=sh
# SPDX-License-Identifier: Apache-2.0
# TAP for tests written in POSIX sh. Sourced, never run:
#
#   run COMMAND...            its stdout, stderr, status: $OUT, $ERR, $RC
#   ok NAME COMMAND...        passes if the command (a function too) returns 0
#   is NAME GOT WANT          the same string
#   isnt NAME GOT UNWANTED
#   like NAME GOT REGEX       grep -E finds it in a line
#   unlike NAME GOT REGEX
#   skip NAME REASON          one check that can't be made here
#   inapplicable NAME REASON  one that has no meaning here: for another
#                             identity, kernel or kind of build
#   skip_all REASON           the whole script; ends it
#   diag TEXT...              for people
#   done_testing              the plan; ends the script
#
# With LLMBOX_MUST_WORK=1 (CI) each skip is a failure, since what it misses can
# be installed or allowed; what is inapplicable is only told.

TAP_COUNT=0
TAP_FAILED=0

diag()
{
	printf '%s\n' "$*" | sed 's/^/# /'
}

# tap_result 0|1 NAME
tap_result()
{
	TAP_COUNT=$((TAP_COUNT + 1))
	tap_name=$(printf '%s' "$2" | tr '\n#' ' :')
	if [ "$1" -eq 0 ]; then
		echo "ok $TAP_COUNT - $tap_name"
		return 0
	fi
	TAP_FAILED=$((TAP_FAILED + 1))
	echo "not ok $TAP_COUNT - $tap_name"
	return 0
}

tap_got_want()
{
	diag "got:  $1"
	diag "want: $2"
}

# What the last run said, for a failure that is about it.
tap_last_run()
{
	[ -n "${RUN_COMMAND-}" ] || return 0
	diag "after: $RUN_COMMAND"
	diag "status $RC"
	printf '%s\n' "$OUT" | head -n 20 | sed 's/^/# out: /'
	printf '%s\n' "$ERR" | head -n 20 | sed 's/^/# err: /'
}

ok()
{
	tap_what=$1
	shift
	tap_status=0
	"$@" || tap_status=1
	tap_result $tap_status "$tap_what"
	[ $tap_status -eq 0 ] || tap_last_run
}

is()
{
	if [ "$2" = "$3" ]; then
		tap_result 0 "$1"
	else
		tap_result 1 "$1"
		tap_got_want "$2" "$3"
		tap_last_run
	fi
}

isnt()
{
	if [ "$2" != "$3" ]; then
		tap_result 0 "$1"
	else
		tap_result 1 "$1"
		tap_got_want "$2" "anything else"
		tap_last_run
	fi
}

like()
{
	if printf '%s\n' "$2" | grep -Eq -e "$3"; then
		tap_result 0 "$1"
	else
		tap_result 1 "$1"
		tap_got_want "$2" "to match /$3/"
		tap_last_run
	fi
}

unlike()
{
	if printf '%s\n' "$2" | grep -Eq -e "$3"; then
		tap_result 1 "$1"
		tap_got_want "$2" "not to match /$3/"
		tap_last_run
	else
		tap_result 0 "$1"
	fi
}

inapplicable()
{
	TAP_COUNT=$((TAP_COUNT + 1))
	echo "ok $TAP_COUNT - $1 # SKIP not here: $2"
}

skip()
{
	if [ "${LLMBOX_MUST_WORK-}" = 1 ]; then
		tap_result 1 "$1"
		diag "may not be skipped here: $2"
		return
	fi
	TAP_COUNT=$((TAP_COUNT + 1))
	echo "ok $TAP_COUNT - $1 # SKIP $2"
}

skip_all()
{
	if [ "${LLMBOX_MUST_WORK-}" = 1 ]; then
		tap_result 1 "$1"
		diag 'may not be skipped here'
		done_testing
	fi
	echo "1..0 # SKIP $1"
	exit 0
}

# Keeps the streams in files, so that neither can block the other.
run()
{
	RUN_COMMAND=$*
	RC=0
	"$@" >"$T/run.out" 2>"$T/run.err" || RC=$?
	OUT=$(tr -d '\0' <"$T/run.out")
	ERR=$(tr -d '\0' <"$T/run.err")
}

# Automake wants 0 also after failures: the TAP lines say it.
done_testing()
{
	echo "1..$TAP_COUNT"
	exit 0
}

# A private directory, removed at the end whatever happened.
T=$(mktemp -d "${TMPDIR:-/tmp}/llmbox-test.XXXXXX") || exit 1
tap_cleanup()
{
	chmod -R u+rwX "$T" 2>/dev/null
	rm -rf "$T"
}
trap tap_cleanup EXIT
trap 'exit 1' HUP INT TERM
