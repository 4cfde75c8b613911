# shellcheck shell=sh
# SPDX-License-Identifier: Apache-2.0
# For tests of the program: the built binary, a store and configuration of the
# test's own, and root filesystems that make has built (tests/cache). Sourced:
#
#   . "${LLMBOX_SRC:?run it by make check}/tests/lib/box.sh"
#   run box -r "$BUSYBOX" -- sh -c 'echo hello'
#   is 'says hello' "$OUT" hello
#   done_testing
#
#   box ARG...       llmbox run ARG...
#   $LLMBOX          the binary
#   $BUSYBOX         a root with busybox, all its applets, and /bin/helper
#   $HELPER          a root with /bin/helper only (tests/lib/helper.c)
#   $DEGRADE         a worse kernel for a command (tests/lib/degrade.c)
#   $INPUTS          what make_inputs.py makes: RF-01-*.tar, PJ-*.json, ...
#   $DEBIAN          a Debian tree; only below make check-real and bench
#   $T               a private directory, removed at the end
#   need COMMAND...  skips the script where one is missing
#   is_root          are we the host's root?
#   has_range        has the caller subordinate ids that boxes can use?
#   skip_range NAME  where not: skips, as inapplicable without new privileges
#   has_tmpfs_xattrs  can this kernel's tmpfs be an overlay's upper layer?
#   wait_until COMMAND...  polls until it returns 0; fails after a long while
#   ptyrun ARG...    tests/lib/ptyrun.py: a command at a terminal
#   json FILE EXPRESSION   a Python expression over the document d, printed
# shellcheck source=tests/lib/tap.sh
. "$LLMBOX_SRC/tests/lib/tap.sh"

: "${LLMBOX:?run it by make check}" "${LLMBOX_BUILD:?run it by make check}"
CACHE=$LLMBOX_BUILD/tests/cache
BUSYBOX=$CACHE/busybox.tar
HELPER=$CACHE/helper.tar
INPUTS=$CACHE/inputs
DEGRADE=$LLMBOX_BUILD/tests/lib/degrade

# The caller's own store, policy and named boxes take no part.
export XDG_DATA_HOME="$T/data" XDG_STATE_HOME="$T/state"
export XDG_CONFIG_HOME="$T/config" XDG_RUNTIME_DIR="$T/runtime"
unset LLMBOX_POLICY
mkdir -m 700 "$XDG_DATA_HOME" "$XDG_STATE_HOME" "$XDG_CONFIG_HOME" \
	"$XDG_RUNTIME_DIR"

box()
{
	"$LLMBOX" run "$@"
}

need()
{
	for need_command; do
		command -v "$need_command" >/dev/null 2>&1 ||
			skip_all "$need_command is not installed"
	done
}

need_file()
{
	[ -s "$1" ] || skip_all "$1 could not be made ($2)"
}

is_root()
{
	[ "$(id -u)" -eq 0 ]
}

has_range()
{
	"$LLMBOX" run --identity range --dry-run -- true >/dev/null 2>&1
}

skip_range()
{
	if grep -q '^NoNewPrivs:.*1' /proc/self/status; then
		inapplicable "$1" 'newuidmap gets no rights without new privileges'
	else
		skip "$1" 'there are no subordinate ids, or no newuidmap'
	fi
}

# Trees of a range belong to subordinate ids.
tap_cleanup()
{
	chmod -R u+rwX "$T" 2>/dev/null
	rm -rf "$T" 2>/dev/null || is_root ||
		unshare --map-root-user --map-auto rm -rf "$T"
}

# Linux 6.6; before it upper layers lie on disk whatever is asked for.
has_tmpfs_xattrs()
{
	python3 -c '
import os
os.setxattr(os.memfd_create("test"), "user.test", b"y")' 2>/dev/null
}

# Not a limit on speed: it only turns a hang into a failure.
wait_until()
{
	wait_rounds=0
	until "$@"; do
		wait_rounds=$((wait_rounds + 1))
		[ $wait_rounds -lt 6000 ] || return 1
		sleep 0.01
	done
}

ptyrun()
{
	python3 "$LLMBOX_SRC/tests/lib/ptyrun.py" "$@"
}

json()
{
	python3 -c '
import json, sys
d = json.load(open(sys.argv[1], encoding="utf-8"))
v = eval(sys.argv[2])
print(v if isinstance(v, str) else json.dumps(v))' "$1" "$2"
}
