/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A box as its supervisor sees it: init's process, and a socket to it. The
 * process structure and the order of set-up are told in core/README.
 */
#ifndef LLMBOX_BOX_H
#define LLMBOX_BOX_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

struct error;
struct plan;

struct box {
	pid_t init; /* a child of the supervisor, 0 when reaped */
	int pidfd;  /* of init */
	int socket; /* SEQPACKET to init; readable: box_next has something */
};
#define BOX_INIT                          \
	{                                 \
		.pidfd = -1, .socket = -1 \
	}

/*
 * Makes the box and starts the plan's command in it. stdio are the command's
 * three descriptors (with plan->command.pty all three are -1 but those that the
 * caller insists on); they stay the caller's to close. Returns when init is
 * set to work; that set-up failed comes as an event or as the error here.
 * ERROR_HOST with the step's name. Nothing is left after a failure.
 */
int box_start(const struct plan *plan, const int stdio[3], struct box *ret,
	      struct error *err);

enum box_event_type {
	BOX_STARTED,      /* the command runs (or is about to execute) */
	BOX_SETUP_FAILED, /* err says at which step; the box is gone */
	BOX_EXEC_FAILED,  /* err: ERROR_EXEC, code ENOENT means 127 else 126 */
	BOX_EXITED,       /* the command ended; all others are ended too */
	BOX_GONE,         /* end of the socket: init is gone or about to be */
};

/* Files changed in the upper layers: bounded counts. */
struct box_changes {
	bool known;
	uint64_t added, changed, removed;
	bool partial; /* the bound was reached: at least so many */
};

struct box_event {
	enum box_event_type type;
	int pty;    /* BOX_STARTED: the master, owned by the caller; -1 */
	int status; /* BOX_EXITED: as of waitpid(2) */
	struct rusage usage; /* BOX_EXITED: of the command and what it reaped */
	bool disk_full;      /* BOX_EXITED: no block or no inode was left */
	struct box_changes project; /* BOX_EXITED: of -C with overlay */
	struct box_changes root;    /* BOX_EXITED: of the root */
};

/*
 * The next event; waits for it. After BOX_GONE only box_release. Malformed
 * messages count as BOX_GONE: init is confined, but not trusted. err is filled
 * for the two failures.
 */
int box_next(struct box *box, struct box_event *ret, struct error *err);

/* Sends signal to every process of the box but init. Best effort. */
void box_signal(struct box *box, int signal);

/* SIGKILL to init: the kernel ends every process of the box. */
void box_kill(struct box *box);

/* Kills what is left, reaps init, closes. Nothing of the box remains after. */
void box_release(struct box *box);

#endif
