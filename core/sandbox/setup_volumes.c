/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Set-up: volumes. Their sources become detached mounts before anything covers
 * the host's paths: handed over by host root's supervisor, made by init itself
 * else. Targets are resolved inside the box's root by
 * openat2(2), so a link of the image leads nowhere else.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"
#include "sandbox/placeholder.h"
#include "sandbox/setup.h"
#include "sandbox/submount.h"

enum { PLACE_TRIES = 100 };

/* ---- sources ---- */

/* With all that is mounted below it: a user namespace may not look behind the
 * mounts of another (mount_namespaces(7)). */
static int clone_source(struct setup *s, const struct plan_mount *m)
{
	struct mount_attr attr = {
		.attr_set =
			MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV |
			(m->mount->access == ACCESS_RW ? 0 : MOUNT_ATTR_RDONLY),
		.propagation = MS_PRIVATE,
	};
	auto_close int tree =
		open_tree(AT_FDCWD, m->mount->source,
			  OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE);
	struct stat st;

	if (tree < 0 || fstat(tree, &st) < 0)
		return setup_fail(s, "%s", m->mount->source);
	if (st.st_dev != m->dev || st.st_ino != m->ino) {
		errno = ESTALE;
		return setup_fail(s, "%s was replaced meanwhile",
				  m->mount->source);
	}
	if (mount_setattr(tree, "", AT_EMPTY_PATH | AT_RECURSIVE, &attr,
			  sizeof(attr)) < 0)
		return setup_fail(s, "attributes of %s", m->mount->source);
	return fd_take(tree);
}

