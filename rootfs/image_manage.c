/* SPDX-License-Identifier: Apache-2.0 */
/* image list, inspect, remove, prune. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/fd.h"
#include "base/json.h"
#include "base/mem.h"
#include "rootfs/image.h"
#include "rootfs/image_find.h"
#include "rootfs/image_meta.h"

struct listed {
	char *key;
	char id[STORE_ID_MAX];
	struct json *meta; /* NULL where it is damaged */
};

static const char *text_of(const struct json *meta, const char *key)
{
	const struct json *v = json_get(meta, key);

	return v && v->type == JSON_STRING ? v->string : "";
}

static int64_t number_of(const struct json *meta, const char *key)
{
	const struct json *v = json_get(meta, key);

	return v && v->type == JSON_INTEGER ? v->integer : 0;
}

/* Times in one format of fixed width sort as texts. */
static int compare_created(const void *a, const void *b)
{
	const struct listed *x = a, *y = b;
	int order = strcmp(text_of(x->meta, "created"),
			   text_of(y->meta, "created"));

	return order ? order : strcmp(x->key, y->key);
}

static struct listed *list_read(const struct store *s, size_t *ret_count)
{
	auto_strv keys = { 0 };
	size_t count = 0;

	image_keys(s, &keys);
	struct listed *list = mem_alloc((keys.count + 1) * sizeof(*list));

	for (size_t i = 0; i < keys.count; i++) {
		struct listed *l = &list[count];

		snprintf(l->id, sizeof(l->id), "%s", keys.items[i]);
		if (!store_id_is_valid(l->id))
			continue;
		l->key = mem_strdup(keys.items[i]);
		l->meta = image_meta_read(s, l->key);
		count++;
	}
	qsort(list, count, sizeof(*list), compare_created);
	*ret_count = count;
	return list;
}

static void list_free(struct listed *list, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		free(list[i].key);
		json_free(list[i].meta);
	}
	free(list);
}

static void write_tree(const struct store *s, const struct listed *l,
		       struct json_writer *w)
{
	auto_free char *path = mem_printf("%s/images/%s/tree", s->path, l->key);
	struct id_layout ids = { 0 };

	json_begin_object(w);
	json_key_string(w, "layout", text_of(l->meta, "layout"));
	if (store_key_layout(l->key, &ids) && ids.layout == LAYOUT_RANGE) {
		auto_free char *user = mem_printf("%u:%u", ids.uid, ids.gid);

		json_key_string(w, "user", user);
	}
	json_key_integer(w, "bytes", number_of(l->meta, "bytes"));
	json_key_string(w, "tree", path);
	json_end_object(w);
}

/* The image of its first tree, list[at]. */
static void write_one(const struct store *s, const struct listed *list,
		      size_t at, size_t count, struct json_writer *w)
{
	const struct listed *l = &list[at];

	static const char *const texts[] = { "source", "created", "layout" };
	static const char *const numbers[] = {
		"shift",          "archive_bytes",        "bytes",
		"entries",        "skipped_nodes",        "changed_owners",
		"dropped_xattrs", "replaced_directories",
	};
	auto_strv names = { 0 };

	image_names(s, l->id, &names);
	json_begin_object(w);
	json_key_string(w, "name", names.count ? names.items[0] : "");
	json_key(w, "names");
	json_begin_array(w);
	for (size_t i = 0; i < names.count; i++)
		json_string(w, names.items[i]);
	json_end_array(w);
	json_key_string(w, "id", l->id);
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		json_key_string(w, texts[i], text_of(l->meta, texts[i]));
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
		json_key_integer(w, numbers[i], number_of(l->meta, numbers[i]));
	auto_free char *tree = mem_printf("%s/images/%s/tree", s->path, l->key);

	json_key_string(w, "tree", tree);
	json_key(w, "trees");
	json_begin_array(w);
	for (size_t i = at; i < count; i++)
		if (strcmp(list[i].id, l->id) == 0)
			write_tree(s, &list[i], w);
	json_end_array(w);
	json_end_object(w);
}

/* Of several trees of an image the oldest one. */
static bool is_first(const struct listed *list, size_t at)
{
	for (size_t i = 0; i < at; i++)
		if (strcmp(list[i].id, list[at].id) == 0)
			return false;
	return true;
}

int image_list(struct json_writer *w, struct error *err)
{
	auto_store s = STORE_INIT;
	size_t count;
	int r = store_open(&s, err);

	if (r < 0)
		return r;
	struct listed *list = list_read(&s, &count);

	json_begin_array(w);
	for (size_t i = 0; i < count; i++)
		if (is_first(list, i))
			write_one(&s, list, i, count, w);
	json_end_array(w);
	list_free(list, count);
	return 0;
}

