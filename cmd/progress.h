/* SPDX-License-Identifier: Apache-2.0 */
/* What run and the image verbs share in using the store. */
#ifndef LLMBOX_CMD_IMAGE_USE_H
#define LLMBOX_CMD_IMAGE_USE_H

#include <stdbool.h>

#include "rootfs/image.h"

struct idmap;

/* How trees have to lie in the store for boxes with these ids. */
struct id_layout image_use_layout(const struct idmap *ids);

/* Tells of a long import on stderr, where that is a terminal: one line that is
 * written over, and gone after image_use_end. */
struct image_use_meter {
	bool shown;
	struct image_progress progress;
};

/* Returns what image_open wants: NULL where nothing is to be shown. */
const struct image_progress *image_use_begin(struct image_use_meter *meter,
					     bool quiet);
void image_use_end(struct image_use_meter *meter);

#endif
