/* SPDX-License-Identifier: Apache-2.0 */
#include "rootfs/image_meta.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/fd.h"
#include "base/json.h"
#include "base/mem.h"
#include "rootfs/image_find.h"

enum { META_MAX = 65536 };

static const char *layout_name(enum layout layout)
{
	static const char *const names[] = {
		[LAYOUT_ONE] = "one",
		[LAYOUT_PLAIN] = "plain",
		[LAYOUT_SHIFTED] = "shifted",
		[LAYOUT_RANGE] = "range",
	};

	return names[layout];
}

static void meta_json(const struct image_meta *m, struct json_writer *w)
{
	char created[32] = "";
	struct tm tm;

	if (gmtime_r(&m->created, &tm))
		strftime(created, sizeof(created), "%Y-%m-%dT%H:%M:%SZ", &tm);
	json_begin_object(w);
	json_key_string(w, "id", m->id);
	json_key_string(w, "source", m->source);
	json_key_string(w, "created", created);
	json_key_string(w, "layout", layout_name(m->ids.layout));
	json_key_integer(w, "shift", m->ids.shift);
	json_key_integer(w, "archive_bytes", (int64_t)m->archive_bytes);
	json_key_integer(w, "bytes", (int64_t)m->counts.bytes);
	json_key_integer(w, "entries", (int64_t)m->counts.entries);
	json_key_integer(w, "skipped_nodes", (int64_t)m->counts.nodes);
	json_key_integer(w, "changed_owners", (int64_t)m->counts.owners);
	json_key_integer(w, "dropped_xattrs", (int64_t)m->counts.xattrs);
	json_key_integer(w, "replaced_directories",
			 (int64_t)m->counts.replaced);
	json_end_object(w);
}

int image_meta_write(int dirfd, const struct image_meta *meta,
		     struct error *err)
{
	auto_json_writer *w = json_writer_new(true);
	auto_close int fd = openat(
		dirfd, "meta.json",
		O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	size_t len;

	if (fd < 0)
		return error_set(err, ERROR_STATE, errno, "make meta.json");
	meta_json(meta, w);
	auto_free char *text = json_writer_take(w, &len);
	int r = fd_write_all(fd, text, len);

	return r < 0 ? error_set(err, ERROR_STATE, -r, "write meta.json") : 0;
}

struct json *image_meta_read(const struct store *s, const char *key)
{
	auto_free char *path = mem_printf("images/%s/meta.json", key);
	auto_buf text = { 0 };
	struct json *meta = NULL;

	if (file_read(s->fd, path, META_MAX, &text) < 0 || !text.data)
		return NULL;
	if (json_parse(text.data, text.len, path, &meta, NULL) < 0)
		return NULL;
	return meta;
}

static bool is_made_of(const struct store *s, const char *key, const char *path)
{
	auto_json *meta = image_meta_read(s, key);
	const struct json *source = json_get(meta, "source");

	return source && source->type == JSON_STRING &&
	       strcmp(source->string, path) == 0;
}

void image_drop_superseded(const struct store *s, const char *path,
			   const char *keep_id, const struct id_layout *ids)
{
	auto_strv keys = { 0 };
	char keep[STORE_KEY_MAX];
	const char *keep_layout = keep + STORE_ID_MAX - 1;

	store_key(keep_id, ids, keep);
	image_keys(s, &keys);
	for (size_t i = 0; i < keys.count; i++) {
		auto_strv names = { 0 };
		const char *layout = strchr(keys.items[i], '.');

		if (!layout || strcmp(layout, keep_layout) != 0 ||
		    strcmp(keys.items[i], keep) == 0)
			continue;
		auto_free char *id = mem_strndup(
			keys.items[i], (size_t)(layout - keys.items[i]));

		image_names(s, id, &names);
		if (!names.count && is_made_of(s, keys.items[i], path))
			(void)store_tree_remove(s, keys.items[i]);
	}
}
