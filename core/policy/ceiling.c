/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ceiling: a file of the host's administrator in a policy's form, which a
 * policy can only tighten. What nobody asked for comes down to it silently;
 * what somebody asked for above it is an error that names both. A guard rail:
 * the user could run another program.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/mem.h"
#include "policy/field.h"

struct bound {
	struct policy *policy;
	const struct policy *ceiling;
	const struct field *field;
	const struct origin *origin; /* of the ceiling's value */
	struct error *err;
};

static int bound_error(const struct bound *b, const char *value,
		       const char *most)
{
	const struct origin *asked =
		policy_origin(b->policy, b->field->info.name);
	auto_free char *place = origin_format(b->origin);
	int r = origin_error(b->err, asked, "%s %s is above the ceiling of %s",
			     b->field->info.name, value, most);

	error_hint(b->err, "the ceiling is set in %s", place);
	return r;
}

static bool bound_is_asked(const struct bound *b)
{
	return policy_asked(b->policy, b->field->info.name);
}

/* The ceiling's own text outlives its policy: the name moves along. */
static void bound_take_origin(const struct bound *b)
{
	struct origin origin = *b->origin;

	strv_add(&b->policy->names, origin.name);
	origin.name = b->policy->names.items[b->policy->names.count - 1];
	policy_set_origin(b->policy, b->field, &origin);
}

static int bound_number(const struct bound *b)
{
	int64_t *value = field_at(b->policy, b->field);
	int64_t most = *(int64_t *)field_at(b->ceiling, b->field);

	if (*value != LIMIT_NONE && *value <= most)
		return 0;
	if (bound_is_asked(b)) {
		auto_free char *is = b->field->type->format(*value);
		auto_free char *at_most = b->field->type->format(most);

		return bound_error(b, is, at_most);
	}
	*value = most;
	bound_take_origin(b);
	return 0;
}

static int bound_choice(const struct bound *b)
{
	unsigned *value = field_at(b->policy, b->field);
	unsigned most = *(unsigned *)field_at(b->ceiling, b->field);
	const unsigned char *rank = b->field->rank;
	bool same = b->field->ceiling == CEILING_SAME;

	if (*value == most)
		return 0;
	if (!same && (rank ? rank[*value] < rank[most] : *value < most))
		return 0;
	if (bound_is_asked(b))
		return bound_error(b, b->field->choices[*value],
				   b->field->choices[most]);
	*value = most;
	bound_take_origin(b);
	return 0;
}

static int bound_string(const struct bound *b)
{
	char **value = field_at(b->policy, b->field);
	const char *only = *(char **)field_at(b->ceiling, b->field);

	if (*value && only ? strcmp(*value, only) == 0 : *value == only)
		return 0;
	if (bound_is_asked(b))
		return bound_error(b, *value ? *value : "host",
				   only ? only : "host");
	free(*value);
	*value = only ? mem_strdup(only) : NULL;
	bound_take_origin(b);
	return 0;
}

static int bound_list(const struct bound *b)
{
	struct strv *list = field_at(b->policy, b->field);
	const struct strv *most = field_at(b->ceiling, b->field);

	if (b->field->ceiling == CEILING_UNION) {
		for (size_t i = 0; i < most->count; i++)
			if (!strv_has(list, most->items[i]))
				strv_add(list, most->items[i]);
		if (most->count && !bound_is_asked(b))
			bound_take_origin(b);
		return 0;
	}
	for (size_t i = 0; i < list->count; i++)
		if (!strv_has(most, list->items[i]))
			return bound_error(b, list->items[i], "what it lists");
	return 0;
}

static int bound_apply(const struct bound *b)
{
	if (b->field->ceiling == CEILING_NONE)
		return origin_error(b->err, b->origin,
				    "a ceiling can't bound %s",
				    b->field->info.name);
	if (b->field->type->parse)
		return bound_number(b);
	if (b->field->choices)
		return bound_choice(b);
	return b->field->type == &type_list ? bound_list(b) : bound_string(b);
}

static int bounds_apply(struct policy *p, const struct policy *ceiling,
			struct error *err)
{
	for (size_t i = 0; i < field_count; i++) {
		struct bound b = {
			.policy = p,
			.ceiling = ceiling,
			.field = &fields[i],
			.origin = &ceiling->origins[i],
			.err = err,
		};
		int r = b.origin->kind == ORIGIN_DEFAULT ? 0 : bound_apply(&b);

		if (r < 0)
			return r;
	}
	return 0;
}

int ceiling_apply(struct policy *p, const char *file, struct error *err)
{
	struct stat st;

	if (stat(file, &st) < 0 && (errno == ENOENT || errno == ENOTDIR))
		return 0;
	auto_policy ceiling;
	struct error_list errors = { 0 };

	policy_init(&ceiling);
	int r = policy_load_file(&ceiling, file, &errors);

	if (r < 0)
		*err = errors.items[0];
	else
		r = bounds_apply(p, &ceiling, err);
	error_list_release(&errors);
	return r;
}
