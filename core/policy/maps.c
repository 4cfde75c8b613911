/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fields that are maps of strings: env, network.route and limits.ulimit. An
 * entry that is there already is replaced, so later ones win.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/error.h"
#include "base/mem.h"
#include "policy/field.h"

/* ---- pairs: env and routes ---- */

static void pairs_put(struct policy_env **pairs, size_t *count,
		      const char *name, const char *value)
{
	for (size_t i = 0; i < *count; i++) {
		if (strcmp((*pairs)[i].name, name) != 0)
			continue;
		free((*pairs)[i].value);
		(*pairs)[i].value = mem_strdup(value);
		return;
	}
	*pairs = mem_resize(*pairs, *count + 1, sizeof(**pairs));
	(*pairs)[(*count)++] =
		(struct policy_env){ mem_strdup(name), mem_strdup(value) };
}

static void pairs_drop(struct policy_env *pairs, size_t *count,
		       const char *name)
{
	for (size_t i = 0; i < *count; i++) {
		if (strcmp(pairs[i].name, name) != 0)
			continue;
		free(pairs[i].name);
		free(pairs[i].value);
		memmove(pairs + i, pairs + i + 1,
			(--*count - i) * sizeof(*pairs));
		return;
	}
}

static void pairs_write(const struct policy_env *pairs, size_t count,
			struct json_writer *w)
{
	json_begin_object(w);
	for (size_t i = 0; i < count; i++)
		json_key_string(w, pairs[i].name, pairs[i].value);
	json_end_object(w);
}

/* K=V; K alone passes the caller's value on, and is not set where the caller
 * has none, as for docker. */
static int env_set(struct policy *p, const struct field *f,
		   const struct source *s, const char *text, struct error *err)
{
	const char *equals = strchr(text, '=');
	auto_free char *name = mem_strndup(
		text, equals ? (size_t)(equals - text) : strlen(text));
	auto_free char *clean = NULL;
	int r = f->clean(s, name, &clean, err);

	if (r < 0)
		return r;
	if (equals) {
		pairs_put(&p->env, &p->env_count, clean, equals + 1);
		return 0;
	}
	pairs_drop(p->env, &p->env_count, clean);
	if (!strv_has(&p->env_pass, clean))
		strv_add(&p->env_pass, clean);
	policy_set_origin(p, field_find("env_pass"), &s->origin);
	return 0;
}

static void env_load(struct loader *l, const struct field *f,
		     const struct json *v)
{
	struct policy *p = l->policy;

	if (v->type != JSON_OBJECT) {
		load_type_error(l, v, f->info.name, "an object of strings");
		return;
	}
	for (size_t i = 0; i < v->count; i++) {
		const struct json *key = v->keys[i], *item = v->items[i];
		auto_free char *name =
			mem_printf("%s.%.60s", f->info.name, key->string);
		auto_free char *clean = NULL;
		struct error err;

		if (f->clean(&l->source, key->string, &clean, &err) < 0) {
			load_error(l, key, f->info.name, &err);
		} else if (item->type != JSON_STRING) {
			load_type_error(l, item, name, "a string");
			if (item->type == JSON_NULL)
				load_hint(l, "to pass the caller's value on, "
					     "use env_pass");
		} else {
			pairs_put(&p->env, &p->env_count, clean, item->string);
		}
	}
}

static void env_write(const struct policy *p,
		      const struct field *f __attribute__((unused)),
		      struct json_writer *w)
{
	pairs_write(p->env, p->env_count, w);
}

static void strings_schema(const struct field *f __attribute__((unused)),
			   struct json_writer *w)
{
	json_key_string(w, "type", "object");
	json_key(w, "additionalProperties");
	json_begin_object(w);
	json_key_string(w, "type", "string");
	json_end_object(w);
}

const struct field_type type_env = {
	.name = "map",
	.load = env_load,
	.set = env_set,
	.write = env_write,
	.schema = strings_schema,
};

/* ---- routes ---- */

static int route_put(struct policy *p, const char *from, const char *to,
		     struct error *err)
{
	int r = route_check(from, to, err);

