/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts what a box changed, from an overlay's upper layer. The box is empty by
 * now, so nothing changes meanwhile; but names, depth and number of entries are
 * what it left, so all are bounded.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/fd.h"
#include "sandbox/setup.h"

enum {
	CHANGES_ENTRIES_MAX = 2000000,
	CHANGES_DEPTH_MAX = 128, /* two descriptors each */
};

struct count {
	struct box_changes *changes;
	unsigned entries;
};

static void count_dir(struct count *c, int upper, int lower, int depth);

static int open_dir(int dirfd, const char *name)
{
	return openat(dirfd, name,
		      O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

static void count_subdir(struct count *c, int upper, int lower,
			 const char *name, bool in_lower, int depth)
{
	auto_close int up = open_dir(upper, name);
	auto_close int low = in_lower ? open_dir(lower, name) : -1;

	if (up < 0)
		c->changes->partial = true;
	else
		count_dir(c, up, low, depth + 1);
}

/* A whiteout, a device 0:0, is a removal (overlayfs.rst). A directory that is
 * only there to hold changes is none itself. */
static void count_entry(struct count *c, int upper, int lower, const char *name,
			int depth)
{
	struct stat st, low;

	if (fstatat(upper, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return;
	bool in_lower = lower >= 0 &&
			fstatat(lower, name, &low, AT_SYMLINK_NOFOLLOW) == 0;

	if (S_ISCHR(st.st_mode) && st.st_rdev == makedev(0, 0)) {
		c->changes->removed++;
		return;
	}
	if (!in_lower)
		c->changes->added++;
	else if (!S_ISDIR(st.st_mode) || !S_ISDIR(low.st_mode))
		c->changes->changed++;
	if (S_ISDIR(st.st_mode))
		count_subdir(c, upper, lower, name,
			     in_lower && S_ISDIR(low.st_mode), depth);
}

static DIR *list(int dirfd)
{
	int fd = openat(dirfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);

	if (!dir)
		fd_close(&fd);
	return dir;
}

/* The next entry but "." and ".."; NULL at the end and at the bound. */
static struct dirent *next_entry(struct count *c, DIR *dir)
{
	struct dirent *e;

	while ((e = readdir(dir)))
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			break;
	if (e && c->entries++ >= CHANGES_ENTRIES_MAX) {
		c->changes->partial = true;
		return NULL;
	}
	return e;
}

/* A directory that was removed and made again hides all that the lower one has
 * (overlayfs.rst, "opaque directories"). */
static void count_hidden(struct count *c, int upper, int lower)
{
	char value = 0;
	struct dirent *e;
	struct stat st;

	if (lower < 0 ||
	    fgetxattr(upper, "user.overlay.opaque", &value, 1) != 1 ||
	    value != 'y')
		return;
	DIR *dir = list(lower);

	while (dir && (e = next_entry(c, dir)))
		if (fstatat(upper, e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			c->changes->removed++;
	if (dir)
		closedir(dir);
}

static void count_dir(struct count *c, int upper, int lower, int depth)
{
	struct dirent *e;

	if (depth > CHANGES_DEPTH_MAX) {
		c->changes->partial = true;
		return;
	}
	DIR *dir = list(upper);

	if (!dir) {
		c->changes->partial = true;
		return;
	}
	count_hidden(c, upper, lower);
	while ((e = next_entry(c, dir)))
		count_entry(c, upper, lower, e->d_name, depth);
	closedir(dir);
}

void changes_count(int upper, int lower, struct box_changes *ret)
{
	struct count c = { .changes = ret };

	memset(ret, 0, sizeof(*ret));
	ret->known = true;
	count_dir(&c, upper, lower, 0);
}
