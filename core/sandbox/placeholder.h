/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Placeholders: what has to exist on a writable volume only while a box runs,
 * as mount points do: protected names that the volume has not, and places of
 * other mounts in it. Directories but for a mounted file, empty, made by init
 * with the box's own rights, and gone after the run.
 *
 * Removed is only what is empty (rmdir(2) can do no more), lies where it was
 * missing before, and is used by nobody: each box holds a shared flock(2) on
 * the placeholders that it relies on, since a mount point that another mount
 * namespace removes is one no more. So the last box removes it. What a killed
 * llmbox left is found by its record in the state directory, which is locked
 * while its writer lives, and removed at the next start.
 */
#ifndef LLMBOX_PLACEHOLDER_H
#define LLMBOX_PLACEHOLDER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

struct error;
struct plan;

struct placeholders {
	struct buf entries; /* as the record has them */
	int dir;            /* of the records; -1: none could be made */
	int record;         /* locked */
	char *name;
	int *locks;
	size_t lock_count;
};
#define PLACEHOLDERS_INIT                \
	{                                \
		.dir = -1, .record = -1, \
	}

/*
 * Before the box: records what init is to make, and keeps what other boxes
 * have made and this one relies on. A name that went since the plan was made
 * becomes one to be made. Without a state directory nothing is recorded, and
 * only a crash leaves something behind. ERROR_HOST.
 */
int placeholders_hold(struct plan *plan, struct placeholders *ret,
		      struct error *err);

/* After the box: removes them. */
void placeholders_release(struct placeholders *p);

/* Removes what killed ones left. */
void placeholders_sweep(void);

/*
 * Opens and holds the placeholder (or another directory) path below dirfd, no
 * link being followed. A descriptor, or -errno: -ENOENT where it is not there
 * (any more), -EBUSY where another process keeps it locked.
 */
int placeholder_lock(int dirfd, const char *path);
/* The same for a mount's place, a directory or file, as path_open_in. */
int placeholder_lock_place(int root, const char *path);

#endif