static int clone_sources(struct setup *s)
{
	const struct plan *plan = s->plan;

	if (plan->root.tree) {
		s->lower = open(plan->root.tree,
				O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (s->lower < 0)
			return setup_fail(s, "%s", plan->root.tree);
	}
	if (plan->root.disk) {
		s->disk = open_tree(AT_FDCWD, plan->root.disk,
				    OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
		if (s->disk < 0)
			return setup_fail(s, "%s", plan->root.disk);
	}
	for (size_t i = 0; i < plan->mount_count; i++) {
		if (!plan->mounts[i].mount->source)
			continue;
		s->sources[i] = clone_source(s, &plan->mounts[i]);
		if (s->sources[i] < 0)
			return s->sources[i];
	}
	return 0;
}

/* The supervisor's message has them in the order of hand_mounts() in box.c. */
static int receive_sources(struct setup *s)
{
	const struct plan *plan = s->plan;
	int fds[MESSAGE_FDS_MAX];
	struct message m;
	unsigned count, at = 0, want = 0;
	int r = message_receive(s->socket, &m, fds, MESSAGE_FDS_MAX, &count);

	if (r == 0)
		_exit(1); /* no supervisor any more */
	if (r < 0)
		return r;
	want += plan->root.tree != NULL;
	want += plan->root.disk != NULL;
	for (size_t i = 0; i < plan->mount_count; i++)
		want += plan->mounts[i].mount->source != NULL;
	if (m.type != MESSAGE_MOUNTS || count != want)
		return -EPROTO;
	if (plan->root.tree)
		s->lower = fds[at++];
	if (plan->root.disk)
		s->disk = fds[at++];
	for (size_t i = 0; i < plan->mount_count; i++)
		if (plan->mounts[i].mount->source)
			s->sources[i] = fds[at++];
	return 0;
}

int setup_sources(struct setup *s)
{
	return s->plan->ids.identity == IDENTITY_SHIFTED ? receive_sources(s)
							 : clone_sources(s);
}

/* ---- targets ---- */

/* What the target is resolved to, made where it is missing. */
static int open_target(struct setup *s, const struct plan_mount *m)
{
	if (m->directory)
		return path_mkdirs_in(s->root, m->mount->target, 0755);
	int fd = path_open_in(s->root, m->mount->target, O_PATH, 0);

	if (fd != -ENOENT)
		return fd;
	auto_free char *dir = mem_strndup(
		m->mount->target,
		(size_t)(strrchr(m->mount->target, '/') - m->mount->target) +
			1);
	auto_close int parent = path_mkdirs_in(s->root, dir, 0755);

	if (parent < 0)
		return parent;
	/* Through a dangling link the file is made where it leads, inside. */
	auto_close int file = path_open_in(s->root, m->mount->target,
					   O_WRONLY | O_CREAT, 0644);

	if (file < 0)
		return file;
	return path_open_in(s->root, m->mount->target, O_PATH, 0);
}

/* Without a size of its own: a part of the box's scratch, so that the disk
 * limit bounds all of them together. */
static int attach_scratch(struct setup *s, size_t index, int target)
{
	char name[24];

	snprintf(name, sizeof(name), "t%zu", index);
	int r = setup_mkdir(s->scratch, name, 01777);

	if (r < 0)
		return r;
	auto_close int tree = open_tree(s->scratch, name,
					OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);

	if (tree < 0)
		return -errno;
	setup_own_mount(s, tree, "");
	return setup_attach(tree, target);
}

static int attach_tmpfs(struct setup *s, int64_t bytes, int target)
{
	const struct plan_limits *l = &s->plan->limits;
	auto_close int fs = fsopen("tmpfs", FSOPEN_CLOEXEC);
	char size[32], inodes[32];

	snprintf(size, sizeof(size), "%" PRId64, bytes);
	snprintf(inodes, sizeof(inodes), "%" PRId64,
		 l->inodes == LIMIT_NONE ? 0 : l->inodes);
	if (fs < 0 || fsconfig(fs, FSCONFIG_SET_STRING, "size", size, 0) < 0 ||
	    fsconfig(fs, FSCONFIG_SET_STRING, "nr_inodes", inodes, 0) < 0 ||
	    fsconfig(fs, FSCONFIG_SET_STRING, "mode", "1777", 0) < 0 ||
	    fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0)
		return -errno;
	auto_close int mount = fsmount(fs, FSMOUNT_CLOEXEC,
				       MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);

	if (mount < 0)
		return -errno;
	setup_own_mount(s, mount, "");
	return setup_attach(mount, target);
}

/* The root of an overlay has upper's attributes: they are the source's. */
static int make_upper(int dirfd, int source, const char *name)
{
	struct stat st;
	int r = setup_mkdir(dirfd, name, 0755);

	if (r < 0)
		return r;
	if (fstat(source, &st) < 0)
		return -errno;
	/* An owner that is not mapped stays the box's root. */
	if (fchownat(dirfd, name, st.st_uid, st.st_gid, 0) < 0 &&
	    errno != EINVAL && errno != EPERM)
		return -errno;
	return fchmodat(dirfd, name, st.st_mode & 01777, 0) < 0 ? -errno : 0;
}

/* Makes the overlay of a volume at root, a path in the scratch. */
static int mount_overlay(struct setup *s, int source, const char *upper,
			 const char *work, const char *root)
{
	const char *where = setup_uppers(s);
	char options[128];

	/* By a relative name, so that mountinfo shows no path of the host. */
	snprintf(options, sizeof(options),
		 "lowerdir=.,upperdir=%s/%s,workdir=%s/%s,userxattr", where,
		 upper, where, work);
	if (fchdir(source) < 0 ||
	    mount("box", root, "overlay", MS_NOSUID | MS_NODEV, options) < 0)
		return -errno;
	setup_own_mount(s, AT_FDCWD, root);
	return 0;
}

struct first_mount {
	struct setup *s;
	const char *source;
};

static int name_mount(void *data, const char *path, const char *type)
{
	struct first_mount *m = data;

	errno = EINVAL;
	return setup_fail(m->s,
			  "%s: %s/%s is mounted in it (%s), and an overlay "
			  "can't cross that: unmount it, or use access ro or "
			  "rw",
			  m->source, m->source, path, type);
}

/* mount_namespaces(7): the mounts below are locked in a user namespace, and an
 * overlay would show what is behind them. */
static int overlay_failed(struct setup *s, size_t index, const char *lower)
{
	struct first_mount m = { s, s->plan->mounts[index].mount->source };
	int code = -errno;
	char path[32];

	snprintf(path, sizeof(path), "/tmp/%s", lower);
	if (code == -EINVAL)
		(void)submounts_visit(path, name_mount, &m);
	return code;
}

static int attach_overlay(struct setup *s, size_t index, int target)
{
	int uppers = s->disk >= 0 ? s->disk : s->scratch;
	int source = s->sources[index], r;
	char lower[24], upper[24], work[24], root[32];

	snprintf(lower, sizeof(lower), "v%zu", index);
	snprintf(upper, sizeof(upper), "vu%zu", index);
	snprintf(work, sizeof(work), "vw%zu", index);
	snprintf(root, sizeof(root), "/tmp/vr%zu", index);
	if ((r = setup_mkdir(s->scratch, lower, 0755)) < 0 ||
	    (r = setup_mkdir(s->scratch, root + sizeof("/tmp"), 0755)) < 0 ||
	    (r = setup_mkdir(uppers, work, 0755)) < 0 ||
	    (r = make_upper(uppers, source, upper)) < 0)
		return r;
	/* Attached, for an overlay's lower must be in this mount namespace. */
	if (move_mount(source, "", s->scratch, lower, MOVE_MOUNT_F_EMPTY_PATH) <
	    0)
		return -errno;
	r = mount_overlay(s, source, upper, work, root);
	if (r < 0)
		return overlay_failed(s, index, lower);
	if (s->plan->mounts[index].mount->project) {
		s->project_lower = source;
		s->project_upper = openat(uppers, upper,
					  O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	}
	return move_mount(AT_FDCWD, root, target, "", MOVE_MOUNT_T_EMPTY_PATH) <
			       0
		       ? -errno
		       : 0;
}

/* Where the place lies on a writable volume, another box may be about to
 * remove it. */
static int open_held_target(struct setup *s, const struct plan_mount *m)
{
	for (int i = 0; i < PLACE_TRIES; i++) {
		auto_close int target = open_target(s, m);

		if (target < 0 || !m->on_volume)
			return fd_take(target);
		int lock = placeholder_lock_place(s->root, m->mount->target);

		if (lock >= 0)
			setup_keep(s, lock);
		if (lock == -EBUSY)
			return lock;
		/* What can't be opened was there before: not a placeholder. */
		if (lock != -ENOENT)
			return fd_take(target);
	}
	return -EBUSY;
}

static int attach_volume(struct setup *s, size_t index)
{
	const struct plan_mount *m = &s->plan->mounts[index];
	auto_close int target = open_held_target(s, m);

	if (target < 0)
		return target;
	if (!m->mount->source)
		return m->mount->size == LIMIT_NONE
			       ? attach_scratch(s, index, target)
			       : attach_tmpfs(s, m->mount->size, target);
	if (m->mount->access == ACCESS_OVERLAY)
		return attach_overlay(s, index, target);
	return setup_attach(s->sources[index], target);
}

/* Where statx(2) is not there, the C library's has no mount (its mask says so),
 * but proc_pid_fdinfo(5) does. */
static int mount_id_of_fd(int fd, uint64_t *ret_id)
{
	auto_buf text = { 0 };
	char path[64];
	struct statx st;

	if (statx(fd, "", AT_EMPTY_PATH, STATX_MNT_ID, &st) == 0 &&
	    st.stx_mask & STATX_MNT_ID) {
		*ret_id = st.stx_mnt_id;
		return 0;
	}
	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	int r = file_read(AT_FDCWD, path, 4096, &text);
	const char *line =
		r == 0 && text.data ? strstr(text.data, "mnt_id:") : NULL;

	return line && sscanf(line, "mnt_id: %" SCNu64, ret_id) == 1 ? 0
								     : -ENOSYS;
}

/* The mount that the target of a volume leads to. */
static int mount_id(struct setup *s, size_t index, uint64_t *ret_id)
{
	auto_close int fd = path_open_in(
		s->root, s->plan->mounts[index].mount->target, O_PATH, 0);

	return fd < 0 ? fd : mount_id_of_fd(fd, ret_id);
}

/* Targets come in the order of their texts. Where links of the image make two
 * of them one place, or one lie in the other, a later mount may have covered an
 * earlier one. */
static int check_covered(struct setup *s, const uint64_t *ids)
{
	for (size_t i = 0; i < s->plan->mount_count; i++) {
		uint64_t now = 0;
		int r = mount_id(s, i, &now);

		if (r == 0 && now == ids[i])
			continue;
		errno = r < 0 ? -r : ELOOP;
		return setup_fail(s,
				  "another mount covers that on %s; links of "
				  "the image lead both to one place: name it",
				  s->plan->mounts[i].mount->target);
	}
	return 0;
}

int setup_volumes(struct setup *s)
{
	uint64_t ids[SETUP_MOUNTS_MAX] = { 0 };

	for (size_t i = 0; i < s->plan->mount_count; i++) {
		int r = attach_volume(s, i);

		if (r == 0)
			r = mount_id(s, i, &ids[i]);

		if (r < 0) {
			errno = -r;
			if (s->detail[0])
				return r;
			return setup_fail(
				s,
				r == -EROFS
					? "mount on %s, which would have to "
					  "be made on a read-only volume"
					: "mount on %s",
				s->plan->mounts[i].mount->target);
		}
	}
	int r = check_covered(s, ids);

	if (r < 0)
		return r;
	return fchdir(s->root) < 0 ? -errno : 0;
}

int setup_workdir(struct setup *s)
{
	const char *dir = s->plan->command.workdir;

	if (!dir)
		return 0;
	auto_close int fd = path_mkdirs_in(s->root, dir, 0755);

	if (fd >= 0)
		return 0;
	errno = -fd;
	return setup_fail(s, "working directory %s", dir);
}
