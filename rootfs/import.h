/* SPDX-License-Identifier: Apache-2.0 */
/* From an archive's descriptor to a tree of the store that is held. */
#ifndef LLMBOX_IMPORT_H
#define LLMBOX_IMPORT_H

#include <stdbool.h>

#include "rootfs/store.h"

struct import {
	const struct store *store;
	int fd;             /* at its beginning; a file or a pipe */
	const char *source; /* as the user wrote it */
	bool durable;       /* on the disk when it returns */
	struct id_layout ids;
	const struct image_progress *progress;
};

/* *ret_note is owned: what was left out of the tree, or NULL. */
int import_archive(const struct import *in, char ret_id[STORE_ID_MAX],
		   int *ret_lock, char **ret_note, struct error *err);

/*
 * A tree of the image for ids, made of one that it has for another user of the
 * same range, and held. -ENOENT without err where it has none.
 */
int import_copy(const struct store *s, const char *id,
		const struct id_layout *ids,
		const struct image_progress *progress, int *ret_lock,
		struct error *err);

#endif
