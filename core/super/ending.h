/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a run ended, in the supervisor's terms, and what users are told of it:
 * outcome, exit status, the line that names the limit and its option.
 */
#ifndef LLMBOX_ENDING_H
#define LLMBOX_ENDING_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>

struct plan;
struct result;

/* Why llmbox ended the box. */
enum cause {
	CAUSE_NONE, /* it did not: the command ended */
	CAUSE_TIME,
	CAUSE_LIFETIME,
	CAUSE_OUTPUT,
	CAUSE_SIGNAL,
	CAUSE_CALLER,
	CAUSE_TERMINAL, /* hung up */
};

struct ending {
	enum cause cause;
	int cancel;  /* the first signal that asked for the end, or 0 */
	bool killed; /* SIGKILL was sent */
	bool exited; /* status, usage and disk_full are known */
	int status;  /* as of waitpid(2) */
	struct rusage usage;
	bool disk_full;
	bool gave_up;    /* the output's reader did not take it */
	int write_error; /* errno of what kept output from being written */
	int64_t started_at, ended_at; /* of the command, by loop_now; or 0 */
};

/* Fills all but the streams and the changes. */
void ending_result(const struct ending *e, const struct plan *plan,
		   struct result *ret);

#endif
