/* SPDX-License-Identifier: Apache-2.0 */
/* Looking images up in the store, between image.c and image_manage.c. */
#ifndef LLMBOX_IMAGE_FIND_H
#define LLMBOX_IMAGE_FIND_H

#include <stdbool.h>

#include "rootfs/store.h"

struct strv;

bool image_ref_is_path(const char *ref);

/* By name, whole id, or the beginning of one (at least eight digits; -EINVAL
 * with err where it is not the only one). -ENOENT without err. */
int image_find_id(const struct store *s, const char *ref,
		  char ret_id[STORE_ID_MAX], struct error *err);

/* The names of an image, or all names (NULL), sorted. */
void image_names(const struct store *s, const char *id, struct strv *ret);

/* All entries of images/, in no order. */
void image_keys(const struct store *s, struct strv *ret);

#endif
