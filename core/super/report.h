/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a run ended: filled by the supervisor (or by cmd/ where no box came to
 * be), turned into the report, the exit status and the one line for people.
 */
#ifndef LLMBOX_REPORT_H
#define LLMBOX_REPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "sandbox/box.h"

struct error;
struct json_writer;
struct plan;

enum outcome {
	OUTCOME_EXITED,
	OUTCOME_SIGNALED,
	OUTCOME_TIME,
	OUTCOME_CPU_TIME,
	OUTCOME_MEMORY,
	OUTCOME_PIDS,
	OUTCOME_DISK,
	OUTCOME_OUTPUT,
	OUTCOME_LIFETIME,
	OUTCOME_CANCELLED,
	OUTCOME_SETUP,  /* also: the command could not be executed */
	OUTCOME_POLICY, /* also: the command line */
};

/* One of the command's two outputs as the supervisor saw it. */
struct result_stream {
	bool known;            /* false: the descriptor was handed through */
	uint64_t bytes;        /* that the command wrote */
	bool cut;              /* a limit kept some of them back */
	struct buf head, tail; /* --json: the first and the last of them */
	uint64_t dropped;      /* between the two */
};

struct result {
	enum outcome outcome;
	int exit_code; /* llmbox's own: DESIGN's table, see llmbox(1) */
	int signal;    /* that ended the command, or 0 */
	char *message; /* the line for people, without "llmbox: "; or NULL */
	struct strv limits_hit; /* names: "time", "disk", ... */
	int64_t wall_ms, cpu_ms;
	int64_t max_rss;               /* bytes */
	struct result_stream out, err; /* with a pty all is out */
	struct box_changes project, root;
};

void result_release(struct result *r);
#define auto_result __attribute__((cleanup(result_release))) struct result

/* Outcome, exit code and message of an error that kept the command from running
 * at all. ERROR_EXEC: 126, or 127 for ENOENT; others 125. */
void result_from_error(struct result *r, const struct error *err);

const char *outcome_name(enum outcome outcome);

/*
 * The report as one object. plan may be NULL (nothing was decided yet). All
 * fields are always there, in this order; llmbox-report(5) promises them:
 *
 *   outcome      a name of enum outcome, in small letters
 *   exit_code    what llmbox exits with
 *   signal       number of the signal that ended the command, or null
 *   signal_name  "KILL", or null
 *   message      the line that llmbox prints for people, or null
 *   limits_hit   names of limits: "time", "lifetime", "cpu_time", "output",
 *                "disk" (which was full when the command failed)
 *   wall_ms      from the start of the command to its end
 *   cpu_ms       user and system time of the command and the children that it
 *                waited for; 0 where the box was killed before it could tell
 *   max_rss      bytes, of the largest of these processes; 0 likewise
 *   output       {"stdout": S, "stderr": S}; S is null where the bytes did not
 *                pass through llmbox or went together with stdout's (2>&1 into
 *                one file, a pty), else
 *                {"bytes": written by the command,
 *                 "cut": true where not all were delivered or kept}
 *                and with --json also
 *                {"head": bytes of text before the gap,
 *                 "dropped": bytes that the gap stands for, 0: there is none}
 *   changes      {"project": C, "root": C}; C is null where nothing counted,
 *                else {"added", "changed", "removed": files,
 *                "partial": true where these are only lower bounds}
 *   isolation    {guarantee: the means by which it is held}
 *   soft         names of those that can be got round
 *   denied       {"connections": {"allowed": n, "denied": n}}
 *
 * capture (--json) adds "stdout" and "stderr", or "stdout_b64" and
 * "stderr_b64" where they are not UTF-8.
 */
void report_write(const struct result *r, const struct plan *plan, bool capture,
		  struct json_writer *w);

#endif
