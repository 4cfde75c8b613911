/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Set-up: what a volume is searched for, once, before the command starts. Each
 * thing found is covered with something empty, by a mount of its own:
 *
 *	a /proc that is mounted in it;
 *	names that the policy hides, on every kind of volume, with what a link
 *	of that name leads to in the volume;
 *	sockets, but on overlays, whose inodes no process listens on: connect(2)
 *	asks for no writable mount;
 *	fifos of read-only volumes, for the same reason;
 *	other names (hard links) of what is hidden, and of what is protected.
 *
 * Directories are read as they are, no link is followed, and what is too large
 * to be searched is an error. A directory that can't be read, but that the
 * command may enter, is covered as a whole where something in it would have to
 * be found.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"
#include "sandbox/setup.h"
#include "sandbox/submount.h"

enum {
	SEARCH_ENTRIES_MAX = 1000000,
	SEARCH_DEPTH_MAX = 128, /* one or two descriptors each */
	SEARCH_LINKED_MAX = 10000,
};

/* A file that has more names than the one it was found by. */
struct linked {
	dev_t dev;
	ino_t ino;
	bool hide; /* else protect */
};

struct search {
	struct setup *s;
	const struct policy_mount *mount;
	int volume;
	bool sockets, fifos;
	struct buf path; /* of the directory, below the volume */
	unsigned entries;
	struct linked *linked;
	size_t linked_count;
	/* What to do with an entry of this name and kind (DT_...). */
	int (*visit)(struct search *h, int dirfd, const char *name, int type);
};

/* ---- walking ---- */

static int entry_type(int dirfd, const struct dirent *e)
{
	struct stat st;

	if (e->d_type != DT_UNKNOWN)
		return e->d_type;
	return fstatat(dirfd, e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0
		       ? DT_UNKNOWN
		       : IFTODT(st.st_mode);
}

static int walk(struct search *h, int dirfd, int depth);

/* With several ids another user than root may own what root can't enter: a
 * capability does not count where the group is not mapped
 * (user_namespaces(7)). */
static bool may_be_users(const struct plan *plan)
{
	return plan->ids.identity != IDENTITY_ONE && plan->user_uid != 0;
}

static int walk_below(struct search *h, int dirfd, const char *name, int depth)
{
	auto_close int fd = openat(
		dirfd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd >= 0)
		return walk(h, fd, depth + 1);
	if (errno != EACCES)
		return errno == ENOENT || errno == ENOTDIR || errno == ELOOP
			       ? 0 /* went meanwhile */
			       : -errno;
	/* May it be entered? Then what is in it has names that can be tried. */
	auto_close int there = openat(
		dirfd, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	auto_close int inside =
		openat(there, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (there < 0 || (inside < 0 && !may_be_users(h->s->plan)))
		return 0;
	return setup_cover_with_nothing(h->s, there);
}

static int walk_entry(struct search *h, int dirfd, const struct dirent *e,
		      int depth)
{
	int type = entry_type(dirfd, e);
	size_t len = h->path.len;

	buf_addf(&h->path, "%s%s", len ? "/" : "", e->d_name);
	int r = h->visit(h, dirfd, e->d_name, type);

	if (r == 0 && type == DT_DIR)
		r = walk_below(h, dirfd, e->d_name, depth);
	h->path.len = len;
	h->path.data[len] = '\0';
	return r < 0 ? r : 0;
}

static int walk(struct search *h, int dirfd, int depth)
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
		if (h->entries++ >= SEARCH_ENTRIES_MAX ||
		    depth > SEARCH_DEPTH_MAX)
			r = -E2BIG;
		else
			r = walk_entry(h, dirfd, e, depth);
	}
	closedir(dir);
	return r;
}

/* Below the volume or one of its names. */
static int walk_all(struct search *h, const char *path,
		    int (*visit)(struct search *h, int dirfd, const char *name,
				 int type))
{
	auto_close int dir =
		path_open_nolink(h->volume, path, O_RDONLY | O_DIRECTORY, 0);

	h->visit = visit;
	h->path.len = 0;
	return dir < 0 ? dir : walk(h, dir, 0);
}

/* ---- more names than one ---- */

static int note_linked(struct search *h, const struct stat *st, bool hide)
{
	if (!S_ISREG(st->st_mode) || st->st_nlink < 2)
		return 0;
	if (h->linked_count >= SEARCH_LINKED_MAX)
		return -E2BIG;
	h->linked =
		mem_resize(h->linked, h->linked_count + 1, sizeof(*h->linked));
	h->linked[h->linked_count++] = (struct linked){ .dev = st->st_dev,
							.ino = st->st_ino,
							.hide = hide };
	return 0;
}

static int visit_protected(struct search *h, int dirfd, const char *name,
			   int type)
{
	struct stat st;

	if (type != DT_REG ||
	    fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return 0;
	return note_linked(h, &st, false);
}

static int note_protected(struct search *h, const struct protect *p)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < p->count; i++) {
		struct stat st;

		if (p->steps[i].action != PROTECT_HOLD || p->steps[i].missing)
			continue;
		auto_close int fd = path_open_nolink(
			h->volume, p->steps[i].path, O_PATH | O_NOFOLLOW, 0);

		if (fd < 0 || fstat(fd, &st) < 0)
			return fd < 0 ? fd : -errno;
		r = note_linked(h, &st, false);
		if (r == 0 && S_ISDIR(st.st_mode))
			r = walk_all(h, p->steps[i].path, visit_protected);
	}
	return r;
}

