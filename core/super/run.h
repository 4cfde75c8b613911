/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The supervisor of one run: makes the box, relays what must not be handed
 * through, watches the limits that are its own (time, output), the caller and
 * its signals, and says how it ended.
 */
#ifndef LLMBOX_RUN_H
#define LLMBOX_RUN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct error;
struct plan;
struct result;

enum run_tty { RUN_TTY_AUTO, RUN_TTY_ALWAYS, RUN_TTY_NEVER };

struct run_options {
	enum run_tty tty;
	pid_t caller;        /* whose end is the box's; as caller_watch */
	bool capture;        /* --json: keep head and tail of both outputs */
	int64_t capture_max; /* bytes of each, half head, half tail */
};

enum {
	RUN_GRACE_MS = 2000, /* from TERM to KILL, for limits and cancels */
	RUN_CAPTURE_MAX = 10 << 20,
};

/*
 * Runs the plan's command in a new box, to its end. plan->command.pty and size
 * are decided here, from options->tty and the caller's descriptors. Blocks
 * signals in the calling process and leaves them so. Always fills *ret; the
 * return value is 0, or -errno where no command ran (the error is then in *ret
 * already, and in *err).
 */
int run_box(struct plan *plan, const struct run_options *options,
	    struct result *ret, struct error *err);

#endif
