/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Options that say what a box may do. Nearly all of them are the text of one
 * policy field, read by the field's own parser; the rest is here. An env file
 * is the caller's, but its size is bounded all the same.
 */
#include "cmd/box_options.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/fd.h"
#include "base/mem.h"
#include "cmd/parse.h"
#include "policy/policy.h"

enum { ENV_FILE_MAX = 4 << 20 };

int box_option_project(struct policy *p, const struct option_use *use,
		       struct error *err)
{
	return policy_add_project(p, use->spelled, use->value, err);
}

int box_option_volume(struct policy *p, const struct option_use *use,
		      struct error *err)
{
	return policy_add_volume(p, use->spelled, use->value, err);
}

int box_option_tmpfs(struct policy *p, const struct option_use *use,
		     struct error *err)
{
	return policy_add_tmpfs(p, use->spelled, use->value, err);
}

int box_option_read_only(struct policy *p, const struct option_use *use,
			 struct error *err)
{
	return policy_set(p, "rootfs.writes", use->spelled, "none", err);
}

/* NAME=VALUE, or NAME for the caller's value; unset there, it stays unset. */
static int set_env(struct policy *p, const char *option, const char *text,
		   struct error *err)
{
	auto_free char *pair = NULL;

	if (*text && !strchr(text, '=')) {
		const char *value = getenv(text);

		if (!value)
			return 0;
		pair = mem_printf("%s=%s", text, value);
	}
	return policy_set(p, "env", option, pair ? pair : text, err);
}

int box_option_env(struct policy *p, const struct option_use *use,
		   struct error *err)
{
	return set_env(p, use->spelled, use->value, err);
}

/* A line of an env file, as docker reads it: no quoting, '#' only at the start
 * of a line. */
static int set_env_line(struct policy *p, const struct option_use *use,
			char *line, size_t len, struct error *err)
{
	if (len && line[len - 1] == '\r')
		line[--len] = '\0';
	if (strlen(line) != len)
		return error_set(err, ERROR_USAGE, 0, "a NUL byte");
	line += strspn(line, " \t");
	if (*line == '\0' || *line == '#')
		return 0;
	return set_env(p, use->spelled, line, err);
}

int box_option_env_file(struct policy *p, const struct option_use *use,
			struct error *err)
{
	auto_buf text = { 0 };
	int r = file_read(AT_FDCWD, use->value, ENV_FILE_MAX, &text);
	unsigned number = 0;

	if (r < 0)
		return error_set(err, ERROR_USAGE, -r, "read %s (%s)",
				 use->value, use->spelled);
	for (size_t start = 0; start < text.len;) {
		char *line = text.data + start;
		char *end = memchr(line, '\n', text.len - start);
		size_t len = end ? (size_t)(end - line) : text.len - start;

		line[len] = '\0';
		number++;
		start += len + 1;
		r = set_env_line(p, use, line, len, err);
		if (r < 0) {
			error_at(err, use->value, number, 0);
			return r;
		}
	}
	return 0;
}

static bool set_by_option(const struct policy *p, const char *field)
{
	return policy_origin(p, field)->kind == ORIGIN_OPTION;
}

int box_option_allow(struct policy *p, const struct option_use *use,
		     struct error *err)
{
	int r = policy_set(p, "network.allow", use->spelled, use->value, err);

	if (r < 0 || set_by_option(p, "network.mode"))
		return r;
	return policy_set(p, "network.mode", use->spelled, "allowlist", err);
}

static int load_files(const struct arguments *args, struct policy *p,
		      struct error *err)
{
	auto_strv files = { 0 };
	struct error_list errors = { 0 };

	for (size_t i = 0; i < args->option_count; i++)
		if (args->options[i].info->id == OPTION_POLICY_FILE)
			strv_add(&files, args->options[i].value);
	int r = policy_load(p, &files, &errors);

	if (r < 0 && errors.count) {
		*err = errors.items[0];
		size_t more = errors.count - 1 + errors.dropped;

		if (more && !err->hint[0])
			error_hint(err, "%zu more; llmbox policy check FILE",
				   more);
	} else if (r < 0) {
		error_set(err, ERROR_POLICY, -r, "load the policy");
	}
	error_list_release(&errors);
	return r;
}

static int apply_options(const struct arguments *args, struct policy *p,
			 struct error *err)
{
	for (size_t i = 0; i < args->option_count; i++) {
		const struct option_use *use = &args->options[i];
		const struct option_info *o = use->info;
		int r = 0;

		if (o->apply)
			r = o->apply(p, use, err);
		else if (o->field)
			r = policy_set(p, o->field, use->spelled, use->value,
				       err);
		if (r < 0)
			return r;
	}
	return 0;
}

/* "--allow X --network none" in either order: one of them is a mistake. */
static int check_allow(const struct policy *p, struct error *err)
{
	if (!set_by_option(p, "network.allow") ||
	    p->network.mode == NETWORK_ALLOWLIST)
		return 0;
	return error_set(err, ERROR_USAGE, 0,
			 "--allow means --network allowlist, not %s",
			 network_mode_name(p->network.mode));
}

int box_options_policy(const struct arguments *args, struct policy *p,
		       struct error *err)
{
	int r = load_files(args, p, err);
	if (r == 0)
		r = apply_options(args, p, err);
	if (r == 0)
		r = check_allow(p, err);
	if (r == 0)
		r = policy_finish(p, err);
	return r;
}