	if (r == 0)
		pairs_put(&p->network.routes, &p->network.route_count, from,
			  to);
	return r;
}

static int route_set(struct policy *p,
		     const struct field *f __attribute__((unused)),
		     const struct source *s __attribute__((unused)),
		     const char *text, struct error *err)
{
	const char *equals = strchr(text, '=');

	if (!equals) {
		error_set(err, ERROR_USAGE, 0, "'%s' is not a route", text);
		return error_hint(err, "write NAME:PORT=ADDRESS:PORT");
	}
	auto_free char *from = mem_strndup(text, (size_t)(equals - text));

	return route_put(p, from, equals + 1, err);
}

static void route_load(struct loader *l, const struct field *f,
		       const struct json *v)
{
	struct error err;

	if (v->type != JSON_OBJECT) {
		load_type_error(l, v, f->info.name, "an object of strings");
		return;
	}
	for (size_t i = 0; i < v->count; i++) {
		const struct json *key = v->keys[i], *item = v->items[i];

		if (load_is_note(l, key, item))
			continue;
		if (item->type != JSON_STRING)
			load_type_error(l, item, f->info.name, "a string");
		else if (route_put(l->policy, key->string, item->string, &err) <
			 0)
			load_error(l, key, f->info.name, &err);
	}
}

static void route_write(const struct policy *p,
			const struct field *f __attribute__((unused)),
			struct json_writer *w)
{
	pairs_write(p->network.routes, p->network.route_count, w);
}

const struct field_type type_route = {
	.name = "map",
	.load = route_load,
	.set = route_set,
	.write = route_write,
	.schema = strings_schema,
};

/* ---- ulimit ---- */

static const char *const ulimit_names[] = {
	"core",     "cpu",        "data",   "fsize", "locks", "memlock",
	"msgqueue", "nice",       "nofile", "nproc", "rss",   "rtprio",
	"rttime",   "sigpending", "stack",  NULL,
};

static const int ulimit_resources[] = {
	RLIMIT_CORE,   RLIMIT_CPU,        RLIMIT_DATA,     RLIMIT_FSIZE,
	RLIMIT_LOCKS,  RLIMIT_MEMLOCK,    RLIMIT_MSGQUEUE, RLIMIT_NICE,
	RLIMIT_NOFILE, RLIMIT_NPROC,      RLIMIT_RSS,      RLIMIT_RTPRIO,
	RLIMIT_RTTIME, RLIMIT_SIGPENDING, RLIMIT_STACK,
};

static bool ulimit_value_parse(const char *text, size_t len, uint64_t *ret)
{
	if (len == 9 && memcmp(text, "unlimited", 9) == 0) {
		*ret = RLIM_INFINITY;
		return true;
	}
	/* 19 digits fit, and RLIM_INFINITY has 20. */
	if (len == 0 || len > 19 || strspn(text, "0123456789") < len)
		return false;
	*ret = strtoull(text, NULL, 10);
	return true;
}

static int ulimit_parse(const char *name, const char *value,
			struct policy_ulimit *ret, struct error *err)
{
	int i = choice_parse(ulimit_names, name, NULL);
	size_t len = strcspn(value, ":");

	if (i < 0) {
		const char *near = nearest_name(name, ulimit_names);

		error_set(err, ERROR_USAGE, 0, "there is no limit '%s'", name);
		return near ? error_hint(err, "did you mean '%s'?", near)
			    : -EINVAL;
	}
	ret->resource = ulimit_resources[i];
	if (ret->resource == RLIMIT_NPROC) {
		error_set(err, ERROR_USAGE, 0,
			  "nproc counts all processes of the caller's id");
		return error_hint(err, "use limits.pids or --pids-limit");
	}
	if (!ulimit_value_parse(value, len, &ret->soft) ||
	    (value[len] &&
	     !ulimit_value_parse(value + len + 1, strlen(value + len + 1),
				 &ret->hard))) {
		error_set(err, ERROR_USAGE, 0, "'%s' is no value of %s", value,
			  name);
		return error_hint(err, "write SOFT or SOFT:HARD, whole "
				       "numbers or unlimited");
	}
	if (!value[len])
		ret->hard = ret->soft;
	if (ret->soft > ret->hard)
		return error_set(err, ERROR_USAGE, 0,
				 "%s: the soft limit is above the hard one",
				 name);
	return 0;
}

