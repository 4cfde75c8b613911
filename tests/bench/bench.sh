#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# make bench: what a box costs, against the least that a namespace sandbox can
# do (floor) and against bwrap where it is installed, in a Debian tree. All
# candidates of a table run in turn. As host root it measures as root and then
# as an ordinary user; else as the caller. Nothing here can fail a build.
#
#   BENCH_ROUNDS=200     rounds of the tables of starts
#   BENCH_UNPACK=5       rounds of the table of unpacking
#   BENCH_INSTALL=3      rounds of the table of apt-get install; 0 leaves it out
set -u
: "${LLMBOX:?run it by make bench}" "${LLMBOX_BUILD:?run it by make bench}"
rounds=${BENCH_ROUNDS:-200}
unpack_rounds=${BENCH_UNPACK:-5}
install_rounds=${BENCH_INSTALL:-3}
# Without an account, so that there are no subordinate ids: one id is mapped.
other_id=61234

starts()
{
	echo
	echo "Starts of /bin/true, $rounds rounds, $who"
	# The first run imports the archive.
	"$LLMBOX" run -r "$DEBIAN" -- /bin/true || return
	set -- 'fork+exec true' "$T/tree/usr/bin/true" \
		+++ 'floor (overlay, proc, dev, lo)' "$floor" \
		-n umpitnc -o -p -d -l -r "$T/tree" -- /bin/true
	if command -v bwrap >/dev/null 2>&1; then
		set -- "$@" +++ bwrap bwrap --unshare-all --bind "$T/tree" / \
			--proc /proc --dev /dev -- /bin/true
	fi
	"$turns" -n "$rounds" -- "$@" \
		+++ 'llmbox run -r debian --report' "$LLMBOX" run -r "$DEBIAN" \
		--report "$T/report.json" -- /bin/true \
		+++ 'llmbox run (host view)' "$LLMBOX" run -- /bin/true |
		tee "$T/table"
	# The demand is a ratio to the floor, not to fork+exec.
	awk '
	/^floor/ { floor = $(NF - 3) }
	/^bwrap/ { bwrap = $(NF - 3) }
	/^llmbox run -r/ {
		printf "llmbox to floor: %.2f", $(NF - 3) / floor
		if (bwrap)
			printf ", to bwrap: %.2f", $(NF - 3) / bwrap
		print ""
	}' "$T/table"
}

unpacking()
{
	echo
	echo "Unpacking $(basename "$DEBIAN"), $unpack_rounds rounds, $who"
	mkdir "$T/cold"
	# Device nodes can only be made by host root; llmbox makes none.
	"$turns" -n "$unpack_rounds" \
		-b "rm -rf '$T/cold'; mkdir -m 700 '$T/cold'; sync -f '$T'" -- \
		'tar -x' tar --exclude='./dev/*' -xpf "$DEBIAN" -C "$T/cold" \
		+++ 'llmbox image import' env XDG_DATA_HOME="$T/cold" \
		"$LLMBOX" image import -q "$DEBIAN" debian
	rm -rf "$T/cold"
}

# What root emulation costs: at the start, and for a call that it answers. The
# file is in the upper layer, in memory.
emulation()
{
	echo
	echo "Root emulation, $who"
	if [ "$(id -u)" -eq 0 ]; then
		set -- 0 33 65536
	else
		"$turns" -n "$rounds" -- \
			'no emulation (-u 1000)' "$LLMBOX" run --identity one \
			-u 1000 -r "$DEBIAN" -- /bin/true \
			+++ 'emulation' "$LLMBOX" run --identity one \
			-r "$DEBIAN" -- /bin/true
		set -- 0 33
	fi
	"$LLMBOX" run -r "$DEBIAN" -v "$chowns:/chowns:ro" -- \
		/chowns /var/file "$@"
}

rss()
{
	awk '/^VmRSS:/ { print $2; found = 1 } END { if (!found) print 0 }' \
		"/proc/$1/status"
}

memory()
{
	echo
	echo "Memory while the command sleeps, $who"
	mkfifo "$T/ready" "$T/hold"
	"$LLMBOX" run -r "$DEBIAN" -- sh -c 'echo ready; read -r line' \
		<"$T/hold" >"$T/ready" &
	supervisor=$!
	exec 8>"$T/hold" 7<"$T/ready"
	read -r answer <&7
	[ "$answer" = ready ] || echo "no answer from the box"
	own=$(rss $supervisor)
	total=$own
	# shellcheck disable=SC2013 # words are meant
	for child in $(cat "/proc/$supervisor/task/$supervisor/children"); do
		init=$(rss "$child")
		total=$((total + init))
		echo "child $child: $init KiB"
	done
	echo "supervisor: $own KiB; together $total KiB (at most 4096 wanted)"
	echo >&8
	exec 8>&- 7<&-
	wait $supervisor
	rm -f "$T/ready" "$T/hold"
}

