/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/setup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"

int setup_fail(struct setup *s, const char *format, ...)
{
	int code = errno;
	va_list args;

	va_start(args, format);
	vsnprintf(s->detail, sizeof(s->detail), format, args);
	va_end(args);
	return -code;
}

int setup_mkdir(int dirfd, const char *path, mode_t mode)
{
	struct stat st;

	if (mkdirat(dirfd, path, mode) == 0)
		return 0;
	if (errno != EEXIST)
		return -errno;
	if (fstatat(dirfd, path, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return -errno;
	return S_ISDIR(st.st_mode) ? 0 : -ENOTDIR;
}

int setup_write(int dirfd, const char *path, const char *text, mode_t mode)
{
	auto_close int fd = openat(
		dirfd, path,
		O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);

	return fd < 0 ? -errno : fd_write_all(fd, text, strlen(text));
}

const char *setup_uppers(const struct setup *s)
{
	return s->disk >= 0 ? "/tmp/disk" : "/tmp";
}

static bool mount_id(int dirfd, const char *path, uint64_t *ret)
{
	struct statx st;

	if (statx(dirfd, path, AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW,
		  STATX_MNT_ID, &st) < 0 ||
	    !(st.stx_mask & STATX_MNT_ID))
		return false;
	*ret = st.stx_mnt_id;
	return true;
}

void setup_own_mount(struct setup *s, int dirfd, const char *path)
{
	uint64_t id;

	if (s->plan->writable_volumes &&
	    s->own_mount_count < SETUP_OWN_MOUNTS_MAX &&
	    mount_id(dirfd, path, &id))
		s->own_mounts[s->own_mount_count++] = id;
}

bool setup_is_own_mount(const struct setup *s, int fd)
{
	uint64_t id;

	if (!mount_id(fd, "", &id))
		return false;
	for (size_t i = 0; i < s->own_mount_count; i++)
		if (s->own_mounts[i] == id)
			return true;
	return false;
}

int setup_attach(int mount, int target)
{
	return move_mount(mount, "", target, "",
			  MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH) < 0
		       ? -errno
		       : 0;
}

int setup_cover_with_itself(int fd, uint64_t attributes)
{
	struct mount_attr attr = { .attr_set = attributes,
				   .propagation = MS_PRIVATE };
	auto_close int tree = open_tree(fd, "",
					OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC |
						AT_EMPTY_PATH | AT_RECURSIVE);

	if (tree < 0 || mount_setattr(tree, "", AT_EMPTY_PATH | AT_RECURSIVE,
				      &attr, sizeof(attr)) < 0)
		return -errno;
	return setup_attach(tree, fd);
}

int setup_cover_with_nothing(struct setup *s, int fd)
{
	struct mount_attr attr = { .attr_set = MOUNT_ATTR_RDONLY };
	struct stat st;

	if (fstat(fd, &st) < 0)
		return -errno;
	const char *name = S_ISDIR(st.st_mode) ? "hidden.d" : "hidden";
	int r = S_ISDIR(st.st_mode) ? setup_mkdir(s->scratch, name, 0555)
				    : setup_write(s->scratch, name, "", 0444);

	if (r < 0 && r != -EEXIST)
		return r;
	auto_close int tree = open_tree(s->scratch, name,
					OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);

	if (tree < 0 ||
	    mount_setattr(tree, "", AT_EMPTY_PATH, &attr, sizeof(attr)) < 0)
		return -errno;
	return setup_attach(tree, fd);
}

bool setup_is_mount_point(int fd)
{
	struct statx st;

	return statx(fd, "", AT_EMPTY_PATH, 0, &st) == 0 &&
	       (st.stx_attributes & STATX_ATTR_MOUNT_ROOT);
}

void setup_keep(struct setup *s, int fd)
{
	s->kept = mem_resize(s->kept, s->kept_count + 1, sizeof(*s->kept));
	s->kept[s->kept_count++] = fd;
}

int setup_bind_over_itself(const char *path, uint64_t attributes)
{
	struct mount_attr attr = { .attr_set = attributes };
	auto_close int tree =
		open_tree(AT_FDCWD, path, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);

	if (tree < 0 ||
	    mount_setattr(tree, "", AT_EMPTY_PATH, &attr, sizeof(attr)) < 0 ||
	    move_mount(tree, "", AT_FDCWD, path, MOVE_MOUNT_F_EMPTY_PATH) < 0)
		return -errno;
	return 0;
}
