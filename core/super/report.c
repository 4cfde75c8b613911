/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The report, field by field in the order that llmbox-report(5) promises. All
 * fields are always there: what is not known is null, what did not happen is
 * empty.
 */
#include "super/report.h"
#include "base/buf.h"
#include "base/json.h"
#include "sandbox/plan.h"
#include "super/caller.h"

static void report_signal(struct json_writer *w, int signal)
{
	json_key(w, "signal");
	if (signal)
		json_integer(w, signal);
	else
		json_null(w);
	json_key_string(w, "signal_name", signal ? signal_name(signal) : NULL);
}

static void report_limits_hit(struct json_writer *w, const struct strv *limits)
{
	json_key(w, "limits_hit");
	json_begin_array(w);
	for (size_t i = 0; i < limits->count; i++)
		json_string(w, limits->items[i]);
	json_end_array(w);
}

static void report_stream(struct json_writer *w, const char *key,
			  const struct result_stream *stream, bool capture)
{
	json_key(w, key);
	if (!stream->known) {
		json_null(w);
		return;
	}
	json_begin_object(w);
	json_key_integer(w, "bytes", (int64_t)stream->bytes);
	json_key_boolean(w, "cut", stream->cut);
	if (capture) {
		json_key_integer(w, "head", (int64_t)stream->head.len);
		json_key_integer(w, "dropped", (int64_t)stream->dropped);
	}
	json_end_object(w);
}

static void report_output(struct json_writer *w, const struct result *r,
			  bool capture)
{
	json_key(w, "output");
	json_begin_object(w);
	report_stream(w, "stdout", &r->out, capture);
	report_stream(w, "stderr", &r->err, capture);
	json_end_object(w);
}

static void report_changes_of(struct json_writer *w, const char *key,
			      const struct box_changes *c)
{
	json_key(w, key);
	if (!c->known) {
		json_null(w);
		return;
	}
	json_begin_object(w);
	json_key_integer(w, "added", (int64_t)c->added);
	json_key_integer(w, "changed", (int64_t)c->changed);
	json_key_integer(w, "removed", (int64_t)c->removed);
	json_key_boolean(w, "partial", c->partial);
	json_end_object(w);
}

static void report_changes(struct json_writer *w, const struct result *r)
{
	json_key(w, "changes");
	json_begin_object(w);
	report_changes_of(w, "project", &r->project);
	report_changes_of(w, "root", &r->root);
	json_end_object(w);
}

static void report_isolation(struct json_writer *w, const struct plan *plan)
{
	size_t count = plan ? plan->guarantee_count : 0;

	json_key(w, "isolation");
	json_begin_object(w);
	for (size_t i = 0; i < count; i++)
		json_key_string(w, plan->guarantees[i].name,
				plan->guarantees[i].means);
	json_end_object(w);
	json_key(w, "soft");
	json_begin_array(w);
	for (size_t i = 0; i < count; i++)
		if (plan->guarantees[i].soft)
			json_string(w, plan->guarantees[i].name);
	json_end_array(w);
}

/* No connection leaves a box before there is a relay for them. */
static void report_denied(struct json_writer *w)
{
	json_key(w, "denied");
	json_begin_object(w);
	json_key(w, "connections");
	json_begin_object(w);
	json_key_integer(w, "allowed", 0);
	json_key_integer(w, "denied", 0);
	json_end_object(w);
	json_end_object(w);
}

static void report_text(struct json_writer *w, const char *key,
			const struct result_stream *stream)
{
	auto_buf text = { 0 };

	buf_add(&text, stream->head.data, stream->head.len);
	buf_add(&text, stream->tail.data, stream->tail.len);
	json_bytes(w, key, text.data, text.len);
}

void report_write(const struct result *r, const struct plan *plan, bool capture,
		  struct json_writer *w)
{
	json_begin_object(w);
	json_key_string(w, "outcome", outcome_name(r->outcome));
	json_key_integer(w, "exit_code", r->exit_code);
	report_signal(w, r->signal);
	json_key_string(w, "message", r->message);
	report_limits_hit(w, &r->limits_hit);
	json_key_integer(w, "wall_ms", r->wall_ms);
	json_key_integer(w, "cpu_ms", r->cpu_ms);
	json_key_integer(w, "max_rss", r->max_rss);
	report_output(w, r, capture);
	report_changes(w, r);
	report_isolation(w, plan);
	report_denied(w);
	if (capture) {
		report_text(w, "stdout", &r->out);
		report_text(w, "stderr", &r->err);
	}
	json_end_object(w);
}
