/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Images of layers: what 'docker save' writes and OCI image layouts. The
 * unpacked files of such an archive are replaced by the one tree that its
 * layers make up. Digests are verified where the format has them: blobs by
 * their names, old layers by the configuration's diff_ids.
 */
#ifndef LLMBOX_FLATTEN_H
#define LLMBOX_FLATTEN_H

#include <stdbool.h>

struct error;
struct unpack_bounds;
struct writer_counts;

int flatten(int root_fd, bool owners, const struct unpack_bounds *bounds,
	    volatile struct writer_counts *counts, struct error *err);

#endif
