/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Probes: what set-up mounts, in a mount namespace that goes with the probe.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fd.h"
#include "base/mem.h"
#include "doctor/probe_try.h"

/* A detached mount of a new filesystem, or -errno. */
static int new_mount(const char *type, unsigned attributes)
{
	auto_close int fs = fsopen(type, FSOPEN_CLOEXEC);

	if (fs < 0 || fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0)
		return -errno;
	int mount = fsmount(fs, FSMOUNT_CLOEXEC, attributes);

	return mount < 0 ? -errno : mount;
}

/* Each of the calls once, as set-up combines them. */
static const char *try_mount_api(void)
{
	struct mount_attr set = { .attr_set = MOUNT_ATTR_RDONLY };
	auto_close int tmpfs = new_mount("tmpfs", MOUNT_ATTR_NOSUID);

	if (tmpfs < 0)
		return "fsopen";
	if (move_mount(tmpfs, "", AT_FDCWD, "/tmp", MOVE_MOUNT_F_EMPTY_PATH) <
	    0)
		return "move_mount";
	auto_close int tree = open_tree(AT_FDCWD, "/tmp",
					OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);

	if (tree < 0)
		return "open_tree";
	if (mount_setattr(tree, "", AT_EMPTY_PATH | AT_RECURSIVE, &set,
			  sizeof(set)) < 0)
		return "mount_setattr";
	if (mount("/tmp", "/tmp", NULL, MS_BIND | MS_REC, NULL) < 0)
		return "mount";
	if (chdir("/tmp") < 0 || syscall(SYS_pivot_root, ".", ".") < 0)
		return "pivot_root";
	return NULL;
}

void probe_mounts(struct probe_try *t)
{
	if (probe_enter(t, CLONE_NEWNS) < 0)
		return;
	errno = 0;
	const char *failed = try_mount_api();

	if (failed)
		probe_failed(t, errno, CURE_KERNEL, "%s", failed);
	else
		probe_yes(t, "fsopen, move_mount, open_tree, mount_setattr, "
			     "pivot_root");
}

/* ---- /proc ---- */

/* The mounts below /proc, but for what a host has there itself. */
static char *covered_names(void)
{
	auto_buf text = { 0 };
	struct buf names = { 0 };
	char *line, *rest;

	if (file_read(AT_FDCWD, "/proc/self/mountinfo", 1 << 20, &text) < 0 ||
	    !text.data)
		return buf_take(&names);
	rest = text.data;
	while ((line = strsep(&rest, "\n"))) {
		char *at = strstr(line, " /proc/");

		if (!at || strstr(line, " binfmt_misc "))
			continue;
		at++;
		if (names.len < 80)
			buf_addf(&names, "%s%.*s", names.len ? ", " : "",
				 (int)strcspn(at, " "), at);
	}
	return buf_take(&names);
}

/* As pid 1 of the new namespace, whose /proc it is. */
static void try_proc(struct probe_try *t)
{
	if (mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC,
		  NULL) < 0) {
		int code = errno;
		auto_free char *names = covered_names();

		/* mount_too_revealing(), fs/namespace.c */
		if (code == EPERM && *names)
			probe_no(t, CURE_PROC,
				 "a new one is refused, since parts of this "
				 "one are covered: %s",
				 names);
		else
			probe_failed(t, code, CURE_PROC, "mount a new one");
		if (code == EPERM)
			probe_add_cure(t, "or, in the policy, \"proc\": "
					  "\"outer\"");
		return;
	}
	int r = file_put(AT_FDCWD, "/proc/sys/user/max_user_namespaces", "0");

	if (r < 0)
		probe_failed(t, -r, CURE_PROC,
			     "write /proc/sys/user/max_user_namespaces");
	else
		probe_yes(t, "a new one is mounted");
}

void probe_proc(struct probe_try *t)
{
	if (probe_enter(t, CLONE_NEWNS | CLONE_NEWPID) < 0)
		return;
	pid_t pid = fork();

	if (pid == 0) {
		try_proc(t);
		_exit(0);
	}
	if (pid < 0)
		probe_failed(t, errno, CURE_NONE,
			     "the first process of a pid namespace");
	else
		(void)probe_child_succeeded(pid);
}

/* ---- the others ---- */

void probe_sysfs(struct probe_try *t)
{
	if (probe_enter(t, CLONE_NEWNS | CLONE_NEWNET) < 0)
		return;
	int mount = new_mount("sysfs", MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID |
					       MOUNT_ATTR_NODEV |
					       MOUNT_ATTR_NOEXEC);

	if (mount < 0)
		probe_failed(t, -mount, CURE_NONE, "mount a new sysfs");
	else
		probe_yes(t, "a new one is mounted");
}

void probe_devpts(struct probe_try *t)
{
	if (probe_enter(t, CLONE_NEWNS) < 0)
		return;
	if (mount("devpts", "/tmp", "devpts", MS_NOSUID | MS_NOEXEC,
		  "newinstance,ptmxmode=0666,mode=620") < 0) {
		probe_failed(t, errno, CURE_NONE, "mount a new devpts");
		return;
	}
	auto_close int master =
		open("/tmp/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC);
	int unlock = 0;

	if (master < 0 || ioctl(master, TIOCSPTLCK, &unlock) < 0 ||
	    ioctl(master, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC) < 0)
		probe_failed(t, errno, CURE_NONE, "open a terminal of it");
	else
		probe_yes(t, "one of a new devpts is opened");
}

/* Writes until an error, at most count times. 0 or -errno. */
static int fill(int fd, unsigned count)
{
	static const char block[65536];

	for (unsigned i = 0; i < count; i++)
		if (write(fd, block, sizeof(block)) < 0)
			return -errno;
	return 0;
}

void probe_tmpfs(struct probe_try *t)
{
	if (probe_enter(t, CLONE_NEWNS) < 0)
		return;
	if (mount("box", "/tmp", "tmpfs", MS_NOSUID | MS_NODEV,
		  "size=1m,nr_inodes=8") < 0) {
		probe_failed(t, errno, CURE_NONE, "mount a tmpfs");
		return;
	}
	auto_close int fd =
		open("/tmp/full", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	int r = fd < 0 ? -errno : fill(fd, 32);

	if (r == -ENOSPC)
		probe_yes(t, "it is full at its size");
	else if (r < 0)
		probe_failed(t, -r, CURE_NONE, "write to a tmpfs");
	else
		probe_no(t, CURE_NONE, "a tmpfs takes more than its size");
}
