/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What must wait for the end of the archive: hard links whose target comes
 * later, and the modes and times of directories, which must stay writable and
 * change as they are filled. Nothing here trusts that a name still is what it
 * was when it was noted.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"
#include "rootfs/archive.h"
#include "rootfs/writer_state.h"

enum {
	WRITER_KEPT_MAX = 256 << 20,
	WRITER_LINK_PASSES = 8, /* bounds what a hostile order costs */
};

struct writer *writer_new(int root_fd, bool owners,
			  volatile struct writer_counts *counts)
{
	struct writer *w = mem_alloc(sizeof(*w));

	w->root_fd = root_fd;
	w->owners = owners;
	w->counts = counts;
	w->parent.fd = w->target.fd = -1;
	return w;
}

void writer_is_upper(struct writer *w)
{
	w->upper = true;
}

void writer_free(struct writer *w)
{
	if (!w)
		return;
	for (size_t i = 0; i < w->dir_count; i++)
		free(w->dirs[i].path);
	for (size_t i = 0; i < w->link_count; i++) {
		free(w->links[i].path);
		free(w->links[i].target);
	}
	free(w->dirs);
	free(w->links);
	strv_release(&w->skipped);
	parent_forget(&w->parent);
	parent_forget(&w->target);
	free(w);
}

void writer_cleanup(struct writer **w)
{
	writer_free(*w);
}

static int kept_add(struct writer *w, size_t bytes)
{
	w->kept_bytes += bytes;
	return w->kept_bytes > WRITER_KEPT_MAX ? -ENOMEM : 0;
}

int dirs_add(struct writer *w, const char *path, const struct tar_entry *e)
{
	if (kept_add(w, strlen(path) + sizeof(*w->dirs) + 16) < 0)
		return -ENOMEM;
	if (w->dir_count == w->dir_size) {
		w->dir_size = w->dir_size ? w->dir_size * 2 : 256;
		w->dirs = mem_resize(w->dirs, w->dir_size, sizeof(*w->dirs));
	}
	w->dirs[w->dir_count] = (struct dir_later){
		.path = mem_strdup(path),
		.order = w->dir_count,
		.mode = e->mode,
		.has_mtime = e->has_mtime,
		.mtime = e->mtime,
	};
	w->dir_count++;
	return 0;
}

int links_add(struct writer *w, const char *path, const char *target)
{
	if (kept_add(w, strlen(path) + strlen(target) + sizeof(*w->links) +
				32) < 0)
		return -ENOMEM;
	if (w->link_count == w->link_size) {
		w->link_size = w->link_size ? w->link_size * 2 : 16;
		w->links =
			mem_resize(w->links, w->link_size, sizeof(*w->links));
	}
	w->links[w->link_count++] = (struct link_later){
		.path = mem_strdup(path),
		.target = mem_strdup(target),
	};
	return 0;
}

/* 0: made, or not needed any more. */
static int link_make(struct writer *w, const struct link_later *l)
{
	const char *name = "", *target = "";
	int r = parent_open(w->root_fd, &w->target, l->target, false, &target);

	if (r == 0)
		r = parent_open(w->root_fd, &w->parent, l->path, true, &name);
	if (r < 0)
		return r;
	/* A later entry took the name: it wins. */
	if (linkat(w->target.fd, target, w->parent.fd, name, 0) < 0 &&
	    errno != EEXIST)
		return -errno;
	return 0;
}

static int links_finish(struct writer *w, struct error *err)
{
	size_t left = w->link_count;

	/* Links may lead to links that wait themselves, earlier or later ones:
	 * backwards and forwards in turn. */
	for (int pass = 0; left && pass < WRITER_LINK_PASSES; pass++) {
		for (size_t i = 0; i < w->link_count; i++) {
			size_t at = pass % 2 ? i : w->link_count - 1 - i;
			struct link_later *l = &w->links[at];

			if (!l->done && link_make(w, l) == 0) {
				l->done = true;
				left--;
			}
		}
	}
	for (size_t i = 0; left && i < w->link_count; i++) {
		const struct link_later *l = &w->links[i];

		if (l->done)
			continue;
		if (!strv_has(&w->skipped, l->target))
			return error_set(err, ERROR_IMAGE, 0,
					 "hard link '%s': its target '%s' is "
					 "not in the archive",
					 l->path, l->target);
		w->counts->nodes++;
	}
	return 0;
}

/* Children before their directories; of one name the last entry first. */
static int dirs_compare(const void *a, const void *b)
{
	const struct dir_later *x = a, *y = b;
	int order = strcmp(y->path, x->path);

	if (order)
		return order;
	return x->order < y->order ? 1 : -1;
}

static int dir_finish(struct writer *w, const struct dir_later *d)
{
	struct timespec times[2] = { { .tv_nsec = UTIME_OMIT }, d->mtime };
	auto_close int fd = path_open_in(
		w->root_fd, d->path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);

	/* Something else took its place. */
	if (fd == -ENOENT || fd == -ENOTDIR || fd == -ELOOP)
		return 0;
	if (fd < 0)
		return fd;
	if (fchmod(fd, d->mode) < 0 ||
	    (d->has_mtime && futimens(fd, times) < 0))
		return -errno;
	return 0;
}

int writer_finish(struct writer *w, struct error *err)
{
	int r = links_finish(w, err);

	if (r < 0)
		return r;
	parent_forget(&w->parent);
	parent_forget(&w->target);
	if (w->dir_count)
		qsort(w->dirs, w->dir_count, sizeof(*w->dirs), dirs_compare);
	for (size_t i = 0; i < w->dir_count; i++) {
		const struct dir_later *d = &w->dirs[i];

		if (i && strcmp(d->path, d[-1].path) == 0)
			continue;
		r = dir_finish(w, d);
		if (r < 0)
			return error_set(err, ERROR_IMAGE, -r,
					 "set mode and time of '%s'", d->path);
	}
	return 0;
}
