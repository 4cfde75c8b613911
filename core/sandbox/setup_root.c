/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Set-up: the root. One tmpfs, mounted over the host's /tmp in init's own mount
 * namespace, carries all that the box writes in memory:
 *
 *	made/	a layer of our own between the tree and upper: mount points and
 *		files such as /etc/hosts that every box has, whatever the tree
 *		has there (a file, a link to the host, nothing)
 *	u/ w/	upper and work of the root
 *	root/	where the root is put together
 *	tmp/ run/ shm/ dev/	bound into it
 *	v0/ ...	volumes with overlay
 *
 * Overlays are mounted by relative names, so that no path of the host shows in
 * the box's mountinfo.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "sandbox/setup.h"

static int mount_scratch(struct setup *s)
{
	const struct plan_limits *l = &s->plan->limits;
	char options[128];
	int len = snprintf(options, sizeof(options), "mode=755");

	if (l->disk != LIMIT_NONE)
		len += snprintf(options + len, sizeof(options) - (size_t)len,
				",size=%" PRId64, l->disk);
	if (l->inodes != LIMIT_NONE)
		snprintf(options + len, sizeof(options) - (size_t)len,
			 ",nr_inodes=%" PRId64, l->inodes);
	if (mount("box", "/tmp", "tmpfs", MS_NOSUID | MS_NODEV, options) < 0)
		return setup_fail(s, "tmpfs with %s", options);
	s->scratch = open("/tmp", O_PATH | O_DIRECTORY | O_CLOEXEC);
	return s->scratch < 0 ? -errno : 0;
}

/* Upper layers on disk, in the store's directory for this box. */
static int attach_disk(struct setup *s)
{
	if (s->disk < 0)
		return 0;
	int r = setup_mkdir(s->scratch, "disk", 0755);

	if (r == 0 && move_mount(s->disk, "", s->scratch, "disk",
				 MOVE_MOUNT_F_EMPTY_PATH) < 0)
		r = -errno;
	if (r == 0)
		r = setup_mkdir(s->disk, "u", 0755);
	return r == 0 ? setup_mkdir(s->disk, "w", 0755) : r;
}

/* Trees and volumes may lie below the host's /tmp: they are open by now. */
int setup_scratch(struct setup *s)
{
	static const struct {
		const char *name;
		mode_t mode;
	} dirs[] = {
		{ "root", 0755 }, { "made", 0755 }, { "u", 0755 },
		{ "w", 0755 },    { "dev", 0755 },  { "run", 0755 },
		{ "tmp", 01777 }, { "shm", 01777 },
	};
	int r = mount_scratch(s);

	for (size_t i = 0; r == 0 && i < sizeof(dirs) / sizeof(dirs[0]); i++)
		r = setup_mkdir(s->scratch, dirs[i].name, dirs[i].mode);
	return r == 0 ? attach_disk(s) : r;
}

/* What host root handed over is a mount without a place; an overlay's lower
 * must be in this mount namespace. */
static int attach_lower(struct setup *s)
{
	if (s->plan->ids.identity != IDENTITY_SHIFTED)
		return 0;
	int r = setup_mkdir(s->scratch, "lower", 0755);

	if (r == 0 && move_mount(s->lower, "", s->scratch, "lower",
				 MOVE_MOUNT_F_EMPTY_PATH) < 0)
		r = -errno;
	return r;
}

static int overlay_failed(struct setup *s)
{
	const struct plan_root *root = &s->plan->root;

	if (s->disk >= 0)
		return setup_fail(
			s,
			"overlay with its writes in %s: can that file "
			"system hold them? %s",
			root->disk,
			root->only_disk ? "before Linux 6.6 memory can't; "
					  "XDG_STATE_HOME may name another"
					: "--writes memory needs none");
	return setup_fail(s, errno == EINVAL
				     ? "overlay; are there mounts below "
				       "the tree?"
				     : "overlay");
}

static int mount_overlay(struct setup *s)
{
	const char *where = setup_uppers(s);
	char options[192];
	int r = attach_lower(s);

	if (r < 0)
		return r;
	/* userxattr: trusted.overlay.* is not to be had in a user namespace,
	 * and without either, replacing a directory fails. */
	snprintf(options, sizeof(options),
		 "lowerdir=/tmp/made:.,upperdir=%s/u,workdir=%s/w,userxattr",
		 where, where);
	if (fchdir(s->lower) < 0)
		return setup_fail(s, "the tree");
	/* nosuid: without new privileges such bits are dead anyway, but a file
	 * capability that is not in the bounding set would make exec fail
	 * (capabilities(7), "Safety checking for capability-dumb binaries"). */
	if (mount("box", "/tmp/root", "overlay", MS_NOSUID, options) < 0)
		return overlay_failed(s);
	s->upper = openat(s->disk >= 0 ? s->disk : s->scratch, "u",
			  O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return s->upper < 0 ? -errno : 0;
}

/* The host view's root is a directory of the tmpfs, which must be a mount for
 * pivot_root(2). */
static int bind_root(struct setup *s)
{
	if (mount("/tmp/root", "/tmp/root", NULL, MS_BIND | MS_REC, NULL) < 0)
		return setup_fail(s, "bind");
	return 0;
}

int setup_root(struct setup *s)
{
	int r = s->plan->root.kind == ROOT_TREE ? mount_overlay(s)
						: bind_root(s);

	if (r < 0)
		return r;
	if (chdir("/tmp/root") < 0)
		return -errno;
	s->root = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (s->root < 0)
		return -errno;
	setup_own_mount(s, s->root, "");
	return 0;
}

int setup_pivot(struct setup *s)
{
	struct mount_attr read_only = { .attr_set = MOUNT_ATTR_RDONLY };

	/* pivot_root(2), "pivot_root(".", ".")": the old root lies over the new
	 * one and goes with the next call. */
	if (syscall(SYS_pivot_root, ".", ".") < 0)
		return -errno;
	if (umount2(".", MNT_DETACH) < 0)
		return setup_fail(s, "umount the host's root");
	if (chdir("/") < 0)
		return -errno;
	/* What the host mounts from now on is not the box's. */
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		return setup_fail(s, "private mounts");
	if (s->plan->root.writes == WRITES_NONE &&
	    mount_setattr(AT_FDCWD, "/", 0, &read_only, sizeof(read_only)) < 0)
		return setup_fail(s, "read-only root");
	s->etc = open("/etc", O_PATH | O_DIRECTORY | O_CLOEXEC);
	return 0;
}
