/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading policy files. Order: find the file, read it, parse it, then walk it
 * by the table; each value is checked by its field's type. All errors are
 * told, and any of them means that nothing runs: nothing is ignored, and
 * nothing falls back to a default.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/dirs.h"
#include "base/error.h"
#include "base/fd.h"
#include "base/mem.h"
#include "policy/field.h"

#define SYSTEM_POLICY "/etc/llmbox/policy.json"

/* ---- errors ---- */

static void load_add(struct loader *l, const struct json *at, struct error *err)
{
	error_at(err, l->source.origin.name, at->line, at->column);
	error_list_add(l->errors, err);
	l->failed++;
}

void load_fail(struct loader *l, const struct json *at, const char *name,
	       const char *format, ...)
{
	char message[sizeof(((struct error *)0)->message)];
	struct error err;
	va_list args;

	va_start(args, format);
	vsnprintf(message, sizeof(message), format, args);
	va_end(args);
	error_set(&err, ERROR_POLICY, 0, "%s%s%s", name ? name : "",
		  name ? ": " : "", message);
	load_add(l, at, &err);
}

void load_hint(struct loader *l, const char *format, ...)
{
	char hint[sizeof(((struct error *)0)->hint)];
	va_list args;

	/* A full list only counts: its last error is another's. */
	if (l->errors->dropped)
		return;
	va_start(args, format);
	vsnprintf(hint, sizeof(hint), format, args);
	va_end(args);
	error_hint(&l->errors->items[l->errors->count - 1], "%s", hint);
}

void load_error(struct loader *l, const struct json *at, const char *name,
		const struct error *err)
{
	struct error copy = *err;

	copy.kind = ERROR_POLICY;
	error_prefix(&copy, "%s", name);
	load_add(l, at, &copy);
}

void load_type_error(struct loader *l, const struct json *at, const char *name,
		     const char *what)
{
	const char *is = json_type_name(at->type);

	if (at->type == JSON_BOOLEAN)
		is = at->boolean ? "true" : "false";
	load_fail(l, at, name, "must be %s, not %s", what, is);
}

struct origin load_origin(const struct loader *l, const struct json *at)
{
	struct origin origin = l->source.origin;

	origin.line = at->line;
	origin.column = at->column;
	return origin;
}

bool load_is_note(struct loader *l, const struct json *key,
		  const struct json *value)
{
	if (strcmp(key->string, "$schema") != 0 &&
	    strcmp(key->string, "comment") != 0)
		return false;
	if (value->type != JSON_STRING)
		load_type_error(l, value, key->string, "a string");
	return true;
}

/* ---- unknown keys ---- */

/* What other tools call a field, or a key of a mount. */
static const char *const other_names[] = {
	"timeout",     "cwd",         "working_dir", "volumes",   "binds",
	"environment", "image",       "pids_limit",  "mem_limit", "ulimits",
	"seccomp",     "nofile",      "readonly",    "options",   "src",
	"dst",         "destination", NULL,
};

static const char *const other_fields[] = {
	"limits.time",   "workdir",          "workdir",
	"mounts",        "mounts",           "env",
	"rootfs.image",  "limits.pids",      "limits.memory",
	"limits.ulimit", "syscalls.profile", "limits.open_files",
	"access",        "access",           "source",
	"target",        "target",
};

static const char *leaf_of(const char *name)
{
	const char *dot = strchr(name, '.');

	return dot ? dot + 1 : name;
}

/* A field that lies elsewhere: "memory" at the top is limits.memory. */
static const char *field_elsewhere(const char *key)
{
	const char *near = nearest_name(key, other_names);

	for (size_t i = 0; i < field_count; i++)
		if (strcmp(leaf_of(fields[i].info.name), key) == 0)
			return fields[i].info.name;
	for (size_t i = 0; i < ARRAY_SIZE(other_fields); i++)
		if (near == other_names[i])
			return other_fields[i];
	return NULL;
}

void load_unknown_key(struct loader *l, const struct json *key,
		      const char *where, const char *const *keys)
{
	const char *near = nearest_name(key->string, keys);

	if (!near)
		near = field_elsewhere(key->string);
	load_fail(l, key, where, "unknown key \"%.60s\"", key->string);
	if (near) {
		load_hint(l, "did you mean \"%s\"?", near);
	} else {
		auto_buf all = { 0 };

		for (size_t i = 0; keys[i]; i++)
			buf_addf(&all, "%s%s", i ? ", " : "", keys[i]);
		load_hint(l, "the keys here are %s", all.data);
	}
}

/* The keys of one object: what stands between prefix and the next dot. */
static void object_keys(const char *prefix, struct strv *ret)
{
	size_t len = strlen(prefix);

	for (size_t i = 0; i < field_count; i++) {
		const char *name = fields[i].info.name;

		if (strncmp(name, prefix, len) != 0)
			continue;
		auto_free char *key =
			mem_strndup(name + len, strcspn(name + len, "."));

		if (!strv_has(ret, key))
			strv_add(ret, key);
	}
	strv_add(ret, "comment");
}

/* ---- the walk ---- */

static bool is_group(const char *key)
{
	size_t len = strlen(key);

	for (size_t i = 0; i < field_count; i++)
		if (strncmp(fields[i].info.name, key, len) == 0 &&
		    fields[i].info.name[len] == '.')
			return true;
	return false;
}

