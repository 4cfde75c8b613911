/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unpacking an archive in a process that can reach nothing but the tree it
 * fills, while this one reads the archive, takes its digest and hands the bytes
 * over. What is unpacked is therefore what the digest says, also when the file
 * is changed meanwhile.
 */
#ifndef LLMBOX_EXTRACT_H
#define LLMBOX_EXTRACT_H

#include <stdint.h>

#include "rootfs/digest.h"
#include "rootfs/image.h"
#include "rootfs/writer.h"

struct error;

struct extract_input {
	int fd; /* the archive, from its beginning to its end; of a copy the
		   tree (O_PATH) */
	const char
		*tree; /* absolute path of an empty directory of the caller */
	struct id_layout ids;
	/* The layout of the tree that is to be copied, of the same range; NULL:
	 * fd is an archive. */
	const struct id_layout *copy_of;
	const struct image_progress *progress; /* or NULL */
};

struct extract_result {
	char digest[DIGEST_TEXT];    /* of the archive's bytes; "" of a copy */
	uint64_t archive_bytes;      /* 0 of a copy */
	struct writer_counts counts; /* as the process said: not to be trusted
					for more than telling them */
};

/* LAYOUT_SHIFTED changes the owner of tree itself. After an error tree holds
 * garbage. */
int extract(const struct extract_input *in, struct extract_result *ret,
	    struct error *err);

#endif
