/* SPDX-License-Identifier: Apache-2.0 */
/*
 * getopt_long(3) shortens names, permutes and prints, and its messages know of
 * no near miss; this parser works on the table itself.
 */
#include "cmd/parse.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"

struct parser {
	unsigned groups;
	char **next; /* the argument after the one in work */
	struct arguments *out;
	struct error *err; /* the first one is kept */
	int result;
};

static const struct option_info *find_long(unsigned groups, const char *name,
					   size_t len)
{
	const struct option_info *o;

	for (size_t i = 0; (o = option_table(i)); i++)
		if ((o->groups & groups) && strlen(o->name) == len &&
		    memcmp(o->name, name, len) == 0)
			return o;
	return NULL;
}

static const struct option_info *find_short(unsigned groups, char letter)
{
	const struct option_info *o;

	for (size_t i = 0; (o = option_table(i)); i++)
		if ((o->groups & groups) && o->letter == letter)
			return o;
	return NULL;
}

static void add_use(struct parser *p, const struct option_info *info,
		    bool is_long, const char *value)
{
	struct arguments *a = p->out;

	a->options = mem_resize(a->options, a->option_count + 1,
				sizeof(*a->options));
	struct option_use *use = &a->options[a->option_count++];

	*use = (struct option_use){ .info = info, .value = value };
	if (is_long)
		snprintf(use->spelled, sizeof(use->spelled), "--%s",
			 info->name);
	else
		snprintf(use->spelled, sizeof(use->spelled), "-%c",
			 info->letter);
	if (info->id == OPTION_HELP)
		a->help = true;
}

static struct error *first_error(struct parser *p)
{
	return p->result < 0 ? NULL : p->err;
}

static void unknown_long(struct parser *p, const char *name, size_t len)
{
	auto_strv names = { 0 };
	auto_free char *wrong = mem_strndup(name, len);
	const struct option_info *o;

	for (size_t i = 0; (o = option_table(i)); i++)
		if (o->groups & p->groups)
			strv_add(&names, o->name);
	const char *near =
		nearest_name(wrong, (const char *const *)names.items);

	if (near)
		p->result = error_set(first_error(p), ERROR_USAGE, 0,
				      "unknown option '--%s'; did you mean "
				      "'--%s'?",
				      wrong, near);
	else
		p->result = error_set(first_error(p), ERROR_USAGE, 0,
				      "unknown option '--%s'", wrong);
}

static void needs_value(struct parser *p, const char *option,
			const struct option_info *o)
{
	p->result = error_set(first_error(p), ERROR_USAGE, 0,
			      "option '%s' needs a value: %s", option, o->arg);
}

/* arg: "--name" or "--name=value". */
static void parse_long(struct parser *p, const char *arg)
{
	const char *name = arg + 2, *equals = strchr(name, '=');
	size_t len = equals ? (size_t)(equals - name) : strlen(name);
	const struct option_info *o = find_long(p->groups, name, len);

	if (!o)
		unknown_long(p, name, len);
	else if (!o->arg && equals)
		p->result = error_set(first_error(p), ERROR_USAGE, 0,
				      "option '--%s' takes no value", o->name);
	else if (!o->arg)
		add_use(p, o, true, NULL);
	else if (equals)
		add_use(p, o, true, equals + 1);
	else if (*p->next)
		add_use(p, o, true, *p->next++);
	else
		needs_value(p, arg, o);
}

/* The value of a letter: the rest of its argument, or the next one. */
static void parse_short_value(struct parser *p, const struct option_info *o,
			      const char *rest)
{
	char option[] = { '-', o->letter, '\0' };

	if (*rest)
		add_use(p, o, false, rest + (*rest == '='));
	else if (*p->next)
		add_use(p, o, false, *p->next++);
	else
		needs_value(p, option, o);
}

/* arg: "-abc", also with a value at its end. */
static void parse_short(struct parser *p, const char *arg)
{
	for (const char *c = arg + 1; *c; c++) {
		const struct option_info *o = find_short(p->groups, *c);

		/* docker's -h NAME and everybody's -h: with nothing behind it,
		 * it can only be a question. */
		if (*c == 'h' && (!o || (!c[1] && !*p->next))) {
			p->out->help = true;
			continue;
		}
		if (!o) {
			p->result =
				error_set(first_error(p), ERROR_USAGE, 0,
					  "unknown option '-%c'%s%s%s", *c,
					  arg[2] ? " in '" : "",
					  arg[2] ? arg : "", arg[2] ? "'" : "");
			return;
		}
		if (o->arg) {
			parse_short_value(p, o, c + 1);
			return;
		}
		add_use(p, o, false, NULL);
	}
}

int arguments_parse(unsigned groups, char **argv, struct arguments *ret,
		    struct error *err)
{
	struct parser p = {
		.groups = groups | GROUP_ALL,
		.next = argv,
		.out = ret,
		.err = err,
	};

	*ret = (struct arguments){ 0 };
	while (*p.next && !(ret->help && p.result == 0)) {
		const char *arg = *p.next;

		if (arg[0] != '-' || arg[1] == '\0')
			break;
		p.next++;
		if (strcmp(arg, "--") == 0)
			break;
		if (arg[1] == '-')
			parse_long(&p, arg);
		else
			parse_short(&p, arg);
	}
	ret->operands = p.next;
	while (p.next[ret->operand_count])
		ret->operand_count++;
	return p.result;
}

void arguments_release(struct arguments *a)
{
	free(a->options);
	*a = (struct arguments){ 0 };
}

const struct option_use *arguments_last(const struct arguments *a,
					enum option_id id)
{
	for (size_t i = a->option_count; i > 0; i--)
		if (a->options[i - 1].info->id == id)
			return &a->options[i - 1];
	return NULL;
}

bool arguments_has(const struct arguments *a, enum option_id id)
{
	return arguments_last(a, id);
}