static int ulimit_put(struct policy *p, const char *name, const char *value,
		      struct error *err)
{
	struct policy_limits *l = &p->limits;
	struct policy_ulimit u = { 0 };
	int r = ulimit_parse(name, value, &u, err);

	if (r < 0)
		return r;
	for (size_t i = 0; i < l->ulimit_count; i++) {
		if (l->ulimits[i].resource == u.resource) {
			l->ulimits[i].soft = u.soft;
			l->ulimits[i].hard = u.hard;
			return 0;
		}
	}
	u.name = mem_strdup(name);
	l->ulimits = mem_resize(l->ulimits, l->ulimit_count + 1,
				sizeof(*l->ulimits));
	l->ulimits[l->ulimit_count++] = u;
	return 0;
}

static int ulimit_set(struct policy *p,
		      const struct field *f __attribute__((unused)),
		      const struct source *s __attribute__((unused)),
		      const char *text, struct error *err)
{
	const char *equals = strchr(text, '=');

	if (!equals) {
		error_set(err, ERROR_USAGE, 0, "'%s' sets no limit", text);
		return error_hint(err, "write NAME=SOFT[:HARD]");
	}
	auto_free char *name = mem_strndup(text, (size_t)(equals - text));

	return ulimit_put(p, name, equals + 1, err);
}

static void ulimit_load(struct loader *l, const struct field *f,
			const struct json *v)
{
	if (v->type != JSON_OBJECT) {
		load_type_error(l, v, f->info.name, "an object");
		return;
	}
	for (size_t i = 0; i < v->count; i++) {
		const struct json *key = v->keys[i], *item = v->items[i];
		struct error err;

		if (load_is_note(l, key, item))
			continue;
		if (item->type != JSON_STRING && item->type != JSON_INTEGER)
			load_type_error(l, item, f->info.name,
					"\"SOFT[:HARD]\" or a whole number");
		else if (ulimit_put(l->policy, key->string, item->string,
				    &err) < 0)
			load_error(l, key, f->info.name, &err);
	}
}

static void ulimit_value_add(struct buf *out, uint64_t value)
{
	if (value == RLIM_INFINITY)
		buf_adds(out, "unlimited");
	else
		buf_addf(out, "%" PRIu64, value);
}

static void ulimit_write(const struct policy *p,
			 const struct field *f __attribute__((unused)),
			 struct json_writer *w)
{
	const struct policy_limits *l = &p->limits;

	json_begin_object(w);
	for (size_t i = 0; i < l->ulimit_count; i++) {
		auto_buf text = { 0 };

		ulimit_value_add(&text, l->ulimits[i].soft);
		buf_adds(&text, ":");
		ulimit_value_add(&text, l->ulimits[i].hard);
		json_key_string(w, l->ulimits[i].name, text.data);
	}
	json_end_object(w);
}

static void ulimit_schema(const struct field *f __attribute__((unused)),
			  struct json_writer *w)
{
	json_key_string(w, "type", "object");
	json_key_boolean(w, "additionalProperties", false);
	json_key(w, "properties");
	json_begin_object(w);
	for (size_t i = 0; ulimit_names[i]; i++) {
		if (ulimit_resources[i] == RLIMIT_NPROC)
			continue;
		json_key(w, ulimit_names[i]);
		json_begin_object(w);
		json_key(w, "type");
		json_begin_array(w);
		json_string(w, "string");
		json_string(w, "integer");
		json_end_array(w);
		json_end_object(w);
	}
	json_key(w, "comment");
	json_begin_object(w);
	json_key_string(w, "type", "string");
	json_end_object(w);
	json_end_object(w);
}

const struct field_type type_ulimit = {
	.name = "map",
	.load = ulimit_load,
	.set = ulimit_set,
	.write = ulimit_write,
	.schema = ulimit_schema,
};
