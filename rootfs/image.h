/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Images: from what a user names (-r) to a directory that a box can use as its
 * lower tree. An archive is unpacked once, into the store, and found again by
 * its identity (device, inode, size, mtime, ctime) without being read.
 */
#ifndef LLMBOX_IMAGE_H
#define LLMBOX_IMAGE_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "sandbox/idmap_range.h"

struct error;
struct json_writer;
struct strv;

/*
 * How ids lie on disk in the store's trees: a part of a tree's key.
 * LAYOUT_ONE: all owned by the caller (one id mapped). LAYOUT_PLAIN: as in the
 * archive, for host root; boxes see it through an idmapped mount.
 * LAYOUT_SHIFTED: moved by shift, where the store's filesystem can't be
 * idmapped. LAYOUT_RANGE: as the box's map has it, since an ordinary user can't
 * idmap: the caller is uid and gid of the box, all others are subordinate ids.
 */
enum layout { LAYOUT_ONE, LAYOUT_PLAIN, LAYOUT_SHIFTED, LAYOUT_RANGE };

struct id_layout {
	enum layout layout;
	uint32_t shift; /* of LAYOUT_SHIFTED: first host id of the 65536 */
	/* of LAYOUT_RANGE, else 0 */
	struct idmap_starts starts;
	uint32_t uid, gid;
};

/*
 * The layout for boxes with these ids. Whether the store's file system can be
 * idmapped is tried once and recorded in the store, since trying takes a
 * process and a namespace.
 */
struct idmap;
struct id_layout image_layout(const struct idmap *ids);

struct image {
	char *name; /* what a user may call it; "" for a directory */
	char *id;   /* of the store: 64 hex digits; "" for a directory */
	char *tree; /* absolute path of the tree */
	int lock;   /* held shared while used, so that nothing removes it */
	enum layout layout; /* of the tree */
	bool directory;     /* -r DIR: not in the store */
	char *note; /* of an import: one clause on what the tree lacks, such as
		       "8 device nodes left out"; or NULL */
};

/* A half-built one too; does not remove anything from the disk. */
void image_release(struct image *image);
#define IMAGE_INIT         \
	{                  \
		.lock = -1 \
	}

/*
 * Opens what -r names: a value with '/' or an archive's suffix is a path (to an
 * archive or a directory), else a name in the store. An archive that the store
 * does not have is imported first. progress may be NULL; it is told of a long
 * import once a second at most.
 */
struct image_progress {
	void (*tell)(void *arg, const char *what, uint64_t entries,
		     uint64_t bytes);
	void *arg;
};
int image_open(const char *ref, const struct id_layout *ids,
	       const struct image_progress *progress, struct image *ret,
	       struct error *err);

/* image import FILE|- [NAME]: fd is the archive, opened for reading; source is
 * how messages name it. An existing name moves to the new image. */
int image_import(int fd, const char *source, const char *name,
		 const struct id_layout *ids,
		 const struct image_progress *progress, struct image *ret,
		 struct error *err);

/* image list, inspect: one object an image (name, id, bytes, entries, created,
 * source, layout), oldest first. */
int image_list(struct json_writer *w, struct error *err);
int image_inspect(const char *name, struct json_writer *w, struct error *err);
/* image remove: -EBUSY while a box uses it. prune: all without a name,
 * left-over temporary directories, and superseded trees; counts what went. */
int image_remove(const char *name, struct error *err);
int image_prune(uint64_t *ret_removed, uint64_t *ret_bytes, struct error *err);

/*
 * $XDG_DATA_HOME/llmbox (host root: /var/lib/llmbox), absolute, owned. The
 * directory is made (0700) when something is stored, and refused if it is
 * another's or others may enter it.
 */
char *store_path(void);
/* $XDG_STATE_HOME/llmbox (root: /var/lib/llmbox/state). Owned. */
char *store_state_path(void);

#endif
