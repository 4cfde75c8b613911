/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Probes: the store's directory, and what overlays need of tmpfs and of the
 * file system that the store is on. What an overlay can is shown by using it:
 * its mount succeeds where a directory can't be replaced later.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/dirs.h"
#include "base/error.h"
#include "base/fd.h"
#include "base/mem.h"
#include "doctor/probe_try.h"

enum { SPACE_LOW_MIB = 1024 };

/* ---- the store ---- */

static void tell_space(struct probe_try *t, const char *state)
{
	struct statvfs fs;

	if (statvfs(t->in->place, &fs) < 0) {
		probe_failed(t, errno, CURE_STORE, "%s", t->in->store);
		return;
	}
	unsigned long long mib =
		(unsigned long long)fs.f_bavail * fs.f_frsize >> 20;

	if (mib < SPACE_LOW_MIB)
		probe_soft(t, CURE_STORE, "%s%s: only %llu MiB free",
			   t->in->store, state, mib);
	else
		probe_yes(t, "%s%s: %llu GiB free", t->in->store, state,
			  mib >> 10);
}

void probe_store(struct probe_try *t)
{
	struct error err = { 0 };

	if (!t->in->store) {
		probe_no(t, CURE_STORE,
			 "neither HOME nor XDG_DATA_HOME is set");
		return;
	}
	if (!t->in->place) {
		probe_no(t, CURE_STORE, "%s can't be written", t->in->store);
		return;
	}
	if (access(t->in->store, F_OK) < 0) {
		tell_space(t, " (not made yet)");
		return;
	}
	auto_close int fd = dirs_open_private(t->in->store, &err);

	if (fd >= 0) {
		tell_space(t, "");
		return;
	}
	probe_no(t, CURE_NONE, "%s", err.message);
	probe_add_cure(t, "%s",
		       err.hint[0] ? err.hint : explain_cure(CURE_STORE));
}

/* ---- overlays ---- */

/* What a run mounts over the host's /tmp, with the lower tree in it. */
static int make_scratch(void)
{
	static const char *const dirs[] = { "/tmp/l", "/tmp/l/d", "/tmp/m",
					    "/tmp/disk" };

	if (mount("box", "/tmp", "tmpfs", MS_NOSUID | MS_NODEV, "size=1m") < 0)
		return -errno;
	for (size_t i = 0; i < ARRAY_SIZE(dirs); i++)
		if (mkdir(dirs[i], 0755) < 0)
			return -errno;
	auto_close int fd =
		open("/tmp/l/d/x", O_WRONLY | O_CREAT | O_CLOEXEC, 0644);

	return fd < 0 ? -errno : 0;
}

static int make_upper(const char *where)
{
	char path[64];

	snprintf(path, sizeof(path), "%s/u", where);
	if (mkdir(path, 0755) < 0)
		return -errno;
	snprintf(path, sizeof(path), "%s/w", where);
	return mkdir(path, 0755) < 0 ? -errno : 0;
}

static int mount_overlay(const char *where)
{
	char options[128];

	snprintf(options, sizeof(options),
		 "lowerdir=/tmp/l,upperdir=%s/u,workdir=%s/w,userxattr", where,
		 where);
	return mount("box", "/tmp/m", "overlay", MS_NOSUID, options) < 0
		       ? -errno
		       : 0;
}

/* A new file, a whiteout, and a directory in the place of a lower one, which
 * takes an extended attribute (overlayfs.rst, "whiteouts and opaque
 * directories"). */
static const char *use_overlay(void)
{
	auto_close int fd =
		open("/tmp/m/f", O_WRONLY | O_CREAT | O_CLOEXEC, 0644);

	if (fd < 0 || write(fd, "x", 1) != 1)
		return "write a file";
	if (unlink("/tmp/m/d/x") < 0)
		return "remove a file of the tree";
	if (rmdir("/tmp/m/d") < 0 || mkdir("/tmp/m/d", 0755) < 0 ||
	    access("/tmp/m/d/x", F_OK) == 0)
		return "replace a directory of the tree";
	return NULL;
}

