/* SPDX-License-Identifier: Apache-2.0 */
/* Tells of a long import on stderr, where that is a terminal: one line that is
 * written over, and gone at the end. */
#ifndef LLMBOX_CMD_PROGRESS_H
#define LLMBOX_CMD_PROGRESS_H

#include <stdbool.h>

#include "rootfs/image.h"

struct progress {
	bool shown;
	struct image_progress to; /* what image_open and image_import take */
};

void progress_init(struct progress *p);
void progress_end(struct progress *p);

#endif
