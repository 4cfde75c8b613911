/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A whole archive beneath a directory, within bounds. Meant for the process of
 * extract.c that has no rights but this directory; safe for the rest of the
 * file system also without it.
 */
#ifndef LLMBOX_UNPACK_H
#define LLMBOX_UNPACK_H

#include <stdbool.h>
#include <stdint.h>

#include "rootfs/writer.h"

struct error;

struct unpack_bounds {
	uint64_t bytes, entries;
	/* More than ratio times the archive's own bytes is a bomb, looked at
	 * once more than ratio_from bytes are written. */
	uint64_t ratio, ratio_from;
};
extern const struct unpack_bounds unpack_bounds_default;

/*
 * The entries of one archive into writer's directory; names for which skip (or
 * NULL) is true are left out. The writer is not finished.
 */
struct tar;
int unpack_entries(struct tar *tar, struct writer *writer,
		   const struct unpack_bounds *bounds,
		   volatile struct writer_counts *counts,
		   bool (*skip)(const char *path), struct error *err);

/* archive_fd is read to its end, root_fd is an empty directory. An image of
 * layers (docker save, OCI layout) becomes one tree. The process's umask
 * must be 0. owners: keep them, needs the right to chown. After an error what
 * lies beneath root_fd is garbage. */
int unpack(int archive_fd, int root_fd, bool owners,
	   const struct unpack_bounds *bounds,
	   volatile struct writer_counts *counts, struct error *err);

#endif
