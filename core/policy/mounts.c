/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The field mounts, and the options that add to it: -v, -C and --tmpfs. What a
 * source is, and whether it may be seen or written at all, is looked at when
 * the plan is made.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/units.h"
#include "policy/field.h"

/* What a program of the host runs or obeys later, though a box wrote it. */
static const char *const protect_builtin[] = {
	".git/hooks", ".git/config",       ".envrc", ".mcp.json", ".claude",
	".vscode",    ".github/workflows",
};

static void mount_add(struct policy *p, const struct policy_mount *m)
{
	p->mounts =
		mem_resize(p->mounts, p->mount_count + 1, sizeof(*p->mounts));
	struct policy_mount *new = &p->mounts[p->mount_count++];

	*new = *m;
	if (!new->source || new->access != ACCESS_RW)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(protect_builtin); i++)
		if (!strv_has(&new->protect, protect_builtin[i]))
			strv_add(&new->protect, protect_builtin[i]);
}

static int tmpfs_size_parse(const char *text, int64_t *ret, struct error *err)
{
	int64_t bytes;
	int r = units_parse_size(text, &bytes, err);

	if (r < 0)
		return r;
	if (bytes < MOUNT_SIZE_MIN || bytes > MOUNT_SIZE_MAX)
		return error_set(err, ERROR_USAGE, 0,
				 "size '%s' is not in the range of 4k to 1024t",
				 text);
	*ret = bytes;
	return 0;
}

/* ---- of a file ---- */

static const char *const mount_keys[] = {
	"source", "target", "access",  "protect", "hide",
	"tmpfs",  "size",   "comment", NULL,
};

struct mount_loader {
	struct loader *loader;
	const struct json *object;
	const char *name; /* "mounts[2]" */
	struct policy_mount mount;
};

static void mount_fail(struct mount_loader *m, const struct json *at,
		       const char *key, const struct error *err)
{
	auto_free char *name = mem_printf("%s.%s", m->name, key);

	load_error(m->loader, at, name, err);
}

/* The value of a key where it is a string; NULL where it is absent or wrong. */
static const struct json *mount_string(struct mount_loader *m, const char *key)
{
	const struct json *v = json_get(m->object, key);

	if (!v || v->type == JSON_STRING)
		return v;
	auto_free char *name = mem_printf("%s.%s", m->name, key);

	load_type_error(m->loader, v, name, "a string");
	return NULL;
}

static void mount_load_target(struct mount_loader *m, const char *key)
{
	const struct json *v = mount_string(m, key);
	struct error err;

	if (v && clean_target(v->string, &m->mount.target, &err) < 0)
		mount_fail(m, v, key, &err);
}

static void mount_load_source(struct mount_loader *m)
{
	const struct json *v = mount_string(m, "source");
	struct error err;

	if (v && clean_source(&m->loader->source, v->string, &m->mount.source,
			      &err) < 0)
		mount_fail(m, v, "source", &err);
	mount_load_target(m, "target");
	if (!json_get(m->object, "target"))
		load_fail(m->loader, m->object, m->name, "target is missing");
	v = mount_string(m, "access");
	if (!v)
		return;
	int i = choice_parse(access_names, v->string, &err);

	if (i < 0)
		mount_fail(m, v, "access", &err);
	else
		m->mount.access = (enum access)i;
}

/* A path below the source, or a glob of such paths. */
static bool inner_path_is_good(const char *text, bool glob)
{
	auto_free char *path = mem_printf("/%s", text);
	size_t len = strlen(path);

	/* "**" followed by a '/' and "dir/" are usual in globs. */
	if (glob && len > 2 && path[len - 1] == '/')
		path[len - 1] = '\0';
	return text[0] && path[1] && path_is_normal(path);
}

static void mount_load_paths(struct mount_loader *m, const char *key,
			     struct strv *list, bool glob)
{
	const struct json *v = json_get(m->object, key);
	auto_free char *name = mem_printf("%s.%s", m->name, key);