measure()
{
	export XDG_DATA_HOME="$T/data" XDG_STATE_HOME="$T/state"
	export XDG_CONFIG_HOME="$T/config" XDG_RUNTIME_DIR="$T/runtime"
	mkdir -m 700 "$T/data" "$T/state" "$T/config" "$T/runtime"
	mkdir "$T/tree"
	tar --exclude='./dev/*' -xpf "$DEBIAN" -C "$T/tree" 2>/dev/null
	starts
	emulation
	unpacking
	memory
}

if [ "${1-}" = --as ]; then
	T=$2
	who=$3
	floor=$4
	turns=$5
	chowns=$6
	measure
	exit
fi

[ -n "${DEBIAN-}" ] || {
	echo 'bench: no Debian tree (see above)'
	exit 0
}
directory=$(mktemp -d "${BENCH_TMP:-${TMPDIR:-/tmp}}/llmbox-bench.XXXXXX") ||
	exit 1
trap 'rm -rf "$directory"' EXIT
trap 'exit 1' HUP INT TERM
chmod 755 "$directory"
# Copies, since an ordinary user may not reach the build tree.
cp "$LLMBOX" "$LLMBOX_BUILD/tests/bench/floor" \
	"$LLMBOX_BUILD/tests/bench/turns" "$LLMBOX_BUILD/tests/bench/chowns" \
	"$0" "$DEBIAN" "$directory/"
LLMBOX=$directory/llmbox
DEBIAN=$directory/$(basename "$DEBIAN")
chmod 644 "$DEBIAN"
export LLMBOX DEBIAN LLMBOX_BUILD
uname -sr
nproc | sed 's/$/ processors/'

# as NAME [COMMAND-PREFIX]...
as()
{
	as_who=$1
	as_dir=$directory/$2
	shift 2
	"$@" sh "$directory/bench.sh" --as "$as_dir" "$as_who" \
		"$directory/floor" "$directory/turns" "$directory/chowns"
}

# run_as_other COMMAND...: as an ordinary user with one id.
run_as_other()
{
	setpriv --reuid=$other_id --regid=$other_id --clear-groups \
		env HOME="$directory/other" \
		XDG_DATA_HOME="$directory/other/data" \
		XDG_STATE_HOME="$directory/other/state" "$@"
}

# apt-get install in boxes with the upper layer on disk, against the same in a
# chroot of root on the same filesystem. Lists and packages are there before, so
# the network plays no part; the chroot's tree is made anew before each round. A
# box is thrown away within its time.
installing()
{
	echo
	echo "apt-get install build-essential, $install_rounds rounds"
	full=$directory/full.tar
	export XDG_DATA_HOME="$directory/own/data"
	export XDG_STATE_HOME="$directory/own/state"
	"$LLMBOX" run -r "$DEBIAN" --network host -- sh -c '
	{ apt-get update && apt-get install -y --no-install-recommends \
		--download-only build-essential; } >/dev/null 2>&1 &&
	tar -C / --one-file-system -cf - .' >"$full" || {
		echo 'the packages could not be downloaded'
		return
	}
	mkdir "$directory/base"
	tar -xpf "$full" -C "$directory/base"
	cat >"$directory/install.sh" <<'INSTALL'
export DEBIAN_FRONTEND=noninteractive PATH=/usr/sbin:/usr/bin:/sbin:/bin
exec apt-get install -y --no-install-recommends --no-download build-essential
INSTALL
	cat >"$directory/chroot.sh" <<'CHROOT'
mount -t proc proc "$1/proc" && mount --rbind /dev "$1/dev" &&
	exec chroot "$1" sh -c "$(cat "$2")"
CHROOT
	box_command=$(cat "$directory/install.sh")
	"$LLMBOX" image import -q "$full" full
	run_as_other "$LLMBOX" image import -q "$full" full
	"$directory/turns" -n "$install_rounds" -b "
		rm -rf '$directory/chroot'
		cp -a '$directory/base' '$directory/chroot'
		sync" -- \
		'chroot, root' unshare -m sh "$directory/chroot.sh" \
		"$directory/chroot" "$directory/install.sh" \
		+++ 'box, root (shifted)' "$LLMBOX" run -r full \
		--writes disk -- sh -c "$box_command" \
		+++ 'box, user (one id)' setpriv --reuid=$other_id \
		--regid=$other_id --clear-groups \
		env HOME="$directory/other" \
		XDG_DATA_HOME="$directory/other/data" \
		XDG_STATE_HOME="$directory/other/state" "$LLMBOX" run -r full \
		--writes disk -- sh -c "$box_command"
	rm -rf "$directory/chroot" "$directory/base" "$full"
}

mkdir "$directory/own"
if [ "$(id -u)" -eq 0 ]; then
	as 'as host root' own
	mkdir "$directory/other"
	chown $other_id:$other_id "$directory/other"
	as 'as an ordinary user' other run_as_other
	[ "$install_rounds" -eq 0 ] || installing
else
	as 'as an ordinary user' own
fi
