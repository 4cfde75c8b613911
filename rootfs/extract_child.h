/* SPDX-License-Identifier: Apache-2.0 */
/* The process that unpacks, and what it says at its end. */
#ifndef LLMBOX_EXTRACT_CHILD_H
#define LLMBOX_EXTRACT_CHILD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "rootfs/writer.h"

struct confine_input;

enum { EXTRACT_MAGIC = 0x6c6c6d62 };

/* Smaller than PIPE_BUF, so it arrives whole or not at all (pipe(7)). */
struct extract_answer {
	uint32_t magic;
	bool failed, userns_refused;
	struct error error;
	struct writer_counts counts;
};

struct tree_copy_ids;

/* Of what, and how. */
struct extract_job {
	int fd; /* an archive's bytes; or a tree's directory */
	const struct tree_copy_ids *copy; /* or NULL: an archive */
	bool owners;
};

/* In the forked child; does not return. */
void extract_child(const struct confine_input *c, const struct extract_job *job,
		   int result_fd, volatile struct writer_counts *counts)
	__attribute__((noreturn));

#endif
