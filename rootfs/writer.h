/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes the entries of an archive beneath a directory. Nothing outside of it
 * is touched whatever the entries say, also when the process has all rights:
 * every name is resolved with the directory as its root, and files are only
 * ever made anew, never written through what is there.
 *
 * Rules, the same for every caller:
 * - A name loses its leading '/' and "."; one with ".." is refused.
 * - The last entry of a name wins, whatever was there. A directory entry over a
 *   directory keeps what is in it, and over a symbolic link to a directory in
 *   the root it keeps the link (merged /usr).
 * - Hard links are made without following, to what is there when they come, or
 *   at the end where their target comes later.
 * - Device nodes and sockets are skipped and counted. So are attributes other
 *   than security.capability and user.* (without user.overlay.*).
 * - Owners above 65535, and all where the layout has one id, become 0, counted.
 * - Modes are exact in spite of the umask, which must be 0; directories get
 *   modes and times at the end.
 */
#ifndef LLMBOX_WRITER_H
#define LLMBOX_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;
struct tar;
struct tar_entry;
struct writer;

/* What was done. Another process may look at it while it grows. */
struct writer_counts {
	uint64_t entries, bytes;
	uint64_t nodes;    /* devices that were skipped */
	uint64_t owners;   /* entries whose owner became 0 */
	uint64_t xattrs;   /* attributes that were dropped */
	uint64_t replaced; /* directories, with content, that gave way */
};

/* root_fd and counts stay the caller's. owners: set them (0 to 65535). */
struct writer *writer_new(int root_fd, bool owners,
			  volatile struct writer_counts *counts);
/* What is in root_fd is of layers below: giving way is no news, and set-id
 * directories may be there already. */
void writer_is_upper(struct writer *w);
/* What a whiteout of an upper layer names, and all in it; or (name NULL) all
 * that is in the directory path. What is not there is no error. */
int writer_whiteout(struct writer *w, const char *path, const char *name,
		    struct error *err);
void writer_free(struct writer *w);
void writer_cleanup(struct writer **w);
#define auto_writer __attribute__((cleanup(writer_cleanup))) struct writer

/* check is called with the bytes of each extent before it is written. */
typedef int (*writer_check)(void *arg, size_t len, struct error *err);
int writer_add(struct writer *w, struct tar *tar, const struct tar_entry *entry,
	       writer_check check, void *arg, struct error *err);

/* Links to later targets, then modes and times of directories. */
int writer_finish(struct writer *w, struct error *err);

#endif