	if (v && v->type != JSON_ARRAY)
		load_type_error(m->loader, v, name, "an array of strings");
	else if (v && m->mount.access != ACCESS_RW && !glob)
		load_fail(m->loader, v, name,
			  "only a mount with access rw needs it");
	for (size_t i = 0; v && v->type == JSON_ARRAY && i < v->count; i++) {
		const struct json *item = v->items[i];

		if (item->type != JSON_STRING)
			load_type_error(m->loader, item, name, "a string");
		else if (!inner_path_is_good(item->string, glob))
			load_fail(m->loader, item, name,
				  "'%s' is not a path below the source",
				  item->string);
		else if (!strv_has(list, item->string))
			strv_add(list, item->string);
	}
}

static void mount_load_size(struct mount_loader *m)
{
	const struct json *v = json_get(m->object, "size");
	auto_free char *name = mem_printf("%s.size", m->name);
	struct error err;

	if (!v)
		return;
	if (v->type != JSON_STRING && v->type != JSON_INTEGER)
		load_type_error(m->loader, v, name,
				"a size, as \"64m\" or a whole number of "
				"bytes");
	else if (tmpfs_size_parse(v->string, &m->mount.size, &err) < 0)
		load_error(m->loader, v, name, &err);
}

/* Keys that the other kind of mount has. */
static void mount_refuse(struct mount_loader *m, const char *const *keys,
			 const char *why)
{
	for (; *keys; keys++) {
		const struct json *v = json_get(m->object, *keys);

		if (v)
			load_fail(m->loader, v, m->name, "%s %s", *keys, why);
	}
}

static void mount_load_keys(struct mount_loader *m)
{
	static const char *const of_source[] = { "source",  "target", "access",
						 "protect", "hide",   NULL };
	static const char *const of_tmpfs[] = { "size", NULL };

	if (json_get(m->object, "tmpfs")) {
		mount_refuse(m, of_source, "does not belong to a tmpfs");
		mount_load_target(m, "tmpfs");
		mount_load_size(m);
	} else if (json_get(m->object, "source")) {
		mount_refuse(m, of_tmpfs, "belongs to a tmpfs only");
		mount_load_source(m);
		mount_load_paths(m, "protect", &m->mount.protect, false);
		mount_load_paths(m, "hide", &m->mount.hide, true);
	} else {
		load_fail(m->loader, m->object, m->name,
			  "source or tmpfs is missing");
	}
}

static void mount_load(struct loader *l, const struct json *object,
		       const char *name)
{
	struct mount_loader m = {
		.loader = l,
		.object = object,
		.name = name,
		.mount = { .access = ACCESS_RO, .size = LIMIT_NONE },
	};
	size_t failed = l->failed;

	if (object->type != JSON_OBJECT) {
		load_type_error(l, object, name, "an object");
		return;
	}
	for (size_t i = 0; i < object->count; i++)
		if (!load_is_note(l, object->keys[i], object->items[i]) &&
		    choice_parse(mount_keys, object->keys[i]->string, NULL) < 0)
			load_unknown_key(l, object->keys[i], name, mount_keys);
	mount_load_keys(&m);
	m.mount.origin = load_origin(l, object);
	if (l->failed == failed)
		mount_add(l->policy, &m.mount);
	else
		policy_mount_release(&m.mount);
}

void mounts_load(struct loader *l, const struct field *f, const struct json *v)
{
	if (v->type != JSON_ARRAY) {
		load_type_error(l, v, f->info.name, "an array of objects");
		return;
	}
	for (size_t i = 0; i < v->count; i++) {
		auto_free char *name = mem_printf("%s[%zu]", f->info.name, i);

		mount_load(l, v->items[i], name);
	}
}

/* ---- of options ---- */

static int mount_by_option(struct policy *p, const struct source *s,
			   struct policy_mount *m)
{
	m->origin = s->origin;
	mount_add(p, m);
	policy_set_origin(p, field_find("mounts"), &s->origin);
	return 0;
}

int policy_add_volume(struct policy *p, const char *option, const char *text,
		      struct error *err)
{
	struct source s = source_of_option(p, option);
	struct policy_mount m = { .access = ACCESS_RW, .size = LIMIT_NONE };
	const char *target = strchr(text, ':');
	const char *access = target ? strchr(target + 1, ':') : NULL;