static int visit_linked(struct search *h, int dirfd, const char *name, int type)
{
	auto_close int fd =
		type == DT_REG
			? openat(dirfd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC)
			: -1;
	struct stat st;

	/* Where the cover is itself it has the same inode. */
	if (fd < 0 || fstat(fd, &st) < 0 || st.st_nlink < 2 ||
	    setup_is_mount_point(fd))
		return 0;
	for (size_t i = 0; i < h->linked_count; i++) {
		const struct linked *l = &h->linked[i];

		if (l->dev != st.st_dev || l->ino != st.st_ino)
			continue;
		return l->hide ? setup_cover_with_nothing(h->s, fd)
			       : setup_cover_with_itself(fd, MOUNT_ATTR_RDONLY);
	}
	return 0;
}

/* ---- hidden names, sockets ---- */

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

static bool is_hidden(const struct search *h)
{
	for (size_t i = 0; i < h->mount->hide.count; i++)
		if (matches(h->mount->hide.items[i], h->path.data))
			return true;
	return false;
}

/* What a hidden link leads to on the host, where that is in the volume. */
static int hide_target(struct search *h, int link)
{
	char text[PATH_MAX];
	const char *source = h->mount->source;
	ssize_t len = readlinkat(link, "", text, sizeof(text) - 1);
	struct stat st;

	if (len < 0)
		return -errno;
	text[len] = '\0';
	if (text[0] == '/' && !path_is_below(text, source))
		return 0;
	const char *slash = strrchr(h->path.data, '/');
	auto_free char *path =
		text[0] == '/'
			? mem_printf("/%s", text + strlen(source))
			: mem_printf("%.*s/%s",
				     slash ? (int)(slash - h->path.data) : 0,
				     h->path.data, text);
	auto_close int fd = path_open_in(h->volume, path, O_PATH, 0);

	if (fd < 0 || fstat(fd, &st) < 0)
		return 0; /* leads nowhere */
	int r = note_linked(h, &st, true);

	/* Not all of the volume, nor what is covered already. */
	if (r == 0 && !setup_is_mount_point(fd))
		r = setup_cover_with_nothing(h->s, fd);
	return r;
}

/* 1: covered, there is nothing below. */
static int visit_all(struct search *h, int dirfd, const char *name, int type)
{
	bool hidden = is_hidden(h);

	if (!hidden && !(type == DT_SOCK && h->sockets) &&
	    !(type == DT_FIFO && h->fifos))
		return 0;
	auto_close int fd =
		openat(dirfd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return errno == ENOENT ? 0 : -errno;
	int r = hidden && S_ISLNK(st.st_mode) ? hide_target(h, fd) : 0;

	if (r == 0 && hidden)
		r = note_linked(h, &st, true);
	if (r == 0)
		r = setup_cover_with_nothing(h->s, fd);
	return r < 0 ? r : 1;
}

/* ---- other mounts below ---- */

static int cover_proc(void *data, const char *path, const char *type)
{
	struct search *h = data;

	if (strcmp(type, "proc") != 0)
		return 0;
	auto_close int fd = path_open_nolink(h->volume, path, O_PATH, 0);

	return fd < 0 ? fd : setup_cover_with_nothing(h->s, fd);
}

/* A /proc of the host would show its processes. */
static int cover_procs(struct search *h)
{
	char name[64], path[PATH_MAX];

	snprintf(name, sizeof(name), "/proc/self/fd/%d", h->volume);
	ssize_t len = readlink(name, path, sizeof(path) - 1);

	if (len < 0)
		return -errno;
	path[len] = '\0';
	return submounts_visit(path, cover_proc, h);
}

static int search(struct search *h, const struct plan_mount *m)
{
	int r = h->sockets ? cover_procs(h) : 0;

	if (r == 0)
		r = note_protected(h, &m->protect);
	if (r == 0 && (h->sockets || h->mount->hide.count))
		r = walk_all(h, ".", visit_all);
	if (r == 0 && h->linked_count)
		r = walk_all(h, ".", visit_linked);
	return r;
}

int setup_search(struct setup *s, const struct plan_mount *m, int volume)
{
	enum access access = m->mount->access;
	struct search h = {
		.s = s,
		.mount = m->mount,
		.volume = volume,
		.sockets = access != ACCESS_OVERLAY,
		.fifos = access == ACCESS_RO,
	};
	int r = search(&h, m);

	buf_release(&h.path);
	free(h.linked);
	if (r == 0)
		return 0;
	errno = -r;
	return setup_fail(s,
			  r == -E2BIG ? "%s has too many files to look for "
					"sockets and names to hide; access "
					"overlay needs no search for sockets"
				      : "search %s",
			  m->mount->target);
}
