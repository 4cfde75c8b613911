/* SPDX-License-Identifier: Apache-2.0 */
/*
 * doctor: what this host offers, as a table for people or as JSON. Everything
 * is tried by core (probe.h); here is only how it is told, and the exit status:
 * 0 where the built-in policy can be held.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/json.h"
#include "base/mem.h"
#include "cmd/output.h"
#include "cmd/parse.h"
#include "cmd/verb.h"
#include "doctor/probe.h"
#include "rootfs/image.h"
#include "rootfs/tree.h"

enum { STATE_WIDTH = 9, TITLE_WIDTH = 20 };

struct checks {
	struct probe_result results[PROBES_MAX];
	size_t count;
	bool ok;
};

/* The file that an AppArmor profile has to name. */
static char *own_binary(void)
{
	char path[4096];
	ssize_t len = readlink("/proc/self/exe", path, sizeof(path) - 1);

	return len > 0 ? mem_strndup(path, (size_t)len)
		       : mem_strdup("/usr/local/bin/llmbox");
}

/* The nearest directory that there is: what is below it would be made there. */
static char *nearest_existing(const char *path)
{
	char *at = mem_strdup(path), *slash;

	while (access(at, F_OK) < 0 && (slash = strrchr(at, '/')) &&
	       slash != at)
		*slash = '\0';
	return at;
}

/* Where the store is or would be, for what depends on its file system. */
static char *make_place(const char *store)
{
	auto_free char *parent = store ? nearest_existing(store) : NULL;

	if (!parent)
		return NULL;
	auto_free char *place = mem_printf("%s/.llmbox-doctor.XXXXXX", parent);

	return mkdtemp(place) ? mem_take(place) : NULL;
}

static void run_checks(struct checks *c)
{
	auto_free char *store = store_path();
	auto_free char *binary = own_binary();
	sigset_t held, before;

	/* An interrupt waits until what was made is taken away. */
	sigemptyset(&held);
	sigaddset(&held, SIGINT);
	sigaddset(&held, SIGTERM);
	sigaddset(&held, SIGHUP);
	sigaddset(&held, SIGQUIT);
	sigprocmask(SIG_BLOCK, &held, &before);
	auto_free char *place = make_place(store);
	struct probe_input in = { .store = store,
				  .place = place,
				  .binary = binary };

	c->count = probe_all(&in, c->results, &c->ok);
	if (place)
		(void)tree_remove_owned(AT_FDCWD, place, NULL);
	sigprocmask(SIG_SETMASK, &before, NULL);
}

/* ---- for programs ---- */

static void write_check(const struct probe *p, const struct probe_result *r,
			struct json_writer *w)
{
	json_begin_object(w);
	json_key_string(w, "name", p->name);
	json_key_string(w, "state", probe_state_name(r->state));
	json_key_boolean(w, "needed", p->needed);
	json_key_string(w, "detail", r->detail);
	json_key_string(w, "effect", r->state == PROBE_YES ? NULL : p->effect);
	json_key_string(w, "cure", r->cure[0] ? r->cure : NULL);
	json_end_object(w);
}

static int print_json(const struct checks *c)
{
	auto_json_writer *w = json_writer_new(true);

	json_begin_object(w);
	json_key_boolean(w, "ok", c->ok);
	json_key(w, "checks");
	json_begin_array(w);
	for (size_t i = 0; i < c->count; i++)
		if (c->results[i].state != PROBE_OMITTED)
			write_check(probe_table(i), &c->results[i], w);
	json_end_array(w);
	json_end_object(w);
	return output_json(w);
}

/* ---- for people ---- */

static void add_indented(struct buf *out, const char *text)
{
	while (*text) {
		size_t len = strcspn(text, "\n");

		buf_addf(out, "%*s", len ? STATE_WIDTH : 0, "");
		buf_add_escaped(out, text, len);
		buf_adds(out, "\n");
		text += len + (text[len] == '\n');
	}
}

static void add_check(struct buf *out, const struct probe *p,
		      const struct probe_result *r)
{
	buf_addf(out, "%-*s%-*s ", STATE_WIDTH, probe_state_name(r->state),
		 TITLE_WIDTH, p->title);
	buf_add_escaped(out, r->detail, strlen(r->detail));
	buf_adds(out, "\n");
	if (r->state != PROBE_NO && r->state != PROBE_SOFT)
		return;
	buf_addf(out, "%*seffect: %s\n", STATE_WIDTH, "", p->effect);
	add_indented(out, r->cure);
}

static void add_verdict(struct buf *out, const struct checks *c)
{
	size_t named = 0;

	if (c->ok) {
		buf_adds(out, "this host can run llmbox's default policy\n");
		return;
	}
	buf_adds(out, "this host can't run llmbox's default policy: ");
	for (size_t i = 0; i < c->count; i++)
		if (probe_table(i)->needed && c->results[i].state == PROBE_NO)
			buf_addf(out, "%s%s", named++ ? ", " : "",
				 probe_table(i)->title);
	buf_adds(out, "\n");
}

static int print_table(const struct checks *c, bool quiet)
{
	auto_buf out = { 0 };

	for (size_t i = 0; i < c->count; i++) {
		enum probe_state state = c->results[i].state;

		if (state != PROBE_OMITTED && !(quiet && state == PROBE_YES))
			add_check(&out, probe_table(i), &c->results[i]);
	}
	add_verdict(&out, c);
	return output_text(out.data, out.len);
}

int verb_doctor(const struct verb *verb, const struct arguments *args,
		struct error *err)
{
	struct checks checks = { .ok = false };

	(void)verb;
	(void)err;
	run_checks(&checks);
	int status = arguments_has(args, OPTION_JSON)
			     ? print_json(&checks)
			     : print_table(&checks,
					   arguments_has(args, OPTION_QUIET));

	if (status != STATUS_OK)
		return status;
	return checks.ok ? STATUS_OK : STATUS_CHECK_FAILED;
}
