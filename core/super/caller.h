/* SPDX-License-Identifier: Apache-2.0 */
/* The process that started llmbox: its signals, and its death. */
#ifndef LLMBOX_CALLER_H
#define LLMBOX_CALLER_H

#include <sys/types.h>

struct error;

/*
 * A signalfd of what a supervisor acts on: TERM, INT, HUP and QUIT (but those
 * that were ignored when it started, as nohup(1) and shells ask for), TSTP,
 * CONT, WINCH, USR1, USR2. They are blocked from now on, and so are TTIN and
 * TTOU; PIPE and XFSZ are ignored, CHLD is not.
 */
int caller_signals(struct error *err);

/*
 * A pidfd of the caller, readable when it ends; -ENOENT where that is nobody to
 * wait for (init, or outside of this pid namespace), -ESRCH where it has ended.
 * Else an error: it can't be watched. caller is what getppid(2) said when
 * llmbox began: later it may be another process's child already.
 */
int caller_watch(pid_t caller, struct error *err);

/* The default action of SIGTSTP: returns when continued, or at once where
 * nobody could continue this process. */
void caller_stop(void);

/* "TERM" */
const char *signal_name(int signal);

#endif
