/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The store on disk, 0700 and its owner's alone, since files in its trees may
 * carry set-id bits:
 *
 *   images/KEY/tree, meta.json   KEY is ID.LAYOUT; complete from the moment it
 *                                has this name; a shared flock(2) on the
 *                                directory keeps it
 *   names/NAME -> ID
 *   index/IDENTITY.LAYOUT -> ID  archives that need not be read again
 *   index/size-BYTES.LAYOUT -> ID  a reason to take an archive's digest first
 *   tmp/RANDOM                   made or being removed, flock(2)ed while so
 *   lock                         byte ranges: one import of an archive at once
 *
 * What a killed process left is told by its lock, which died with it.
 */
#ifndef LLMBOX_STORE_H
#define LLMBOX_STORE_H

#include <stdbool.h>
#include <stdint.h>

#include "rootfs/image.h"

struct error;
struct stat;

enum {
	STORE_ID_MAX = 65,   /* 64 hex digits and a NUL */
	STORE_KEY_MAX = 112, /* ID.LAYOUT */
};

struct store {
	int fd;     /* O_PATH */
	char *path; /* absolute */
};
#define STORE_INIT        \
	{                 \
		.fd = -1, \
	}

int store_open(struct store *ret, struct error *err);
void store_release(struct store *s);
#define auto_store __attribute__((cleanup(store_release))) struct store

/* A subdirectory, made where missing. O_RDONLY descriptor or -errno with err.
 */
int store_subdir(const struct store *s, const char *name, struct error *err);

bool store_id_is_valid(const char *id);
/* "ID.one", "ID.plain", "ID.s524288", "ID.r100000-100000-0-0". */
void store_key(const char *id, const struct id_layout *ids,
	       char ret[STORE_KEY_MAX]);
/* The layout that a key names; false where it names none. */
bool store_key_layout(const char *key, struct id_layout *ret);

/* ---- trees ---- */

/*
 * Opens images/KEY and holds it shared. -ENOENT (without err) where there is
 * none, also when it is one that a crash of the machine may have damaged: that
 * is removed.
 */
int store_hold(const struct store *s, const char *key, int *ret_lock);

/* A tree in the making. */
struct store_tree {
	int lock; /* of its directory, exclusive */
	char name[40];
	char *path; /* absolute, of "tree" */
};
#define STORE_TREE_INIT     \
	{                   \
		.lock = -1, \
	}
int store_tree_make(const struct store *s, struct store_tree *ret,
		    struct error *err);
/* Gives it its name; where another process was faster, theirs stays and ours
 * goes. durable: on the disk when this returns. */
int store_tree_publish(const struct store *s, struct store_tree *t,
		       const char *key, bool durable, struct error *err);
/* Removes what was not published; takes half-built ones. */
void store_tree_discard(const struct store *s, struct store_tree *t);

/* Takes images/KEY away: -EBUSY while held, -ENOENT where there is none. */
int store_tree_remove(const struct store *s, const char *key);
/* Left-overs in tmp/. The number of those that went; *ret_left (or NULL): of
 * those that are not the caller's to remove. */
unsigned store_sweep(const struct store *s, unsigned *ret_left);

/* ---- names and identities; 0 or -errno without err unless there is one ----
 */

int store_name_check(const char *name, struct error *err);
int store_name_get(const struct store *s, const char *name,
		   char ret_id[STORE_ID_MAX]);
int store_name_set(const struct store *s, const char *name, const char *id,
		   struct error *err);

int store_index_get(const struct store *s, const struct stat *archive,
		    const struct id_layout *ids, char ret_id[STORE_ID_MAX]);
/* The same in whatever layout. */
int store_index_find(const struct store *s, const struct stat *archive,
		     char ret_id[STORE_ID_MAX]);
/* Is there an image of an archive of this size? */
bool store_index_has_size(const struct store *s, const struct stat *archive,
			  const struct id_layout *ids);
/* trusted: the identity may stand for the content from now on. */
void store_index_put(const struct store *s, const struct stat *archive,
		     const struct id_layout *ids, const char *id, bool trusted);
/* Entries of images that are gone. */
void store_index_clean(const struct store *s);
/* Held (a descriptor) while this archive is imported. */
int store_import_lock(const struct store *s, const struct stat *archive,
		      struct error *err);

#endif