/* 0, or -errno with the answer given. */
static int try_overlay(struct probe_try *t, const char *where)
{
	int r = make_upper(where);

	if (r == 0)
		r = mount_overlay(where);
	if (r < 0) {
		probe_failed(t, -r, r == -ENODEV ? CURE_OVERLAY : CURE_KERNEL,
			     "mount an overlay");
		return r;
	}
	errno = 0;
	const char *failed = use_overlay();

	if (failed) {
		r = errno ? -errno : -EIO;
		probe_failed(t, -r, CURE_NONE, "%s", failed);
	}
	return r;
}

void probe_overlay(struct probe_try *t)
{
	if (probe_enter(t, CLONE_NEWNS) < 0)
		return;
	int r = make_scratch();

	if (r < 0) {
		probe_failed(t, -r, CURE_NONE, "make the directories");
		return;
	}
	if (try_overlay(t, "/tmp") == 0)
		probe_yes(t, "tree, changes, a replaced directory");
	else if (t->ret->detail[0] && strstr(t->ret->detail, "replace"))
		/* tmpfs has no user xattrs before Linux 6.6. */
		probe_soft(t, CURE_KERNEL, "%s",
			   "a directory of the tree can't be replaced");
}

/*
 * The directory as a mount that the new namespaces may use. As in a run, it is
 * given to the box's root: what is root's outside can't be written with moved
 * ids.
 */
static int disk_enter(struct probe_try *t, struct error *err)
{
	bool shifted = t->ids.identity == IDENTITY_SHIFTED;
	int tree = -1;

	if (shifted) {
		if (chown(t->in->place, t->ids.uid[0].outside,
			  t->ids.gid[0].outside) < 0)
			return error_set(err, ERROR_HOST, errno,
					 "give %s to the box's root",
					 t->in->place);
		tree = idmap_clone_mount(AT_FDCWD, t->in->place, -1, false, 0,
					 err);
	}
	int r = shifted && tree < 0 ? tree : probe_enter(t, CLONE_NEWNS);

	if (r == 0 && !shifted)
		tree = idmap_clone_mount(AT_FDCWD, t->in->place, -1, false, 0,
					 err);
	if (r < 0)
		fd_close(&tree);
	return r < 0 ? r : tree;
}

/* As who made them: a range's ids are not the caller's outside. */
static void remove_disk(void)
{
	static const char *const names[] = { "/tmp/disk/u/d", "/tmp/disk/u",
					     "/tmp/disk/w/work",
					     "/tmp/disk/w" };

	umount2("/tmp/m", MNT_DETACH);
	unlink("/tmp/disk/u/f");
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		rmdir(names[i]);
}

void probe_overlay_disk(struct probe_try *t)
{
	struct error err = { 0 };

	if (!t->in->place) {
		probe_no(t, CURE_STORE, "no directory can be made");
		return;
	}
	auto_close int disk = disk_enter(t, &err);

	if (disk < 0) {
		if (err.kind != ERROR_NONE)
			probe_no(t, CURE_NONE, "%s: %s", err.message,
				 strerror(-disk));
		return;
	}
	int r = make_scratch();

	if (r == 0 && move_mount(disk, "", AT_FDCWD, "/tmp/disk",
				 MOVE_MOUNT_F_EMPTY_PATH) < 0)
		r = -errno;
	if (r < 0)
		probe_failed(t, -r, CURE_NONE, "put the directory in place");
	else if (try_overlay(t, "/tmp/disk") == 0)
		probe_yes(t, "the same, with changes in a directory");
	remove_disk();
}

/* Only host root needs them; only it may make them (mount_setattr(2)). */
void probe_idmapped(struct probe_try *t)
{
	struct error err = { 0 };

	if (t->ids.identity != IDENTITY_SHIFTED) {
		t->ret->state = PROBE_OMITTED;
		return;
	}
	const char *path = t->in->place ? t->in->place : "/";
	auto_close int userns = idmap_userns(&t->ids, &err);
	auto_close int tree =
		userns < 0 ? userns
			   : idmap_clone_mount(AT_FDCWD, path, userns, false, 0,
					       &err);

	if (tree < 0)
		probe_no(t, CURE_STORE, "%s: %s", err.message, strerror(-tree));
	else
		probe_yes(t, "on the store's file system");
}
