/* SPDX-License-Identifier: Apache-2.0 */
/* How runs end: their outcomes' names, and what an error makes of one. */
#include "super/report.h"

#include <errno.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/mem.h"

const char *outcome_name(enum outcome outcome)
{
	static const char *const names[] = {
		[OUTCOME_EXITED] = "exited",
		[OUTCOME_SIGNALED] = "signaled",
		[OUTCOME_TIME] = "time",
		[OUTCOME_CPU_TIME] = "cpu_time",
		[OUTCOME_MEMORY] = "memory",
		[OUTCOME_PIDS] = "pids",
		[OUTCOME_DISK] = "disk",
		[OUTCOME_OUTPUT] = "output",
		[OUTCOME_LIFETIME] = "lifetime",
		[OUTCOME_CANCELLED] = "cancelled",
		[OUTCOME_SETUP] = "setup",
		[OUTCOME_POLICY] = "policy",
	};

	return names[outcome];
}

static void result_stream_release(struct result_stream *stream)
{
	buf_release(&stream->head);
	buf_release(&stream->tail);
}

void result_release(struct result *r)
{
	free(r->message);
	strv_release(&r->limits_hit);
	result_stream_release(&r->out);
	result_stream_release(&r->err);
	*r = (struct result){ 0 };
}

static enum outcome outcome_of_error(enum error_kind kind)
{
	switch (kind) {
	case ERROR_USAGE:
	case ERROR_POLICY:
	case ERROR_LIMIT: /* more is asked than this host can hold */
		return OUTCOME_POLICY;
	default:
		return OUTCOME_SETUP;
	}
}

void result_from_error(struct result *r, const struct error *err)
{
	auto_buf text = { 0 };

	error_format(err, &text);
	free(r->message);
	r->message = buf_take(&text);
	r->outcome = outcome_of_error(err->kind);
	r->signal = 0;
	if (err->kind == ERROR_EXEC)
		r->exit_code = err->code == ENOENT ? 127 : 126;
	else
		r->exit_code = 125;
}