static void object_load(struct loader *l, const struct json *object,
			const char *prefix);

static void group_load(struct loader *l, const char *name,
		       const struct json *value)
{
	auto_free char *prefix = mem_printf("%s.", name);

	if (value->type == JSON_OBJECT) {
		object_load(l, value, prefix);
		return;
	}
	load_type_error(l, value, name, "an object");
	if (strcmp(name, "network") == 0)
		load_hint(l, "write {\"mode\": \"none\"}");
}

static void key_load(struct loader *l, const struct json *key,
		     const struct json *value, const char *prefix)
{
	auto_free char *name = mem_printf("%s%s", prefix, key->string);
	const struct field *f = field_find(name);

	if (f && strcmp(leaf_of(f->info.name), key->string) == 0) {
		f->type->load(l, f, value);
		struct origin origin = load_origin(l, value);

		policy_set_origin(l->policy, f, &origin);
	} else if (!*prefix && is_group(key->string)) {
		group_load(l, key->string, value);
	} else if (f) {
		load_fail(l, key, NULL, "unknown key \"%s\"", key->string);
		load_hint(l, "write it as an object in an object: "
			     "{\"limits\": {\"memory\": ...}}");
	} else {
		auto_strv keys = { 0 };
		auto_free char *where =
			*prefix ? mem_strndup(prefix, strlen(prefix) - 1)
				: NULL;

		object_keys(prefix, &keys);
		load_unknown_key(l, key, where,
				 (const char *const *)keys.items);
	}
}

static void object_load(struct loader *l, const struct json *object,
			const char *prefix)
{
	for (size_t i = 0; i < object->count; i++)
		if (!load_is_note(l, object->keys[i], object->items[i]))
			key_load(l, object->keys[i], object->items[i], prefix);
}

/* ---- files ---- */

/*
 * The directory that relative paths count from, resolved, so that ".." leads
 * where the kernel would go. A descriptor's name (/dev/stdin, /proc/self/fd/3)
 * has none: NULL, for the working directory.
 */
static int base_of(const char *file, char **ret, struct error *err)
{
	*ret = NULL;
	if (strncmp(file, "/dev/", 5) == 0 || strncmp(file, "/proc/", 6) == 0)
		return 0;
	const char *slash = strrchr(file, '/');
	auto_free char *dir =
		slash ? mem_strndup(file, (size_t)(slash - file) + 1)
		      : mem_strdup(".");

	*ret = realpath(dir, NULL);
	if (*ret)
		return 0;
	return error_set(err, ERROR_POLICY, errno,
			 "find the directory of policy %s", file);
}

static int text_load(struct policy *p, const char *file, const struct buf *text,
		     struct error_list *errors)
{
	auto_free char *base = NULL;
	auto_json *root = NULL;
	struct error err;
	int r = base_of(file, &base, &err);

	if (r == 0)
		r = json_parse(text->data ? text->data : "", text->len, file,
			       &root, &err);
	if (!root) {
		error_list_add(errors, &err);
		return r;
	}
	strv_add(&p->names, file);
	struct loader l = {
		.policy = p,
		.source = { .origin = { .kind = ORIGIN_FILE,
					.name = p->names.items[p->names.count -
							       1] },
			    .base = base },
		.errors = errors,
	};

	if (root->type != JSON_OBJECT)
		load_type_error(&l, root, "a policy", "an object");
	else
		object_load(&l, root, "");
	return l.failed ? -EINVAL : 0;
}

int policy_load_file(struct policy *p, const char *file,
		     struct error_list *errors)
{
	auto_buf text = { 0 };
	struct error err;
	int r = file_read(AT_FDCWD, file, JSON_SIZE_MAX, &text);

	if (r < 0) {
		error_set(&err, ERROR_POLICY, -r, "read policy %s", file);
		error_list_add(errors, &err);
		return r;
	}
	strv_add(&p->files, file);
	return text_load(p, file, &text, errors);
}

/*
 * Is a file there that nobody named? One that can't be read is an error, not an
 * absent one. But below a directory that can't be entered nothing is the
 * caller's: HOME of another user, after a change of ids.
 */
static bool file_is_there(const char *file)
{
	struct stat st;

	return stat(file, &st) == 0 ||
	       (errno != ENOENT && errno != ENOTDIR && errno != EACCES);
}

int policy_load(struct policy *p, const struct strv *files,
		struct error_list *errors)
{
	const char *named = getenv("LLMBOX_POLICY");
	int r = 0;

	for (size_t i = 0; files && i < files->count; i++) {
		int one = policy_load_file(p, files->items[i], errors);

		if (r == 0)
			r = one;
	}
	if (files && files->count)
		return r;
	if (named && *named)
		return policy_load_file(p, named, errors);
	auto_free char *config = dirs_config();
	auto_free char *own =
		config ? mem_printf("%s/policy.json", config) : NULL;

	if (own && file_is_there(own))
		return policy_load_file(p, own, errors);
	if (file_is_there(SYSTEM_POLICY) || errno == EACCES)
		return policy_load_file(p, SYSTEM_POLICY, errors);
	return 0;
}
