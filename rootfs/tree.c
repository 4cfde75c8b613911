/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Removal. Depth is the attacker's to choose (links make paths deeper than
 * PATH_MAX), so below TREE_DEPTH levels a directory is moved up to the top of
 * the tree and removed from there; neither the stack nor the number of open
 * directories grows.
 */
#include "rootfs/tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"

enum { TREE_DEPTH = 64 };

struct removal {
	int top; /* where deep directories are moved to */
	unsigned serial;
	bool progress; /* something went in this pass */
	int error;     /* the first; the rest is still removed */
};

static void removal_keep(struct removal *r, int code)
{
	if (code < 0 && !r->error)
		r->error = code;
}

static int dir_open(int dirfd, const char *name)
{
	int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
	int fd = openat(dirfd, name, flags);
	struct stat st;

	if (fd < 0 && errno == EACCES && fchmodat(dirfd, name, 0700, 0) == 0)
		fd = openat(dirfd, name, flags);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) == 0 && (st.st_mode & 0700) != 0700)
		(void)!fchmod(fd, 0700);
	return fd;
}

static void dir_move_up(struct removal *r, int dirfd, const char *name)
{
	char up[32];

	/* Renaming a directory writes its "..": it needs the right to. */
	(void)!fchmodat(dirfd, name, 0700, 0);
	for (int tries = 0; tries < 1000; tries++) {
		snprintf(up, sizeof(up), ".deep-%u", r->serial++);
		if (renameat2(dirfd, name, r->top, up, RENAME_NOREPLACE) == 0) {
			r->progress = true;
			return;
		}
		if (errno != EEXIST)
			break;
	}
	removal_keep(r, -errno);
}

static void dir_clear(struct removal *r, DIR *dir, unsigned depth);

static void entry_remove(struct removal *r, int dirfd, const struct dirent *e,
			 unsigned depth)
{
	bool is_dir = e->d_type == DT_DIR;
	struct stat st;

	if (e->d_type == DT_UNKNOWN)
		is_dir = fstatat(dirfd, e->d_name, &st, AT_SYMLINK_NOFOLLOW) ==
				 0 &&
			 S_ISDIR(st.st_mode);
	if (is_dir && depth == TREE_DEPTH) {
		dir_move_up(r, dirfd, e->d_name);
		return;
	}
	if (is_dir) {
		int fd = dir_open(dirfd, e->d_name);
		DIR *dir = fd < 0 ? NULL : fdopendir(fd);

		if (!dir) {
			removal_keep(r, fd < 0 ? fd : -errno);
			fd_close(&fd);
			return;
		}
		dir_clear(r, dir, depth + 1);
		closedir(dir);
	}
	if (unlinkat(dirfd, e->d_name, is_dir ? AT_REMOVEDIR : 0) == 0)
		r->progress = true;
	else if (errno != ENOENT && errno != ENOTEMPTY)
		removal_keep(r, -errno);
}

static void dir_clear(struct removal *r, DIR *dir, unsigned depth)
{
	const struct dirent *e;

	while ((e = readdir(dir))) {
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			entry_remove(r, dirfd(dir), e, depth);
	}
}

int tree_remove(int dirfd, const char *name)
{
	struct removal r = { .top = -1 };

	if (unlinkat(dirfd, name, 0) == 0 || errno == ENOENT)
		return 0;
	if (errno != EISDIR && errno != EPERM)
		return -errno;
	if (unlinkat(dirfd, name, AT_REMOVEDIR) == 0)
		return 0;
	r.top = dir_open(dirfd, name);
	if (r.top < 0)
		return r.top;
	DIR *dir = fdopendir(r.top);

	if (!dir) {
		fd_close(&r.top);
		return -ENOMEM;
	}
	/* Again while directories came up from below, or readdir(3) missed
	 * entries since the directory changed under it. */
	do {
		r.progress = false;
		r.error = 0;
		rewinddir(dir);
		dir_clear(&r, dir, 0);
	} while (r.progress);
	closedir(dir);
	if (unlinkat(dirfd, name, AT_REMOVEDIR) == 0 || errno == ENOENT)
		return 0;
	return r.error ? r.error : -errno;
}
