/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Set-up: names on volumes that the box may not write (protect) or see (hide).
 * All are looked up beneath the volume without following links, and held by
 * mounts of their own: what is a mount point can't be renamed or removed, and
 * for a protected name nor can the directories above it, which would else be
 * renamed and made again (mount(2) goes by the file, not by its name).
 *
 * A name that does not exist can't be a mount point: those of the built-in list
 * are left alone then, and one that the policy names is an error.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"
#include "sandbox/setup.h"

enum {
	HIDE_ENTRIES_MAX = 1000000,
	HIDE_DEPTH_MAX = 64, /* one descriptor each */
};

/* Clones the mount at fd and what is below it, and puts that over fd itself. */
static int cover_with_itself(int fd, uint64_t attributes)
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

static bool is_mount_point(int fd)
{
	struct statx st;

	return statx(fd, "", AT_EMPTY_PATH, 0, &st) == 0 &&
	       (st.stx_attributes & STATX_ATTR_MOUNT_ROOT);
}

/* ---- protect ---- */

/* The directories above name, each over itself. */
static int pin_parents(int volume, const char *name)
{
	char *copy = mem_strdup(name);
	int r = 0;

	for (char *p = strchr(copy, '/'); r == 0 && p; p = strchr(p + 1, '/')) {
		*p = '\0';
		auto_close int fd = path_open_nolink(volume, copy, O_PATH, 0);

		*p = '/';
		if (fd < 0)
			r = fd;
		else if (!is_mount_point(fd))
			r = cover_with_itself(fd, 0);
	}
	free(copy);
	return r;
}

static int protect_name(int volume, const char *name)
{
	auto_close int there = path_open_nolink(volume, name, O_PATH, 0);

	if (there < 0)
		return there;
	int r = pin_parents(volume, name);

	if (r < 0)
		return r;
	/* Again: by way of the parents' own mounts now. */
	auto_close int fd = path_open_nolink(volume, name, O_PATH, 0);

	return fd < 0 ? fd : cover_with_itself(fd, MOUNT_ATTR_RDONLY);
}

static bool is_not_there(int r)
{
	return r == -ENOENT || r == -ENOTDIR || r == -ELOOP;
}

static int protect_volume(struct setup *s, const struct policy_mount *m,
			  int volume)
{
	for (size_t i = 0; i < m->protect.count; i++) {
		const char *name = m->protect.items[i];
		int r = protect_name(volume, name);

		if (is_not_there(r) && policy_protects_anyway(name))
			continue;
		if (r < 0) {
			errno = -r;
			return setup_fail(s, "protect %s on %s", name,
					  m->target);
		}
	}
	return 0;
}

/* ---- hide ---- */

struct hide {
	struct setup *s;
	const struct policy_mount *mount;
	unsigned entries;
};

/* "**" and a slash in front stand for any directories, also for none. */
static bool matches(const char *pattern, const char *path)
{
	if (strncmp(pattern, "**/", 3) != 0)
		return fnmatch(pattern, path, FNM_PATHNAME) == 0;
	for (pattern += 3; path; path = strchr(path, '/')) {
		path += *path == '/';
		if (fnmatch(pattern, path, FNM_PATHNAME) == 0)
			return true;
	}
	return false;
}

static bool is_hidden(const struct hide *h, const char *path)
{
	for (size_t i = 0; i < h->mount->hide.count; i++)
		if (matches(h->mount->hide.items[i], path))
			return true;
	return false;
}

/* Something empty of the same kind, read-only, over it. */
static int cover_with_nothing(struct setup *s, int fd, bool directory)
{
	const char *name = directory ? "hidden.d" : "hidden";
	struct mount_attr attr = { .attr_set = MOUNT_ATTR_RDONLY };
	int r = directory ? setup_mkdir(s->scratch, name, 0555)
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

static int hide_dir(struct hide *h, int dirfd, const char *path, int depth);

static int hide_entry(struct hide *h, int dirfd, const char *name,
		      const char *path, int depth)
{
	auto_close int fd =
		openat(dirfd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	/* Gone meanwhile, or a link, which leads nowhere but inside. */
	if (fd < 0 || fstat(fd, &st) < 0 || S_ISLNK(st.st_mode))
		return 0;
	if (is_hidden(h, path))
		return cover_with_nothing(h->s, fd, S_ISDIR(st.st_mode));
	if (!S_ISDIR(st.st_mode))
		return 0;
	auto_close int sub = openat(
		dirfd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	/* What the box's root can't read, it can't list either. */
	return sub < 0 ? 0 : hide_dir(h, sub, path, depth + 1);
}

static int hide_dir(struct hide *h, int dirfd, const char *path, int depth)
{
	int copy = fcntl(dirfd, F_DUPFD_CLOEXEC, 3), r = 0;
	DIR *dir = copy < 0 ? NULL : fdopendir(copy);
	struct dirent *e;

	if (!dir) {
		fd_close(&copy);
		return -errno;
	}
	while (r == 0 && (e = readdir(dir))) {
		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		if (h->entries++ >= HIDE_ENTRIES_MAX ||
		    depth > HIDE_DEPTH_MAX) {
			r = -E2BIG;
			break;
		}
		auto_free char *sub =
			mem_printf("%s%s%s", path, *path ? "/" : "", e->d_name);

		r = hide_entry(h, dirfd, e->d_name, sub, depth);
	}
	closedir(dir);
	return r;
}

static int hide_on_volume(struct setup *s, const struct policy_mount *m,
			  int volume)
{
	struct hide h = { .s = s, .mount = m };

	if (!m->hide.count)
		return 0;
	auto_close int dir =
		openat(volume, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int r = dir < 0 ? -errno : hide_dir(&h, dir, "", 0);

	if (r < 0) {
		errno = -r;
		return setup_fail(s, "hide on %s", m->target);
	}
	return 0;
}

int setup_protect(struct setup *s)
{
	for (size_t i = 0; i < s->plan->mount_count; i++) {
		const struct plan_mount *m = &s->plan->mounts[i];
		bool writable = m->mount->access == ACCESS_RW;

		if (!m->mount->source || !m->directory ||
		    (!writable && !m->mount->hide.count))
			continue;
		auto_close int volume = path_open_in(s->root, m->mount->target,
						     O_PATH | O_DIRECTORY, 0);
		int r = volume < 0 ? volume : 0;

		if (r == 0 && writable)
			r = protect_volume(s, m->mount, volume);
		if (r == 0)
			r = hide_on_volume(s, m->mount, volume);
		if (r < 0)
			return r;
	}
	return 0;
}
