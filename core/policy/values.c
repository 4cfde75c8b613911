/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The simple types of fields: numbers with and without units, choices, strings
 * and lists of strings. A value is read by one parser, whether it comes from a
 * file or from an option; only a file has JSON's types around it.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/units.h"
#include "policy/field.h"

/* ---- numbers ---- */

static int range_check(const struct field *f, const char *text, int64_t value,
		       struct error *err)
{
	if (value >= f->min && value <= f->max)
		return 0;
	if (value == 0) {
		error_set(err, ERROR_USAGE, 0,
			  "0 is no limit that can be held");
		return error_hint(err, "to have no limit, leave it out");
	}
	bool small = value < f->min;
	auto_free char *bound = f->type->format(small ? f->min : f->max);

	return error_set(err, ERROR_USAGE, 0, "%s is too %s: at %s %s", text,
			 small ? "small" : "large", small ? "least" : "most",
			 bound);
}

static int count_parse(const char *text, int64_t *ret, struct error *err)
{
	return units_parse_count(text, 0, INT64_MAX, ret, err);
}

static char *count_format(int64_t value)
{
	return mem_printf("%" PRId64, value);
}

static int number_set(struct policy *p, const struct field *f,
		      const struct source *s __attribute__((unused)),
		      const char *text, struct error *err)
{
	int64_t value;
	int r = f->type->parse(text, &value, err);

	if (r == 0)
		r = range_check(f, text, value, err);
	if (r == 0)
		*(int64_t *)field_at(p, f) = value;
	return r;
}

static const char *number_what(const struct field *f)
{
	if (f->type == &type_size)
		return "a size, as \"512m\" or a whole number of bytes";
	if (f->type == &type_time)
		return "a time, as \"5m\" or a number of seconds";
	if (f->type == &type_count)
		return "a whole number";
	return "a number";
}

/* Is the form that JSON gave the number the field's? Its value is not looked at
 * yet. */
static bool number_form_check(struct loader *l, const struct field *f,
			      const struct json *v)
{
	const char *name = f->info.name;
	bool fractions = f->type == &type_time || f->type == &type_number;

	if (v->type == JSON_STRING && f->type != &type_count)
		return true;
	if (v->type != JSON_INTEGER && v->type != JSON_NUMBER) {
		load_type_error(l, v, name, number_what(f));
		return false;
	}
	if (v->string[0] == '-') {
		load_fail(l, v, name, "%s is negative", v->string);
		return false;
	}
	if (strpbrk(v->string, "eE") ||
	    (!fractions && strchr(v->string, '.'))) {
		load_fail(l, v, name, "%.40s is not written as a %s", v->string,
			  fractions ? "plain number" : "whole number");
		if (fractions)
			load_hint(l, "write it without an exponent");
		else
			load_hint(l, "write it without '.' and exponent%s",
				  f->type == &type_size ? ", or as \"512m\""
							: "");
		return false;
	}
	return true;
}

static void number_load(struct loader *l, const struct field *f,
			const struct json *v)
{
	struct error err;

	if (!number_form_check(l, f, v))
		return;
	if (number_set(l->policy, f, &l->source, v->string, &err) < 0)
		load_error(l, v, f->info.name, &err);
}

static void number_write(const struct policy *p, const struct field *f,
			 struct json_writer *w)
{
	int64_t value = *(int64_t *)field_at(p, f);

	if (value == LIMIT_NONE) {
		json_null(w);
	} else if (f->type == &type_count) {
		json_integer(w, value);
	} else if (f->type == &type_number) {
		json_number(w, (double)value / 1000);
	} else {
		auto_free char *text = f->type->format(value);

		json_string(w, text);
	}
}

static void either_schema(struct json_writer *w, const char *first,
			  const char *second)
{
	json_key(w, "type");
	json_begin_array(w);
	json_string(w, first);
	json_string(w, second);
	json_end_array(w);
}

void size_schema(struct json_writer *w, int64_t min, int64_t max)
{
	either_schema(w, "string", "integer");
	json_key_string(w, "pattern",
			"^[0-9]+(\\.[0-9]+)?([kKmMgGtT]([iI]?[bB])?|[bB])?$");
	json_key_integer(w, "minimum", min);
	json_key_integer(w, "maximum", max);
}

static void size_field_schema(const struct field *f, struct json_writer *w)
{
	size_schema(w, f->min, f->max);
}

static void time_schema(const struct field *f __attribute__((unused)),
			struct json_writer *w)
{
	either_schema(w, "string", "number");
	json_key_string(w, "pattern", "^[0-9]+(\\.[0-9]+)?(ms|s|m|h|d)?$");
	json_key_integer(w, "exclusiveMinimum", 0);
}

static void count_schema(const struct field *f, struct json_writer *w)
{
	json_key_string(w, "type", "integer");
	json_key_integer(w, "minimum", f->min);
	json_key_integer(w, "maximum", f->max);
}

static void number_schema(const struct field *f __attribute__((unused)),
			  struct json_writer *w)
{
	either_schema(w, "string", "number");
	json_key_string(w, "pattern", "^[0-9]+(\\.[0-9]+)?$");
	json_key_integer(w, "exclusiveMinimum", 0);
}

const struct field_type type_size = {
	.name = "size",
	.load = number_load,
	.set = number_set,
	.write = number_write,
	.schema = size_field_schema,
	.parse = units_parse_size,
	.format = units_format_size,
};

const struct field_type type_time = {
	.name = "time",
	.load = number_load,
	.set = number_set,
	.write = number_write,
	.schema = time_schema,
	.parse = units_parse_time,
	.format = units_format_time,
};

