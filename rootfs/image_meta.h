/* SPDX-License-Identifier: Apache-2.0 */
/* meta.json of an image: what list and inspect tell. Nothing that opens an
 * image reads it. */
#ifndef LLMBOX_IMAGE_META_H
#define LLMBOX_IMAGE_META_H

#include <stdint.h>
#include <time.h>

#include "rootfs/store.h"
#include "rootfs/writer.h"

struct json;

struct image_meta {
	const char *id, *source;
	struct id_layout ids;
	time_t created;
	uint64_t archive_bytes;
	struct writer_counts counts;
};

int image_meta_write(int dirfd, const struct image_meta *meta,
		     struct error *err);
/* The object, owned; NULL where it can't be read. */
struct json *image_meta_read(const struct store *s, const char *key);

/* Takes away the nameless images that were made of path (absolute) before it
 * held what keep_id is made of, and that nobody uses. */
void image_drop_superseded(const struct store *s, const char *path,
			   const char *keep_id, const struct id_layout *ids);

#endif
