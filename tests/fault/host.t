#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# HO-01: a host without user namespaces, or with ones that give no rights: one
# sentence that names the cause and the cure, llmbox's own status, and nothing is
# run without its walls.
# shellcheck source=tests/lib/box.sh
. "${LLMBOX_SRC:?run it by make check}/tests/lib/box.sh"
need_file "$BUSYBOX" 'busybox-static'
need unshare

run box -r "$BUSYBOX" -- true
is 'the image is there' "$RC" 0
if ! unshare -Urm true 2>/dev/null; then
	skip 'no more user namespaces' 'none can be made here at all'
	done_testing
fi
# A namespace of our own, in which we may lower the limit for all below it.
cat >"$T/without.sh" <<'SH'
echo 0 >/proc/sys/user/max_user_namespaces || exit 9
unshare -U true 2>/dev/null && exit 8
exec "$@"
SH
run unshare -Ur sh "$T/without.sh" "$LLMBOX" run --identity one -r "$BUSYBOX" \
	--report "$T/report" -- sh -c 'echo started'
is 'max_user_namespaces 0: status' "$RC" 125
is 'max_user_namespaces 0: nothing was started' "$OUT" ''
is 'max_user_namespaces 0: one line' "$(wc -l <"$T/run.err" | tr -d ' ')" 1
like 'max_user_namespaces 0: the cause' "$ERR" \
	'^llmbox: .*user namespace.*max_user_namespaces'
like 'max_user_namespaces 0: the report' "$(cat "$T/report")" \
	'"outcome":"setup".*"exit_code":125'

# stopped NAME CAUSE CURE: of the last run
stopped()
{
	is "$1: nothing runs" "$RC $OUT" '125 '
	is "$1: one line" "$(wc -l <"$T/run.err" | tr -d ' ')" 1
	like "$1: the cause" "$ERR" "^llmbox: .*$2"
	like "$1: the cure" "$ERR" "\\(.*$3.*\\)\$"
}

# ---- made, but refused to be used

filter='perhaps refused by the system-call filter that llmbox was started under'
for spec in write:uid_map=EPERM write:gid_map=EACCES ioctl:0x8914=EPERM \
	ioctl:0x8914=EACCES mount:0x1000=EACCES; do
	run "$DEGRADE" $spec -- "$LLMBOX" run -- sh -c 'echo started'
	stopped $spec "$filter: " 'seccomp'
done
run "$DEGRADE" write:uid_map=EPERM -- "$LLMBOX" run -- true
like 'uid_map: the step' "$ERR" 'map'
run "$DEGRADE" mount=EACCES -- "$LLMBOX" run -- sh -c 'echo started'
stopped mount=EACCES 'refuses mount\(2\): Permission denied' seccomp
mkdir -m 700 "$T/data2"
run "$DEGRADE" write:uid_map=EPERM -- env XDG_DATA_HOME="$T/data2" \
	"$LLMBOX" run -r "$BUSYBOX" -- sh -c 'echo started'
stopped 'uid_map, an import' "$filter: " 'seccomp'

# ---- settings of the distributions, as files over /proc/sys/kernel

if is_root; then
	alone='unshare -m --propagation private'
else
	alone='unshare -Urm --propagation private'
fi
cat >"$T/setting.sh" <<'SH'
mount -t tmpfs kernel /proc/sys/kernel || exit 9
echo "$2" >"/proc/sys/kernel/$1"
shift 2
exec "$@"
SH
# setting NAME VALUE SPEC
setting()
{
	# shellcheck disable=SC2086 # words
	run $alone sh "$T/setting.sh" "$1" "$2" "$DEGRADE" "$3" -- \
		"$LLMBOX" run -- sh -c 'echo started'
	stopped "$1 $2, $3" "user namespaces: /proc/sys/kernel/$1 is $2: " "$1="
}
for spec in userns=EPERM userns=EACCES write:uid_map=EACCES \
	write:setgroups=EACCES ioctl:0x8914=EPERM mount=EACCES; do
	case $spec-$(is_root && echo root) in
	*setgroups*-root) continue ;; # which keeps its groups' rights
	esac
	setting apparmor_restrict_unprivileged_userns 1 $spec
done
like 'AppArmor: a profile is the other cure' "$ERR" 'llmbox doctor'
setting unprivileged_userns_clone 0 userns=EPERM

# ---- in a chroot

if ldd "$LLMBOX" 2>&1 | grep -qE 'statically|not a dynamic'; then
	tree=$T/tree
	mkdir "$tree"
	tar -C "$tree" -xf "$BUSYBOX" --no-same-owner
	cp "$LLMBOX" "$tree/bin/llmbox"
	cat >"$T/chroot.sh" <<'SH'
tree=$1
case $2 in
bound) mount --bind "$tree" "$tree" ;;
esac
case $2 in
bare) ;;
*) mount --rbind /proc "$tree/proc" ;;
esac
cd /
exec chroot "$tree" /bin/env -i PATH=/bin HOME=/root \
	/bin/llmbox run -- sh -c 'echo started'
SH
	for how in plain bound bare; do
		# shellcheck disable=SC2086 # words
		run $alone sh "$T/chroot.sh" "$tree" $how
		stopped "chroot, $how" chroot 'start llmbox outside'
	done
	# No chroot: its root is a subdirectory of a file system, all the same.
	cat >"$T/pivot.sh" <<'SH'
mount --bind "$1" "$1"
mount --rbind /proc "$1/proc"
mount --rbind /dev "$1/dev"
mkdir -p "$1/old"
cd "$1" && pivot_root . old && cd / && umount -l old
export PATH=/bin HOME=/root
shift
exec "$@"
SH
	# shellcheck disable=SC2086 # words
	run env -i PATH="$PATH" $alone sh "$T/pivot.sh" "$tree" \
		llmbox run -- sh -c 'echo works'
	is 'pivot_root(8) instead: works' "$RC $OUT" '0 works'
else
	inapplicable 'in a chroot' 'llmbox is not one static file'
fi
done_testing