/* A name or id, or the archive that it was made of. */
static int find(const struct store *s, const char *ref,
		char ret_id[STORE_ID_MAX], struct error *err)
{
	struct stat st;
	int r = image_find_id(s, ref, ret_id, err);

	if (r != -ENOENT)
		return r;
	if (image_ref_is_path(ref) && stat(ref, &st) == 0 &&
	    store_index_find(s, &st, ret_id) == 0)
		return 0;
	error_set(err, ERROR_IMAGE, 0, "there is no image '%.200s'", ref);
	error_hint(err, "'llmbox image list' shows those there are");
	return -ENOENT;
}

int image_inspect(const char *name, struct json_writer *w, struct error *err)
{
	auto_store s = STORE_INIT;
	char id[STORE_ID_MAX];
	size_t count;
	bool found = false;
	int r = store_open(&s, err);

	if (r == 0)
		r = find(&s, name, id, err);
	if (r < 0)
		return r;
	struct listed *list = list_read(&s, &count);

	for (size_t i = 0; !found && i < count; i++) {
		found = strcmp(list[i].id, id) == 0;
		if (found)
			write_one(&s, list, i, count, w);
	}
	list_free(list, count);
	return found ? 0
		     : error_set(err, ERROR_IMAGE, 0, "image '%s' is damaged",
				 name);
}

/* ---- removing ---- */

static void names_remove(const struct store *s, const struct strv *names)
{
	for (size_t i = 0; i < names->count; i++) {
		auto_free char *path = mem_printf("names/%s", names->items[i]);

		unlinkat(s->fd, path, 0);
	}
}

/* A range that was taken from the user, or newuidmap(1) is gone. */
static int not_ours(const struct store *s, struct error *err)
{
	error_set(err, ERROR_STATE, EPERM,
		  "files in %s/tmp belong to ids that are not yours", s->path);
	return error_hint(err, "as root: rm -r %s/tmp", s->path);
}

/* Every tree of an image, one for each layout. */
static int trees_remove(const struct store *s, const char *id,
			struct error *err)
{
	auto_strv keys = { 0 };

	image_keys(s, &keys);
	for (size_t i = 0; i < keys.count; i++) {
		if (strncmp(keys.items[i], id, STORE_ID_MAX - 1) != 0)
			continue;
		int r = store_tree_remove(s, keys.items[i]);

		if (r == -EBUSY) {
			error_set(err, ERROR_IMAGE, EBUSY,
				  "a box uses image %.12s", id);
			return error_hint(err, "end the box first");
		}
		if (r == -EACCES || r == -EPERM)
			return not_ours(s, err);
		if (r < 0 && r != -ENOENT)
			return error_set(err, ERROR_STATE, -r,
					 "remove %s/images/%s", s->path,
					 keys.items[i]);
	}
	return 0;
}

int image_remove(const char *name, struct error *err)
{
	auto_store s = STORE_INIT;
	auto_strv names = { 0 };
	char id[STORE_ID_MAX];
	int r = store_open(&s, err);

	if (r == 0)
		r = find(&s, name, id, err);
	if (r < 0)
		return r;
	image_names(&s, id, &names);
	/* One of several names: only that goes. */
	if (names.count > 1 && strv_has(&names, name)) {
		auto_free char *path = mem_printf("names/%s", name);

		return unlinkat(s.fd, path, 0) < 0
			       ? error_set(err, ERROR_STATE, errno,
					   "remove the name '%s'", name)
			       : 0;
	}
	r = trees_remove(&s, id, err);
	if (r < 0)
		return r;
	names_remove(&s, &names);
	store_index_clean(&s);
	return 0;
}

int image_prune(uint64_t *ret_removed, uint64_t *ret_bytes, struct error *err)
{
	auto_store s = STORE_INIT;
	size_t count;
	uint64_t removed, bytes = 0;
	unsigned left;
	int r = store_open(&s, err);

	if (r < 0)
		return r;
	removed = store_sweep(&s, &left);
	struct listed *list = list_read(&s, &count);

	for (size_t i = 0; i < count; i++) {
		auto_strv names = { 0 };

		image_names(&s, list[i].id, &names);
		if (names.count)
			continue;
		r = store_tree_remove(&s, list[i].key);
		left += r == -EACCES || r == -EPERM;
		/* In use is no error here. */
		if (r < 0)
			continue;
		removed++;
		bytes += (uint64_t)number_of(list[i].meta, "bytes");
	}
	list_free(list, count);
	store_index_clean(&s);
	*ret_removed = removed;
	*ret_bytes = bytes;
	return left ? not_ours(&s, err) : 0;
}
