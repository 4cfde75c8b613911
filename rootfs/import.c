/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An archive is looked at twice, before and after: one that changed meanwhile
 * gives a tree (of what was read, with the digest of what was read), but its
 * identity is not remembered.
 */
#include "rootfs/import.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/fd.h"
#include "base/json.h"
#include "base/mem.h"
#include "rootfs/extract.h"
#include "rootfs/image_find.h"
#include "rootfs/image_meta.h"

enum {
	IDENTITY_AGE = 2, /* seconds: coarser than any file system's clock */
};

struct importing {
	const struct import *in;
	bool is_file;
	bool old_enough;
	struct stat before;
	char *path; /* of the archive, absolute; NULL for a stream */
};

static bool is_older(const struct stat *st)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return now.tv_sec - st->st_ctim.tv_sec > IDENTITY_AGE;
}

static bool is_same_time(struct timespec a, struct timespec b)
{
	return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

static void remember(const struct importing *i, const char *id)
{
	struct stat after;

	if (!i->is_file || fstat(i->in->fd, &after) < 0)
		return;
	bool same = after.st_size == i->before.st_size &&
		    is_same_time(after.st_mtim, i->before.st_mtim) &&
		    is_same_time(after.st_ctim, i->before.st_ctim);

	store_index_put(i->in->store, &i->before, &i->in->ids, id,
			same && i->old_enough);
}

static int hold(const struct importing *i, const char *id, int *ret_lock)
{
	char key[STORE_KEY_MAX];

	store_key(id, &i->in->ids, key);
	return store_hold(i->in->store, key, ret_lock);
}

/* By identity, else by digest. -ENOENT: it must be imported. */
static int find(const struct importing *i, char ret_id[STORE_ID_MAX],
		int *ret_lock, struct error *err)
{
	const struct import *in = i->in;

	if (store_index_get(in->store, &i->before, &in->ids, ret_id) == 0 &&
	    hold(i, ret_id, ret_lock) == 0)
		return 0;
	if (!store_index_has_size(in->store, &i->before, &in->ids))
		return -ENOENT;
	int r = digest_fd(in->fd, ret_id);

	if (r < 0 || lseek(in->fd, 0, SEEK_SET) < 0)
		return error_set(err, ERROR_IMAGE, r < 0 ? -r : errno,
				 "read the archive");
	r = hold(i, ret_id, ret_lock);
	if (r == 0)
		remember(i, ret_id);
	return r == 0 ? 0 : -ENOENT;
}

static void note_add(struct buf *note, uint64_t count, const char *one,
		     const char *many)
{
	if (count)
		buf_addf(note, "%s%llu %s", note->len ? ", " : "",
			 (unsigned long long)count, count == 1 ? one : many);
}

static char *note_make(const struct writer_counts *c,
		       const struct id_layout *ids)
{
	auto_buf note = { 0 };

	note_add(&note, c->nodes, "device node left out",
		 "device nodes left out");
	note_add(&note, c->xattrs, "extended attribute dropped",
		 "extended attributes dropped");
	note_add(&note, c->replaced, "directory replaced by a later entry",
		 "directories replaced by later entries");
	/* With one id it is so for all, and no news. */
	if (ids->layout != LAYOUT_ONE)
		note_add(&note, c->owners, "owner out of range became root",
			 "owners out of range became root");
	return note.len ? buf_take(&note) : NULL;
}

static int make(const struct importing *i, struct store_tree *tree,
		char ret_id[STORE_ID_MAX], char **ret_note, struct error *err)
{
	const struct import *in = i->in;
	struct extract_result result = { 0 };
	char key[STORE_KEY_MAX];
	struct extract_input x = {
		.fd = in->fd,
		.ids = in->ids,
		.progress = in->progress,
	};
	int r = store_tree_make(in->store, tree, err);

	if (r < 0)
		return r;
	x.tree = tree->path;
	r = extract(&x, &result, err);
	if (r < 0)
		return r;
	struct image_meta meta = {
		.id = result.digest,
		.source = i->path ? i->path : in->source,
		.ids = in->ids,
		.created = time(NULL),
		.archive_bytes = result.archive_bytes,
		.counts = result.counts,
	};

	r = image_meta_write(tree->lock, &meta, err);
	if (r < 0)
		return r;
	store_key(result.digest, &in->ids, key);
	r = store_tree_publish(in->store, tree, key, in->durable, err);
	if (r < 0)
		return r;
	memcpy(ret_id, result.digest, STORE_ID_MAX);
	*ret_note = note_make(&result.counts, &in->ids);
	return 0;
}

static int import_new(const struct importing *i, char ret_id[STORE_ID_MAX],
		      int *ret_lock, char **ret_note, struct error *err)
{
	const struct import *in = i->in;
	struct store_tree tree = STORE_TREE_INIT;

	store_sweep(in->store, NULL);
	int r = make(i, &tree, ret_id, ret_note, err);

	/* Lets go of its lock before it is held as any other. */
	store_tree_discard(in->store, &tree);
	if (r < 0)
		return r;
	r = hold(i, ret_id, ret_lock);
	if (r < 0)
		return error_set(err, ERROR_STATE, -r,
				 "the image was removed as it was imported");
	remember(i, ret_id);
	if (i->path)
		image_drop_superseded(in->store, i->path, ret_id, &in->ids);
	return 0;
}

/* ---- a tree for another user ---- */

/* The subordinate ids that trees can be read with now. */
static bool starts_of(const struct id_layout *ids, struct idmap_starts *ret)
{
	if (ids->layout == LAYOUT_RANGE)
		*ret = ids->starts;
	return ids->layout == LAYOUT_RANGE ||
	       (ids->layout == LAYOUT_ONE &&
		idmap_range_choose(ret, NULL) == 0);
}

/* Holds one that can be copied; its key and layout. */
static int hold_other(const struct store *s, const char *id,
		      const struct id_layout *ids, char key[STORE_KEY_MAX],
		      struct id_layout *ret_ids, int *ret_lock)
{
	struct idmap_starts starts;
	auto_strv keys = { 0 };

	if (!starts_of(ids, &starts))
		return -ENOENT;
	image_keys(s, &keys);
	for (size_t i = 0; i < keys.count; i++) {
		if (strncmp(keys.items[i], id, STORE_ID_MAX - 1) != 0 ||
		    !store_key_layout(keys.items[i], ret_ids) ||
		    ret_ids->layout != LAYOUT_RANGE ||
		    ret_ids->starts.uid != starts.uid ||
		    ret_ids->starts.gid != starts.gid ||
		    store_hold(s, keys.items[i], ret_lock) < 0)
			continue;
		snprintf(key, STORE_KEY_MAX, "%s", keys.items[i]);
		return 0;
	}
	return -ENOENT;
}

/* What meta.json of the other tree says of the archive. */
static void meta_of_other(const struct json *json, struct image_meta *meta)
{
	const struct json *source = json_get(json, "source");
	const struct json *bytes = json_get(json, "archive_bytes");

	meta->source =
		source && source->type == JSON_STRING ? source->string : "";
	if (bytes && bytes->type == JSON_INTEGER)
		meta->archive_bytes = (uint64_t)bytes->integer;
}

static int copy_into(const struct store *s, const char *from_key, int from_lock,
		     const struct extract_input *copy, const char *id,
		     struct store_tree *tree, struct error *err)
{
	struct extract_input x = *copy;
	struct extract_result result = { 0 };
	auto_json *other = image_meta_read(s, from_key);
	char key[STORE_KEY_MAX];
	auto_close int from =
		openat(from_lock, "tree",
		       O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (from < 0)
		return error_set(err, ERROR_STATE, errno, "open the tree %s",
				 from_key);
	x.fd = from;
	x.tree = tree->path;
	int r = extract(&x, &result, err);

	if (r < 0)
		return r;
	struct image_meta meta = {
		.id = id,
		.ids = x.ids,
		.created = time(NULL),
		.counts = result.counts,
	};

	meta_of_other(other, &meta);
	r = image_meta_write(tree->lock, &meta, err);
	store_key(id, &x.ids, key);
	return r < 0 ? r : store_tree_publish(s, tree, key, false, err);
}

int import_copy(const struct store *s, const char *id,
		const struct id_layout *ids,
		const struct image_progress *progress, int *ret_lock,
		struct error *err)
{
	struct store_tree tree = STORE_TREE_INIT;
	struct id_layout of = { 0 };
	char from[STORE_KEY_MAX], to[STORE_KEY_MAX];
	auto_close int from_lock = -1;
	int r = hold_other(s, id, ids, from, &of, &from_lock);

	if (r < 0)
		return r;
	struct extract_input x = {
		.ids = *ids,
		.copy_of = &of,
		.progress = progress,
	};

	r = store_tree_make(s, &tree, err);
	if (r == 0)
		r = copy_into(s, from, from_lock, &x, id, &tree, err);
	store_tree_discard(s, &tree);
	if (r < 0)
		return r;
	store_key(id, ids, to);
	r = store_hold(s, to, ret_lock);
	return r < 0 ? error_set(err, ERROR_STATE, -r,
				 "the image was removed as it was copied")
		     : 0;
}

/* ---- archives ---- */

static int importing_begin(struct importing *i, struct error *err)
{
	if (fstat(i->in->fd, &i->before) < 0)
		return error_set(err, ERROR_IMAGE, errno, "stat the archive");
	i->is_file = S_ISREG(i->before.st_mode);
	i->old_enough = i->is_file && is_older(&i->before);
	/* Standard input may be a file that was read from already. */
	if (i->is_file && lseek(i->in->fd, 0, SEEK_CUR) != 0)
		i->is_file = i->old_enough = false;
	i->path = i->is_file ? realpath(i->in->source, NULL) : NULL;
	return 0;
}

static int import_file(const struct importing *i, char ret_id[STORE_ID_MAX],
		       int *ret_lock, char **ret_note, struct error *err)
{
	auto_close int lock = store_import_lock(i->in->store, &i->before, err);

	if (lock < 0)
		return lock;
	int r = find(i, ret_id, ret_lock, err);
	if (r == -ENOENT)
		r = import_new(i, ret_id, ret_lock, ret_note, err);
	return r;
}

int import_archive(const struct import *in, char ret_id[STORE_ID_MAX],
		   int *ret_lock, char **ret_note, struct error *err)
{
	struct importing i = { .in = in };
	int r = importing_begin(&i, err);

	if (r < 0)
		return r;
	if (!i.is_file)
		return import_new(&i, ret_id, ret_lock, ret_note, err);
	r = import_file(&i, ret_id, ret_lock, ret_note, err);
	free(i.path);
	return r;
}
