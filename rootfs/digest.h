/* SPDX-License-Identifier: Apache-2.0 */
/* SHA-256: libmd's, with the processor's own instructions for whole blocks
 * where it has them (six times as fast, and an import waits for it). */
#ifndef LLMBOX_DIGEST_H
#define LLMBOX_DIGEST_H

#include <sha2.h>
#include <stddef.h>

enum { DIGEST_TEXT = 65 }; /* 64 hex digits and a NUL */

struct digest {
	SHA2_CTX sha;
};

void digest_init(struct digest *d);
void digest_add(struct digest *d, const void *data, size_t len);
void digest_finish(struct digest *d, char ret[DIGEST_TEXT]);
/* Of what is left to read of fd. 0 or -errno. */
int digest_fd(int fd, char ret[DIGEST_TEXT]);

#endif
