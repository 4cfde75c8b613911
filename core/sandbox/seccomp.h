/* SPDX-License-Identifier: Apache-2.0 */
/*
 * System-call filters. The rules are tables of names in groups
 * (seccomp_rules.c); libseccomp knows the numbers; the program is generated
 * here (seccomp_build.c) as a binary search over ranges of numbers with checks
 * of arguments at its leaves, since such a program loads in 40-100 us where
 * libseccomp's own takes 120-600 us to load and 2-9 ms to build
 * (core/README, "Filters"). The profiles without lists are generated when
 * llmbox is built (tests hold that the live generator makes the same).
 */
#ifndef LLMBOX_SECCOMP_H
#define LLMBOX_SECCOMP_H

#include <linux/filter.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "policy/policy.h"

struct error;

/*
 * Root emulation: which calls succeed without doing anything, since an argument
 * names an id that the box has not. Programs that unpack, install or drop
 * rights then go on; those that check afterwards see that nothing happened. A
 * call with mapped ids only is the kernel's own.
 */
enum emulation {
	EMULATE_NONE,  /* a box whose one id is not root's */
	EMULATE_ONE,   /* id 0 is all there is */
	EMULATE_RANGE, /* ids 0 to 65535 are there */
	EMULATIONS,
};

struct filter {
	const struct sock_filter *code;
	unsigned short count;
	struct sock_filter *owned; /* code, where it was made live; else NULL */
};

void filter_release(struct filter *f);

/*
 * The filter of the box's commands. allow and deny are names of system calls or
 * of groups ("@ptrace"), deny wins; an unknown name is an error with the
 * nearest one. Made live only where allow or deny is not empty.
 */
int filter_for_policy(enum profile profile, enum emulation emulation,
		      const struct strv *allow, const struct strv *deny,
		      struct filter *ret, struct error *err);

/*
 * Init's own fixed filter, which no policy changes and which all commands
 * inherit: refuses (EPERM) what no process of a box ever needs.
 */
void filter_for_init(struct filter *ret);

/*
 * The fixed filter that commands of a box with a writable volume have besides:
 * calls that set setuid and setgid bits go to the notifier (notify.h) or, where
 * the listener can't be had, are refused (EPERM). A filter of its own, so that
 * no list of a policy changes it.
 */
void filter_for_volumes(bool notified, struct filter *ret);

/* Loads it for the calling process; no_new_privs is set already. One raw system
 * call, no memory: may be called between clone and exec. 0 or -errno. */
int filter_load(const struct filter *f);

/* As filter_load; returns the listener (close-on-exec) of its notifications,
 * or -errno: -EBUSY where a filter above has one, as in other sandboxes. */
int filter_load_listener(const struct filter *f);

/*
 * What the program answers (SECCOMP_RET_...) for a call, computed as the kernel
 * would: for tests, policy checks and the plan.
 */
struct seccomp_data;
unsigned filter_decide(const struct filter *f, const struct seccomp_data *data);

#endif
