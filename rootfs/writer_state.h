/* SPDX-License-Identifier: Apache-2.0 */
/* Between writer.c (one entry) and writer_finish.c (what must wait). */
#ifndef LLMBOX_WRITER_STATE_H
#define LLMBOX_WRITER_STATE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <time.h>

#include "base/buf.h"
#include "rootfs/writer.h"

/* A directory that is kept open: path as in the archive, cleaned. */
struct parent {
	bool known;
	int fd; /* O_PATH, or -1 */
	char path[PATH_MAX];
};

/* Where an entry goes. */
struct place {
	int dirfd; /* the writer's */
	const char *name;
	const char *path;  /* whole, cleaned */
	bool through_link; /* a directory entry on a link to a directory */
};

struct dir_later {
	char *path;
	size_t order; /* in the archive */
	mode_t mode;
	bool has_mtime;
	struct timespec mtime;
};

struct link_later {
	char *path, *target;
	bool done;
};

struct writer {
	int root_fd;
	bool owners;
	bool upper; /* root_fd holds layers below */
	volatile struct writer_counts *counts;
	struct parent parent, target; /* of the entry, of a link's target */
	struct strv skipped;
	struct dir_later *dirs;
	size_t dir_count, dir_size;
	struct link_later *links;
	size_t link_count, link_size;
	size_t kept_bytes; /* of dirs and links, bounded */
	/* of the entry at hand */
	struct tar *tar;
	writer_check check;
	void *check_arg;
	bool kept; /* what has the name was there before */
};

/* The name without "/", "." and doubled slashes; "" is the root. ret has room
 * for PATH_MAX. */
int writer_clean(const char *name, char *ret, struct error *err);

void parent_forget(struct parent *parent);
int parent_open(int root_fd, struct parent *parent, const char *path, bool make,
		const char **ret_name);

/* 0, or -ENOMEM when too much waits. */
int dirs_add(struct writer *w, const char *path, const struct tar_entry *e);
int links_add(struct writer *w, const char *path, const char *target);

#endif
