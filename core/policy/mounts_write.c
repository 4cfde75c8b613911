/* SPDX-License-Identifier: Apache-2.0 */
/* The field mounts as policy show and policy schema have it. */
#include "base/mem.h"
#include "base/units.h"
#include "policy/field.h"

static void paths_write(const char *key, const struct strv *list,
			struct json_writer *w)
{
	if (!list->count)
		return;
	json_key(w, key);
	json_begin_array(w);
	for (size_t i = 0; i < list->count; i++)
		json_string(w, list->items[i]);
	json_end_array(w);
}

static void mount_write(const struct policy_mount *m, struct json_writer *w)
{
	json_begin_object(w);
	if (m->source) {
		json_key_string(w, "source", m->source);
		json_key_string(w, "target", m->target);
		json_key_string(w, "access", access_name(m->access));
		paths_write("protect", &m->protect, w);
		paths_write("hide", &m->hide, w);
	} else {
		json_key_string(w, "tmpfs", m->target);
	}
	if (m->size != LIMIT_NONE) {
		auto_free char *size = units_format_size(m->size);

		json_key_string(w, "size", size);
	}
	json_end_object(w);
}

static void mounts_write(const struct policy *p,
			 const struct field *f __attribute__((unused)),
			 struct json_writer *w)
{
	json_begin_array(w);
	for (size_t i = 0; i < p->mount_count; i++)
		mount_write(&p->mounts[i], w);
	json_end_array(w);
}

static void schema_string(struct json_writer *w, const char *key)
{
	json_key(w, key);
	json_begin_object(w);
	json_key_string(w, "type", "string");
	json_end_object(w);
}

static void schema_strings(struct json_writer *w, const char *key)
{
	json_key(w, key);
	json_begin_object(w);
	json_key_string(w, "type", "array");
	schema_string(w, "items");
	json_end_object(w);
}

static void schema_required(struct json_writer *w, const char *first,
			    const char *second)
{
	json_key(w, "required");
	json_begin_array(w);
	json_string(w, first);
	if (second)
		json_string(w, second);
	json_end_array(w);
	json_key_boolean(w, "additionalProperties", false);
	json_end_object(w);
}

static void schema_volume(struct json_writer *w)
{
	json_begin_object(w);
	json_key_string(w, "type", "object");
	json_key(w, "properties");
	json_begin_object(w);
	schema_string(w, "source");
	schema_string(w, "target");
	json_key(w, "access");
	json_begin_object(w);
	json_key(w, "enum");
	json_begin_array(w);
	for (size_t i = 0; access_names[i]; i++)
		json_string(w, access_names[i]);
	json_end_array(w);
	json_end_object(w);
	schema_strings(w, "protect");
	schema_strings(w, "hide");
	schema_string(w, "comment");
	json_end_object(w);
	schema_required(w, "source", "target");
}

static void schema_tmpfs(struct json_writer *w)
{
	json_begin_object(w);
	json_key_string(w, "type", "object");
	json_key(w, "properties");
	json_begin_object(w);
	schema_string(w, "tmpfs");
	json_key(w, "size");
	json_begin_object(w);
	size_schema(w, MOUNT_SIZE_MIN, MOUNT_SIZE_MAX);
	json_end_object(w);
	schema_string(w, "comment");
	json_end_object(w);
	schema_required(w, "tmpfs", NULL);
}

static void mounts_schema(const struct field *f __attribute__((unused)),
			  struct json_writer *w)
{
	json_key_string(w, "type", "array");
	json_key(w, "items");
	json_begin_object(w);
	json_key(w, "oneOf");
	json_begin_array(w);
	schema_volume(w);
	schema_tmpfs(w);
	json_end_array(w);
	json_end_object(w);
}

const struct field_type type_mounts = {
	.name = "mounts",
	.load = mounts_load,
	.write = mounts_write,
	.schema = mounts_schema,
};
