/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The notifier: a process that does calls in the place of the box's processes
 * which the filter hands over (seccomp_unotify(2)), as the caller would and
 * with no more rights than the caller has, but for what must not happen on a
 * volume. core/README, "Calls that are handed over".
 *
 * notify.c takes calls and answers, notify_caller.c finds out who calls and
 * becomes it, notify_mode.c does the calls. A call that is to be handed over
 * has a row in notify.c's table and one in seccomp_rules.c.
 */
#ifndef LLMBOX_NOTIFY_H
#define LLMBOX_NOTIFY_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct setup;

/* The process, a child of init: serves until nobody can call any more. */
void notify_main(const struct setup *s, int listener) __attribute__((noreturn));

/* ---- for notify*.c ---- */

struct notifier {
	const struct setup *s;
	int listener;
	int proc;        /* the box's own /proc; -1: nothing can be looked at */
	int root;        /* the box's, O_PATH */
	bool restricted; /* somebody in the box has made Landlock rules */
	/* What the process is while it is nobody else. */
	uid_t uid;
	gid_t gid;
	uint64_t rights;
};

struct notify_request;

/* The call's result, -errno, or NOTIFY_ANSWERED or NOTIFY_CONTINUE. */
typedef int notify_handler(struct notifier *n, struct notify_request *r);

enum {
	NOTIFY_ANSWERED = -100000, /* by the handler */
	NOTIFY_CONTINUE, /* the caller's own business: nothing depends on it */
};

/* A row of the table: where a call has which argument; -1: it has none. */
struct notify_call {
	notify_handler *run;
	int number;
	int dirfd, path, flags, mode, dev;
};

/* Who calls, as it was when it was looked at. Descriptors are O_PATH or -1. */
struct notify_caller {
	int process;    /* its directory of /proc */
	int root;       /* its root, where it is not the notifier's */
	int base;       /* what its path counts from, or what it names */
	int descriptor; /* that its path names by /proc/self/fd */
	uid_t uid;      /* its filesystem ids (credentials(7)) */
	gid_t gid;
	uint64_t rights; /* its effective capabilities */
	mode_t umask;
	gid_t *groups;
	size_t group_count;
	char path[PATH_MAX];
};

struct notify_request {
	const struct notify_call *call;
	const uint64_t *args;
	uint64_t id;
	struct notify_caller caller;
};

static inline uint32_t notify_argument(const struct notify_request *r, int at)
{
	return at < 0 ? 0 : (uint32_t)r->args[at];
}

/*
 * Looks at everything of the caller that the call needs, once. What is found
 * counts only if the notification is still valid afterwards: else it may be
 * another process's. -EPERM where it can't be looked at.
 */
int notify_look(const struct notifier *n, pid_t pid, struct notify_request *r);
void notify_caller_release(struct notify_caller *c);

/* Takes the caller's root, ids and rights, and gives them back. What can't be
 * given back ends the process. */
int notify_become(const struct notifier *n, const struct notify_caller *c);
void notify_leave(const struct notifier *n, const struct notify_caller *c);

/* As the caller. */
notify_handler notify_change_mode, notify_make_node, notify_open;

#endif
