#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Process 1 of vm.sh's machine, on its real root: makes the user and a control
# group for it, as a login would, and runs the command there. The ports are
# vm.sh's: stdout, stderr, and the status, which must be the last to be written.
ports=/dev/vport
# shellcheck source=/dev/null # vm.sh writes it
. /run/vm/settings
PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
export PATH

finish()
{
	echo "$1" >"$(echo $ports*p3)"
	/run/vm/busybox sync
	exec /run/vm/busybox poweroff -f
}

# The root of the hierarchy has processes, so that only its children may have
# controllers and children without them; the session's group is one's own.
groups=/sys/fs/cgroup
session=$groups/user.slice/session
delegate()
{
	sed 's/[^ ]*/+&/g' "$1/cgroup.controllers" >"$1/cgroup.subtree_control"
}

exec >"$(echo $ports*p1)" 2>"$(echo $ports*p2)" </dev/null
delegate $groups
mkdir -p $session/command
delegate $groups/user.slice
if [ "$VM_USER" != root ]; then
	id "$VM_USER" >/dev/null 2>&1 ||
		useradd --no-create-home --home-dir "/vm/home/$VM_USER" \
			"$VM_USER" || finish 125
	chown "$VM_USER" $session $session/cgroup.procs \
		$session/cgroup.threads $session/cgroup.subtree_control
	chown -R "$VM_USER" $session/command
fi
runtime=/run/user/$(id -u "$VM_USER")
mkdir -p "/vm/home/$VM_USER" "$runtime"
chown "$VM_USER:" "/vm/home/$VM_USER" "$runtime"
chmod 700 "/vm/home/$VM_USER" "$runtime"
status=0
(
	echo 0 >$session/command/cgroup.procs
	exec setpriv --reuid="$VM_USER" --regid="$VM_USER" --init-groups \
		env -i PATH="$PATH" HOME="/vm/home/$VM_USER" USER="$VM_USER" \
		TMPDIR=/vm/tmp XDG_RUNTIME_DIR="$runtime" /bin/sh /run/vm/command
) || status=$?
finish $status
