/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What this host offers to this caller, each found by trying it in a process of
 * its own that is ended if it hangs. Settings and versions are read only to
 * tell why something failed. Nothing is left, but in the place that the caller
 * gives: no process, mount, file, control group.
 */
#ifndef LLMBOX_PROBE_H
#define LLMBOX_PROBE_H

#include <stdbool.h>
#include <stddef.h>

enum probe_state {
	PROBE_YES,
	PROBE_SOFT,    /* in part, or by a weaker means */
	PROBE_NO,      /* tried, and it does not work */
	PROBE_UNTRIED, /* what it needs is missing already */
	PROBE_OMITTED, /* has no meaning for this caller */
};

enum { PROBE_DETAIL_MAX = 320, PROBE_CURE_MAX = 1024 };

struct probe_result {
	enum probe_state state;
	char detail[PROBE_DETAIL_MAX]; /* what was found, or why not */
	char cure[PROBE_CURE_MAX];     /* what to type, in lines; or "" */
};

/* Where to try what needs a place, and who asks. */
struct probe_input {
	const char *store;  /* the store's directory, which need not exist */
	const char *place;  /* an empty directory on its file system, which is
			       the caller's to remove with all that is in it
			       then; NULL: none can be made */
	const char *binary; /* this program's file, absolute */
};

struct probe_try;

struct probe {
	const char *name;   /* one word: for programs */
	const char *title;  /* for people */
	const char *effect; /* on boxes, where it is not to be had */
	bool needed;        /* by the built-in policy */
	bool inside;        /* tried inside a user namespace */
	void (*run)(struct probe_try *t);
};

/* By index, in the order in which they are to be run; NULL at the end. */
const struct probe *probe_table(size_t index);

/*
 * Runs the table. ret_results has PROBES_MAX elements; returns how many were
 * filled, in the order of the table. *ret_ok: the built-in policy can be held,
 * so that "run -- true" with it succeeds.
 */
enum { PROBES_MAX = 32 };
size_t probe_all(const struct probe_input *in, struct probe_result *ret_results,
		 bool *ret_ok);

const char *probe_state_name(enum probe_state state);

#endif
