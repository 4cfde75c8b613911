/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A tree of the store once more, with its owners laid out for another user of
 * the box. Meant for the process of extract.c, in a user namespace with the map
 * of idmap_range_fill_all().
 */
#ifndef LLMBOX_TREE_COPY_H
#define LLMBOX_TREE_COPY_H

#include <stdbool.h>
#include <stdint.h>

#include "rootfs/writer.h"

struct error;

struct tree_copy_ids {
	uint32_t from_uid, from_gid; /* who is the caller in the one */
	uint32_t to_uid, to_gid;     /* and in the other */
	bool owners;                 /* else all become the caller's */
};

/* from and to are directories, to is empty; the umask is 0. counts: entries and
 * bytes grow. After an error what lies beneath to is garbage. */
int tree_copy(int from, int to, const struct tree_copy_ids *ids,
	      volatile struct writer_counts *counts, struct error *err);

#endif