const struct field_type type_count = {
	.name = "count",
	.load = number_load,
	.set = number_set,
	.write = number_write,
	.schema = count_schema,
	.parse = count_parse,
	.format = count_format,
};

const struct field_type type_number = {
	.name = "number",
	.load = number_load,
	.set = number_set,
	.write = number_write,
	.schema = number_schema,
	.parse = units_parse_milli,
	.format = units_format_milli,
};

/* ---- choices ---- */

int choice_parse(const char *const *choices, const char *text,
		 struct error *err)
{
	auto_buf all = { 0 };

	for (int i = 0; choices[i]; i++) {
		if (strcmp(choices[i], text) == 0)
			return i;
		buf_addf(&all, "%s%s",
			 !i               ? ""
			 : choices[i + 1] ? ", "
					  : " or ",
			 choices[i]);
	}
	const char *near = nearest_name(text, choices);

	error_set(err, ERROR_USAGE, 0, "'%.60s' is not %s", text, all.data);
	if (near)
		error_hint(err, "did you mean '%s'?", near);
	return -1;
}

static int choice_set(struct policy *p, const struct field *f,
		      const struct source *s __attribute__((unused)),
		      const char *text, struct error *err)
{
	int i = choice_parse(f->choices, text, err);

	if (i < 0)
		return -EINVAL;
	*(unsigned *)field_at(p, f) = (unsigned)i;
	return 0;
}

static void choice_load(struct loader *l, const struct field *f,
			const struct json *v)
{
	struct error err;

	if (v->type != JSON_STRING) {
		load_type_error(l, v, f->info.name, "a string");
		return;
	}
	int i = choice_parse(f->choices, v->string, &err);

	if (i < 0)
		load_error(l, v, f->info.name, &err);
	else
		*(unsigned *)field_at(l->policy, f) = (unsigned)i;
}

static void choice_write(const struct policy *p, const struct field *f,
			 struct json_writer *w)
{
	json_string(w, f->choices[*(unsigned *)field_at(p, f)]);
}

static void choice_schema(const struct field *f, struct json_writer *w)
{
	json_key(w, "enum");
	json_begin_array(w);
	for (size_t i = 0; f->choices[i]; i++)
		json_string(w, f->choices[i]);
	json_end_array(w);
}

const struct field_type type_choice = {
	.name = "choice",
	.load = choice_load,
	.set = choice_set,
	.write = choice_write,
	.schema = choice_schema,
};

/* ---- strings ---- */

static int string_set(struct policy *p, const struct field *f,
		      const struct source *s, const char *text,
		      struct error *err)
{
	char **at = field_at(p, f), *value;
	int r = f->clean(s, text, &value, err);

	if (r < 0)
		return r;
	free(*at);
	*at = value;
	return 0;
}

static void string_load(struct loader *l, const struct field *f,
			const struct json *v)
{
	struct error err;
	bool number = f->type == &type_user && v->type == JSON_INTEGER;

	if (v->type != JSON_STRING && !number)
		load_type_error(l, v, f->info.name,
				f->type == &type_user ? "a string or an id"
						      : "a string");
	else if (string_set(l->policy, f, &l->source, v->string, &err) < 0)
		load_error(l, v, f->info.name, &err);
}

static void string_write(const struct policy *p, const struct field *f,
			 struct json_writer *w)
{
	const char *value = *(char **)field_at(p, f);

	if (value)
		json_string(w, value);
	else if (f->clean == clean_image)
		json_string(w, "host");
	else
		json_null(w);
}

static void string_schema(const struct field *f, struct json_writer *w)
{
	if (f->type == &type_user)
		either_schema(w, "string", "integer");
	else
		json_key_string(w, "type", "string");
}

const struct field_type type_string = {
	.name = "string",
	.load = string_load,
	.set = string_set,
	.write = string_write,
	.schema = string_schema,
};

const struct field_type type_user = {
	.name = "user",
	.load = string_load,
	.set = string_set,
	.write = string_write,
	.schema = string_schema,
};

/* ---- lists ---- */

static int list_set(struct policy *p, const struct field *f,
		    const struct source *s, const char *text, struct error *err)
{
	struct strv *list = field_at(p, f);
	char *value;
	int r = f->clean(s, text, &value, err);

	if (r < 0)
		return r;
	if (strv_has(list, value))
		free(value);
	else
		strv_add_take(list, value);
	return 0;
}

static void list_load(struct loader *l, const struct field *f,
		      const struct json *v)
{
	if (v->type != JSON_ARRAY) {
		load_type_error(l, v, f->info.name, "an array of strings");
		return;
	}
	for (size_t i = 0; i < v->count; i++) {
		const struct json *item = v->items[i];
		auto_free char *name = mem_printf("%s[%zu]", f->info.name, i);
		struct error err;

		if (item->type != JSON_STRING)
			load_type_error(l, item, name, "a string");
		else if (list_set(l->policy, f, &l->source, item->string,
				  &err) < 0)
			load_error(l, item, name, &err);
	}
}

static void list_write(const struct policy *p, const struct field *f,
		       struct json_writer *w)
{
	const struct strv *list = field_at(p, f);

	json_begin_array(w);
	for (size_t i = 0; i < list->count; i++)
		json_string(w, list->items[i]);
	json_end_array(w);
}

static void list_schema(const struct field *f __attribute__((unused)),
			struct json_writer *w)
{
	json_key_string(w, "type", "array");
	json_key(w, "items");
	json_begin_object(w);
	json_key_string(w, "type", "string");
	json_end_object(w);
}

const struct field_type type_list = {
	.name = "list",
	.load = list_load,
	.set = list_set,
	.write = list_write,
	.schema = list_schema,
};
