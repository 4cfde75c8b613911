/* SPDX-License-Identifier: Apache-2.0 */
/* Which layers an image has, as its own files tell. */
#ifndef LLMBOX_MANIFEST_H
#define LLMBOX_MANIFEST_H

#include <stddef.h>

struct error;

enum { MANIFEST_LAYERS_MAX = 512 };

struct manifest_layer {
	char *path;   /* below the image's directory, as it says: hostile */
	char *digest; /* SHA-256 in hex that the bytes must have, or NULL */
	char *diff;   /* the same, of a layer that is not compressed */
};

struct manifest {
	struct manifest_layer *layers; /* lowest first */
	size_t count;
};

/* Only images for this machine: of several that fit none is chosen. */
int manifest_read(int root_fd, struct manifest *ret, struct error *err);
void manifest_release(struct manifest *m);
#define auto_manifest __attribute__((cleanup(manifest_release))) struct manifest

/* The SHA-256 of a regular file below root_fd (a descriptor at its beginning
 * afterwards) must be digest. */
int manifest_verify(int fd, const char *path, const char *digest,
		    struct error *err);
/* Opens a regular file below root_fd. */
int manifest_open(int root_fd, const char *path, struct error *err);

#endif