	if (!target || target == text || !target[1]) {
		error_set(err, ERROR_USAGE, 0, "%s: '%s' has no %s", option,
			  text, target == text ? "source" : "target");
		return error_hint(err, "write SRC:DST[:rw|ro|overlay]");
	}
	auto_free char *from = mem_strndup(text, (size_t)(target - text));
	auto_free char *to =
		access ? mem_strndup(target + 1, (size_t)(access - target - 1))
		       : mem_strdup(target + 1);

	if (!strchr(from, '/')) {
		error_set(err, ERROR_USAGE, 0, "%s: '%s' is not a path", option,
			  from);
		return error_hint(err, "write ./%s", from);
	}
	if (access) {
		int i = choice_parse(access_names, access + 1, err);

		if (i < 0)
			return error_prefix(err, "%s", option);
		m.access = (enum access)i;
	}
	int r = clean_target(to, &m.target, err);

	if (r == 0)
		r = clean_source(&s, from, &m.source, err);
	if (r == 0)
		return mount_by_option(p, &s, &m);
	policy_mount_release(&m);
	return error_prefix(err, "%s", option);
}

static bool is_same_file(const struct stat *st, const char *path)
{
	struct stat other;

	return stat(path, &other) == 0 && other.st_dev == st->st_dev &&
	       other.st_ino == st->st_ino;
}

/*
 * All of a home means its keys. By identity and by text: a directory that does
 * not exist is refused later anyway, and HOME need not exist.
 */
static int project_check(const char *source, struct error *err)
{
	const char *home = getenv("HOME");
	auto_free char *normal =
		home && home[0] == '/' ? path_normalize("/", home) : NULL;
	struct stat st;
	bool found = stat(source, &st) == 0;
	const char *what = NULL;

	if (strcmp(source, "/") == 0 || (found && is_same_file(&st, "/")))
		what = "the root directory";
	else if (normal && (strcmp(source, normal) == 0 ||
			    (found && is_same_file(&st, normal))))
		what = "the home directory";
	if (!what)
		return 0;
	error_set(err, ERROR_USAGE, 0, "%s is %s, not a project", source, what);
	return error_hint(err, "name a directory below it");
}

/* ":rw" and its like at the end; a ':' before anything else is the path's. */
static int project_access(const char *text, size_t *ret_len,
			  enum access *ret_access, struct error *err)
{
	const char *colon = strrchr(text, ':');

	*ret_len = strlen(text);
	*ret_access = ACCESS_OVERLAY;
	if (!colon || strchr(colon, '/'))
		return 0;
	int i = choice_parse(access_names, colon + 1, err);

	if (i < 0)
		return -EINVAL;
	*ret_len = (size_t)(colon - text);
	*ret_access = (enum access)i;
	return 0;
}

int policy_add_project(struct policy *p, const char *option, const char *text,
		       struct error *err)
{
	struct source s = source_of_option(p, option);
	struct policy_mount m = { .project = true, .size = LIMIT_NONE };
	size_t len;
	int r = project_access(text, &len, &m.access, err);

	if (r < 0)
		return error_prefix(err, "%s", option);
	for (size_t i = 0; i < p->mount_count; i++)
		if (p->mounts[i].project)
			return error_set(err, ERROR_USAGE, 0,
					 "%s: there is one project, and it is "
					 "%s",
					 option, p->mounts[i].source);
	auto_free char *path = mem_strndup(text, len);

	r = clean_source(&s, path, &m.source, err);
	if (r == 0)
		r = project_check(m.source, err);
	if (r == 0)
		r = clean_target(m.source, &m.target, err);
	if (r == 0)
		return mount_by_option(p, &s, &m);
	policy_mount_release(&m);
	return error_prefix(err, "%s", option);
}

int policy_add_tmpfs(struct policy *p, const char *option, const char *text,
		     struct error *err)
{
	struct source s = source_of_option(p, option);
	struct policy_mount m = { .size = LIMIT_NONE };
	const char *colon = strchr(text, ':');
	auto_free char *target = mem_strndup(
		text, colon ? (size_t)(colon - text) : strlen(text));
	int r = colon ? tmpfs_size_parse(colon + 1, &m.size, err) : 0;

	if (r == 0)
		r = clean_target(target, &m.target, err);
	if (r == 0)
		return mount_by_option(p, &s, &m);
	return error_prefix(err, "%s", option);
}
