/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What no single field can tell: values that contradict each other. What one
 * source says twice is an error; of two sources the later one wins, as an
 * option over a file.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "policy/field.h"

#define CEILING_FILE "/etc/llmbox/ceiling.json"

char *origin_format(const struct origin *o)
{
	if (o->kind == ORIGIN_DEFAULT)
		return mem_strdup("built-in");
	if (o->kind == ORIGIN_OPTION || !o->line)
		return mem_strdup(o->name);
	return mem_printf("%s:%u:%u", o->name, o->line, o->column);
}

int origin_error(struct error *err, const struct origin *o, const char *format,
		 ...)
{
	char message[sizeof(err->message)];
	va_list args;

	va_start(args, format);
	vsnprintf(message, sizeof(message), format, args);
	va_end(args);
	if (o->kind == ORIGIN_OPTION)
		return error_set(err, ERROR_USAGE, 0, "%s: %s", o->name,
				 message);
	int r = error_set(err, ERROR_POLICY, 0, "%s", message);

	if (o->kind == ORIGIN_FILE)
		error_at(err, o->name, o->line, o->column);
	return r;
}

/* Said in one file, or both on the command line. */
static bool same_source(const struct origin *a, const struct origin *b)
{
	if (a->kind != b->kind)
		return false;
	return a->kind != ORIGIN_FILE || strcmp(a->name, b->name) == 0;
}

/* ---- lists ---- */

static int lists_check(const struct policy *p, const char *first,
		       const char *second, struct error *err)
{
	const struct strv *a = field_at(p, field_find(first));
	const struct strv *b = field_at(p, field_find(second));

	for (size_t i = 0; i < a->count; i++)
		if (strv_has(b, a->items[i]))
			return origin_error(err, policy_origin(p, second),
					    "%s is both in %s and in %s",
					    a->items[i], first, second);
	return 0;
}

/* ---- network ---- */

/* Names are added as files are read and options set. */
static size_t origin_age(const struct policy *p, const struct origin *o)
{
	size_t i = 0;

	while (i < p->names.count && p->names.items[i] != o->name)
		i++;
	return i;
}

/*
 * Rules ask for the allow-list, unless a later source chose another mode. One
 * source with rules and a mode in which they have no effect is an error.
 */
static int network_check(struct policy *p, const char *field, size_t count,
			 struct error *err)
{
	const struct origin *mode = policy_origin(p, "network.mode");
	const struct origin *rules = policy_origin(p, field);

	if (!count || p->network.mode == NETWORK_ALLOWLIST)
		return 0;
	if (mode->kind != ORIGIN_DEFAULT) {
		if (same_source(mode, rules))
			return origin_error(
				err, rules,
				"%s has no effect with network mode %s", field,
				network_mode_name(p->network.mode));
		if (origin_age(p, mode) > origin_age(p, rules))
			return 0;
	}
	p->network.mode = NETWORK_ALLOWLIST;
	policy_set_origin(p, field_find("network.mode"), rules);
	return 0;
}

/* ---- mounts ---- */

static int mount_conflict(const struct policy_mount *a,
			  const struct policy_mount *b, struct error *err)
{
	auto_free char *first = origin_format(&a->origin);
	auto_free char *second = origin_format(&b->origin);

	return origin_error(err, &b->origin,
			    "two mounts on %s: %s at %s, and %s at %s",
			    b->target, a->source ? a->source : "tmpfs", first,
			    b->source ? b->source : "tmpfs", second);
}

static void mount_drop(struct policy *p, size_t index)
{
	policy_mount_release(&p->mounts[index]);
	memmove(p->mounts + index, p->mounts + index + 1,
		(--p->mount_count - index) * sizeof(*p->mounts));
}

static int mount_compare(const void *a, const void *b)
{
	const struct policy_mount *x = a, *y = b;

	return strcmp(x->target, y->target);
}

/* One mount a target, parents before children: so the more specific one is on
 * top, in whatever order they were given. */
static int mounts_settle(struct policy *p, struct error *err)
{
	for (size_t i = 0; i < p->mount_count; i++) {
		for (size_t j = i + 1; j < p->mount_count; j++) {
			const struct policy_mount *a = &p->mounts[i];
			const struct policy_mount *b = &p->mounts[j];

			if (strcmp(a->target, b->target) != 0)
				continue;
			if (same_source(&a->origin, &b->origin))
				return mount_conflict(a, b, err);
			mount_drop(p, i--);
			break;
		}
	}
	if (p->mount_count)
		qsort(p->mounts, p->mount_count, sizeof(*p->mounts),
		      mount_compare);
	return 0;
}

/* -C is an option: it comes before a file's workdir, and after -w. */
static void workdir_of_project(struct policy *p)
{
	if (policy_origin(p, "workdir")->kind == ORIGIN_OPTION)
		return;
	for (size_t i = 0; i < p->mount_count; i++) {
		if (!p->mounts[i].project)
			continue;
		free(p->workdir);
		p->workdir = mem_strdup(p->mounts[i].target);
		policy_set_origin(p, field_find("workdir"),
				  &p->mounts[i].origin);
	}
}

int policy_finish(struct policy *p, struct error *err)
{
	int r = network_check(p, "network.allow", p->network.allow.count, err);

	if (r == 0)
		r = network_check(p, "network.route", p->network.route_count,
				  err);
	if (r == 0)
		r = mounts_settle(p, err);
	if (r < 0)
		return r;
	workdir_of_project(p);
	r = ceiling_apply(p, CEILING_FILE, err);
	/* After the ceiling, which adds to require and syscalls.deny. */
	if (r == 0)
		r = lists_check(p, "require", "best_effort", err);
	if (r == 0)
		r = lists_check(p, "syscalls.allow", "syscalls.deny", err);
	return r;
}
