# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# For scripts that run inside a box (install.sh, programs.sh, debug.sh):
#
#   check NAME <<'E' ... E   a script, which fails at its first failing command
#   retry COMMAND...         in such a script: until it succeeds, or a long
#                            while; for servers that are about to listen
#
# Prints "ok NAME", or "not ok NAME" and what the script said, on descriptor 3.
retry()
{
	local rounds=0

	until "$@" 2>/tmp/retry.err; do
		rounds=$((rounds + 1))
		if [ $rounds -ge 300 ]; then
			cat /tmp/retry.err >&2
			return 1
		fi
		sleep 0.1
	done
}
export -f retry

check()
{
	cat >/tmp/check
	if bash -eu -o pipefail -x /tmp/check >/tmp/check.out 2>&1 </dev/null
	then
		echo "ok $1" >&3
	else
		echo "not ok $1" >&3
		tail -n 30 /tmp/check.out | sed 's/^/# /' >&3
	fi
}
