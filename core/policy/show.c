/* SPDX-License-Identifier: Apache-2.0 */
/*
 * policy show and policy schema, from the table. Without origins, what is shown
 * is a valid policy file too, in which the defaults are asked for: what has no
 * bound is left out.
 */
#include <string.h>

#include "base/mem.h"
#include "policy/field.h"

/* "limits" of "limits.memory"; "" where the field is in no group. */
static char *group_of(const struct field *f)
{
	const char *dot = strchr(f->info.name, '.');

	return dot ? mem_strndup(f->info.name, (size_t)(dot - f->info.name))
		   : mem_strdup("");
}

static const char *leaf_of(const struct field *f)
{
	const char *dot = strchr(f->info.name, '.');

	return dot ? dot + 1 : f->info.name;
}

struct group_writer {
	struct json_writer *w;
	char *open; /* the group whose object is open, or "" */
	void (*begin)(struct json_writer *w);
	void (*end)(struct json_writer *w);
};

/* Closes and opens objects, so that f can be written: fields of one group stand
 * together in the table. */
static void group_enter(struct group_writer *g, char *group)
{
	if (strcmp(g->open, group) != 0) {
		if (*g->open)
			g->end(g->w);
		if (*group) {
			json_key(g->w, group);
			g->begin(g->w);
		}
	}
	mem_cleanup_free(&g->open);
	g->open = group;
}

static void group_leave(struct group_writer *g)
{
	if (*g->open)
		g->end(g->w);
	mem_cleanup_free(&g->open);
}

static void policy_write_values(const struct policy *p, struct json_writer *w)
{
	struct group_writer g = { w, mem_strdup(""), json_begin_object,
				  json_end_object };

	json_begin_object(w);
	for (size_t i = 0; i < field_count; i++) {
		const struct field *f = &fields[i];

		if (field_is_empty(p, f))
			continue;
		group_enter(&g, group_of(f));
		json_key(w, leaf_of(f));
		f->type->write(p, f, w);
	}
	group_leave(&g);
	json_end_object(w);
}

void policy_write(const struct policy *p, bool origins, struct json_writer *w)
{
	if (!origins) {
		policy_write_values(p, w);
		return;
	}
	json_begin_object(w);
	for (size_t i = 0; i < field_count; i++) {
		auto_free char *from = origin_format(&p->origins[i]);

		json_key(w, fields[i].info.name);
		json_begin_object(w);
		json_key(w, "value");
		fields[i].type->write(p, &fields[i], w);
		json_key_string(w, "from", from);
		json_end_object(w);
	}
	json_end_object(w);
}

/* ---- schema ---- */

static void schema_note(struct json_writer *w, const char *key)
{
	json_key(w, key);
	json_begin_object(w);
	json_key_string(w, "type", "string");
	json_end_object(w);
}

static void schema_begin(struct json_writer *w)
{
	json_begin_object(w);
	json_key_string(w, "type", "object");
	json_key_boolean(w, "additionalProperties", false);
	json_key(w, "properties");
	json_begin_object(w);
	schema_note(w, "$schema");
	schema_note(w, "comment");
}

static void schema_end(struct json_writer *w)
{
	json_end_object(w);
	json_end_object(w);
}

static void schema_field(const struct field *f, struct json_writer *w)
{
	auto_buf doc = { 0 };

	buf_adds(&doc, f->info.doc);
	if (*f->info.fallback)
		buf_addf(&doc, "; default: %s", f->info.fallback);
	json_key(w, leaf_of(f));
	json_begin_object(w);
	json_key_string(w, "description", doc.data);
	f->type->schema(f, w);
	json_end_object(w);
}

void policy_write_schema(struct json_writer *w)
{
	struct group_writer g = { w, mem_strdup(""), schema_begin, schema_end };

	json_begin_object(w);
	json_key_string(w, "$schema",
			"https://json-schema.org/draft/2020-12/schema");
	json_key_string(w, "title", "llmbox policy");
	json_key_string(w, "type", "object");
	json_key_boolean(w, "additionalProperties", false);
	json_key(w, "properties");
	json_begin_object(w);
	schema_note(w, "$schema");
	schema_note(w, "comment");
	for (size_t i = 0; i < field_count; i++) {
		group_enter(&g, group_of(&fields[i]));
		schema_field(&fields[i], w);
	}
	group_leave(&g);
	schema_end(w);
}
