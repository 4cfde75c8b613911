/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One run from its start to its end. In order: descriptors are looked at,
 * signals are collected, the parent is watched, the box is made; then the loop
 * until the command has ended and what it wrote is delivered; then descriptors
 * and terminal are put back as they were.
 *
 * A box that is to end gets a signal first (TERM, or the caller's own), after
 * RUN_GRACE_MS all of its processes are killed by init, which can still tell
 * what they used; and if init does not answer in RUN_ANSWER_MS, it is killed
 * itself, and the kernel ends all. Nothing waits for a reader of the output
 * before that. The first cause to end a box stays the outcome, whatever the
 * command does about it.
 *
 * Init's end is acted on where its socket is at its end, never by its pidfd:
 * its last messages may still be unread then.
 */
#include "super/run.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/error.h"
#include "base/fd.h"
#include "base/mem.h"
#include "sandbox/box.h"
#include "sandbox/plan.h"
#include "super/caller.h"
#include "super/ending.h"
#include "super/loop.h"
#include "super/report.h"
#include "super/stdio.h"
#include "super/terminal.h"

enum {
	RUN_ANSWER_MS = 1000,
	/* timeout(1) signals its child and then the child's group: the second
	 * of two within this time is no second request. */
	RUN_REPEAT_MS = 100,
	/* How long a reader may take nothing, once llmbox ended the box. */
	RUN_STALL_MS = 200,
	RUN_RESUME_MS = 250,
};

enum phase {
	PHASE_SETUP,   /* until BOX_STARTED */
	PHASE_RUNNING, /* until BOX_EXITED, or the box is gone */
	PHASE_DRAINING,
	PHASE_DONE,
};

struct run {
	struct plan *plan;
	const struct run_options *options;
	struct loop loop;
	struct box box;
	struct stdio stdio;
	struct terminal terminal;

	enum phase phase;
	struct ending ending;
	int64_t cancelled_at; /* by loop_now */
	bool eof_told;        /* to the pty */

	struct loop_source signals, caller, socket;
	struct loop_timer lifetime, time, kill, drain, resume;
	struct result *result;
	struct error err;
	int failed; /* -errno: no command ran */
};

/* ---- ending a box ---- */

static void run_kill_box(struct run *r)
{
	r->ending.killed = true;
	r->kill.at = LOOP_NEVER;
	box_kill(&r->box);
}

static void run_kill_processes(struct run *r)
{
	r->ending.killed = true;
	r->kill.at = loop_now() + RUN_ANSWER_MS;
	box_signal(&r->box, SIGKILL);
}

static void run_kill_due(void *data)
{
	struct run *r = data;

	if (r->ending.killed)
		run_kill_box(r);
	else
		run_kill_processes(r);
}

/* Readers that take nothing are not waited for from now on. */
static void run_hurry(struct run *r)
{
	if (r->phase == PHASE_DRAINING && r->drain.at == LOOP_NEVER)
		r->drain.at = loop_now();
}

/* The first cause stays the outcome. False: the box has ended by itself. */
static bool run_blame(struct run *r, enum cause cause)
{
	run_hurry(r);
	if (r->phase > PHASE_RUNNING)
		return false;
	if (r->ending.cause == CAUSE_NONE)
		r->ending.cause = cause;
	return true;
}

static void run_end(struct run *r, enum cause cause, int signal)
{
	if (!run_blame(r, cause) || r->ending.killed)
		return;
	/* A second cause: no more grace. */
	if (r->phase == PHASE_SETUP || r->ending.cause != cause) {
		run_kill_box(r);
		return;
	}
	box_signal(&r->box, signal);
	/* Interactive shells ignore TERM; a hang-up ends them, as it does when
	 * a terminal is closed. */
	if (r->stdio.pty && signal == SIGTERM)
		box_signal(&r->box, SIGHUP);
	/* What is stopped could not act on it. */
	box_signal(&r->box, SIGCONT);
	r->kill.at = loop_now() + RUN_GRACE_MS;
}

static void run_time_due(void *data)
{
	run_end(data, CAUSE_TIME, SIGTERM);
}

static void run_lifetime_due(void *data)
{
	run_end(data, CAUSE_LIFETIME, SIGTERM);
}

static void run_caller_ready(void *data, int events)
{
	struct run *r = data;

	(void)events;
	r->caller.events = LOOP_OFF;
	if (run_blame(r, CAUSE_CALLER))
		run_kill_box(r);
}

static void run_cancel(struct run *r, int signal)
{
	int64_t now = loop_now();

	if (r->ending.cancel) {
		bool repeated = signal == r->ending.cancel &&
				now - r->cancelled_at < RUN_REPEAT_MS;

		if (!repeated && run_blame(r, CAUSE_SIGNAL))
			run_kill_box(r);
		return;
	}
	r->ending.cancel = signal;
	r->cancelled_at = now;
	run_end(r, CAUSE_SIGNAL, signal);
}

/* The kernel's own SIGHUP may be on its way: the same thing. */
static void run_hang_up(struct run *r)
{
	r->ending.cancel = SIGHUP;
	r->cancelled_at = loop_now();
	run_end(r, CAUSE_TERMINAL, SIGHUP);
}

/* ---- signals ---- */

static void run_use_terminal(struct run *r)
{
	if (r->phase == PHASE_RUNNING) {
		terminal_make_raw(&r->terminal);
		stdio_resize(&r->stdio);
	}
	relay_resume(&r->stdio.in);
}

/* The caller's stop is for the whole box; it would go on without us. */
static void run_stop(struct run *r)
{
	terminal_restore(&r->terminal);
	if (r->phase == PHASE_RUNNING)
		box_signal(&r->box, SIGSTOP);
	caller_stop();
	if (r->phase == PHASE_RUNNING)
		box_signal(&r->box, SIGCONT);
	run_use_terminal(r);
}

static void run_signal(struct run *r, int signal)
{
	switch (signal) {
	case SIGUSR1:
	case SIGUSR2:
		if (r->phase == PHASE_RUNNING)
			box_signal(&r->box, signal);
		break;
	case SIGTSTP:
		run_stop(r);
		break;
	case SIGCONT:
	case SIGWINCH:
		run_use_terminal(r);
		break;
	default:
		run_cancel(r, signal);
	}
}

static void run_signals_ready(void *data, int events)
{
	struct run *r = data;
	struct signalfd_siginfo info;

	(void)events;
	while (read(r->signals.fd, &info, sizeof(info)) == sizeof(info))
		run_signal(r, (int)info.ssi_signo);
}

/*
 * Nothing tells a job that it came to the foreground while it ran, nor when a
 * pty is opened again: looked at now and then while something waits for it.
 */
static void run_resume_due(void *data)
{
	struct run *r = data;

	run_use_terminal(r);
	relay_resume(&r->stdio.out);
	if (stdio_is_at_eof(&r->stdio))
		stdio_send_eof(&r->stdio);
}

/* ---- the box ---- */

static void run_started(struct run *r, int master)
{
	r->phase = PHASE_RUNNING;
	r->ending.started_at = loop_now();
	if (r->plan->limits.time != LIMIT_NONE)
		r->time.at = r->ending.started_at + r->plan->limits.time;
	if (master < 0)
		return;
	stdio_attach(&r->stdio, master, &r->loop, r->options, r->result);
	run_use_terminal(r);
}

static void run_drain(struct run *r)
{
	r->phase = PHASE_DRAINING;
	relay_stop(&r->stdio.in);
	r->ending.ended_at = loop_now();
	r->kill.at = LOOP_NEVER;
	r->socket.events = LOOP_OFF;
	r->stdio.out.last = r->stdio.err.last = true;
	relay_resume(&r->stdio.out);
	relay_resume(&r->stdio.err);
	box_release(&r->box);
	if (r->ending.cause != CAUSE_NONE)
		run_hurry(r);
}

static void run_exited(struct run *r, const struct box_event *event)
{
	r->ending.exited = true;
	r->ending.status = event->status;
	r->ending.usage = event->usage;
	r->ending.disk_full = event->disk_full;
	r->result->project = event->project;
	r->result->root = event->root;
	run_drain(r);
}

/* No command ran: *err says why. */
static void run_failed(struct run *r, int code)
{
	r->failed = code;
	r->phase = PHASE_DONE;
}

static void run_gone(struct run *r)
{
	if (r->ending.cause != CAUSE_NONE) {
		run_drain(r);
		return;
	}
	relay_pump(&r->stdio.out);
	relay_pump(&r->stdio.err);
	run_failed(r, error_set(&r->err, ERROR_HOST, 0,
				"the box broke: init ended without a word"));
}

static void run_box_ready(void *data, int events)
{
	struct run *r = data;
	struct box_event event = { .pty = -1 };
	struct error err = { 0 };

	(void)events;
	int code = box_next(&r->box, &event, &err);

	if (event.type == BOX_STARTED && (code < 0 || r->phase != PHASE_SETUP ||
					  r->stdio.pty != (event.pty >= 0))) {
		fd_close(&event.pty);
		event.type = BOX_GONE;
	}
	switch (event.type) {
	case BOX_STARTED:
		run_started(r, event.pty);
		break;
	case BOX_EXITED:
		run_exited(r, &event);
		break;
	case BOX_SETUP_FAILED:
	case BOX_EXEC_FAILED:
		if (r->ending.cause != CAUSE_NONE) {
			run_drain(r);
			break;
		}
		r->err = err;
		run_failed(r, err.code ? -err.code : -EINVAL);
		break;
	case BOX_GONE:
		run_gone(r);
		break;
	}
}

/* ---- the loop ---- */

/*
 * Time is given to a reader that takes the output, however slowly, but once
 * llmbox ended the box no longer than the grace, and none to one that sleeps.
 */
static void run_drain_due(void *data)
{
	struct run *r = data;
	struct stdio *s = &r->stdio;
	int64_t moved = s->out.done ? s->err.moved : s->out.moved;
	int64_t now = loop_now();

	if (!s->err.done && s->err.moved > moved)
		moved = s->err.moved;
	if (moved < r->ending.ended_at)
		moved = r->ending.ended_at;
	if (now - moved < RUN_STALL_MS &&
	    now - r->ending.ended_at < RUN_GRACE_MS) {
		r->drain.at = moved + RUN_STALL_MS;
		return;
	}
	r->ending.gave_up = true;
	s->out.lost |= !s->out.done;
	s->err.lost |= !s->err.done;
	r->phase = PHASE_DONE;
}

/* What the relays' states ask for. */
static void run_look(struct run *r)
{
	struct stdio *s = &r->stdio;

	if (s->budget.hit && !r->ending.killed && run_blame(r, CAUSE_OUTPUT))
		run_kill_processes(r);
	if (r->phase == PHASE_DRAINING && stdio_is_drained(s))
		r->phase = PHASE_DONE;
	if (r->phase != PHASE_RUNNING)
		return;
	if (stdio_is_hung_up(s) && !r->ending.cancel)
		run_hang_up(r);
	bool waits = (!s->in.done && s->in.paused) ||
		     (!s->out.done && s->out.paused);

	if (r->resume.at != LOOP_NEVER)
		return;
	if (waits)
		r->resume.at = loop_now() + RUN_RESUME_MS;
	else if (stdio_is_at_eof(s))
		r->resume.at = loop_now() + (r->eof_told ? RUN_RESUME_MS : 0);
	r->eof_told = stdio_is_at_eof(s);
}

static void run_loop(struct run *r)
{
	while (r->phase != PHASE_DONE) {
		int code = loop_step(&r->loop);

		if (code < 0) {
			run_failed(r, error_set(&r->err, ERROR_INTERNAL, -code,
						"wait for the box"));
			return;
		}
		run_look(r);
	}
}

static void run_watch(struct run *r)
{
	struct loop_source *sources[] = { &r->signals, &r->caller, &r->socket };
	struct loop_timer *timers[] = { &r->lifetime, &r->time, &r->kill,
					&r->drain, &r->resume };

	for (size_t i = 0; i < ARRAY_SIZE(sources); i++)
		loop_add(&r->loop, sources[i]);
	for (size_t i = 0; i < ARRAY_SIZE(timers); i++)
		loop_add_timer(&r->loop, timers[i]);
	r->signals.ready = run_signals_ready;
	r->caller.ready = run_caller_ready;
	r->socket.ready = run_box_ready;
	r->lifetime.due = run_lifetime_due;
	r->time.due = run_time_due;
	r->kill.due = run_kill_due;
	r->drain.due = run_drain_due;
	r->resume.due = run_resume_due;
}

static int run_start(struct run *r)
{
	/* First: what is opened before could take the place of a closed one. */
	int code = stdio_init(&r->stdio, r->plan, r->options, &r->err);

	if (code < 0)
		return code;
	r->signals.fd = code = caller_signals(&r->err);
	r->caller.fd = caller_watch(r->options->caller, &r->err);
	if (r->caller.fd < 0 && r->caller.fd != -ENOENT &&
	    r->caller.fd != -ESRCH && code >= 0)
		code = r->caller.fd;
	if (code >= 0)
		code = stdio_open(&r->stdio, r->plan, r->options, &r->loop,
				  r->result, &r->err);
	if (code < 0)
		return code;
	if (r->stdio.pty && r->stdio.fd[0].kind == STDIO_TERMINAL)
		r->terminal.fd = 0;
	code = box_start(r->plan, r->stdio.box, &r->box, &r->err);
	stdio_started(&r->stdio);
	r->socket.fd = r->box.socket;
	if (code == 0 && r->caller.fd == -ESRCH && run_blame(r, CAUSE_CALLER))
		run_kill_box(r);
	return code;
}

/* ---- all of it ---- */

int run_box(struct plan *plan, const struct run_options *options,
	    struct result *ret, struct error *err)
{
	struct run r = {
		.plan = plan,
		.options = options,
		.box = BOX_INIT,
		.stdio = STDIO_INIT,
		.terminal = { .fd = -1 },
		.signals = { .fd = -1, .events = POLLIN, .data = &r },
		.caller = { .fd = -1, .events = POLLIN, .data = &r },
		.socket = { .fd = -1, .events = POLLIN, .data = &r },
		.lifetime = { .at = LOOP_NEVER, .data = &r },
		.time = { .at = LOOP_NEVER, .data = &r },
		.kill = { .at = LOOP_NEVER, .data = &r },
		.drain = { .at = LOOP_NEVER, .data = &r },
		.resume = { .at = LOOP_NEVER, .data = &r },
		.result = ret,
	};

	*ret = (struct result){ 0 };
	run_watch(&r);
	if (plan->limits.lifetime != LIMIT_NONE)
		r.lifetime.at = loop_now() + plan->limits.lifetime;
	int code = run_start(&r);

	if (code < 0)
		run_failed(&r, code);
	else
		run_loop(&r);
	box_release(&r.box);
	terminal_restore(&r.terminal);
	stdio_release(&r.stdio, ret);
	r.ending.write_error = r.stdio.error;
	if (!r.ending.ended_at)
		r.ending.ended_at = loop_now();
	if (r.failed)
		result_from_error(ret, &r.err);
	else
		ending_result(&r.ending, plan, ret);
	fd_close(&r.signals.fd);
	fd_close(&r.caller.fd);
	if (r.failed && err)
		*err = r.err;
	return r.failed;
}
