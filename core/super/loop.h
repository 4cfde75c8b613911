/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a supervisor waits for: descriptors and points in time, in one thread.
 * Sources and timers belong to their users and are only listed here; a change
 * of what is wanted is a store, without a system call.
 */
#ifndef LLMBOX_LOOP_H
#define LLMBOX_LOOP_H

#include <stddef.h>
#include <stdint.h>

enum {
	LOOP_MAX = 16, /* sources, and timers, of one loop */
	LOOP_OFF = -1, /* events: wait for nothing, not even errors */
};

struct loop_source {
	int fd;     /* -1: as LOOP_OFF */
	int events; /* POLLIN, POLLOUT; 0: only errors and hang-ups */
	void (*ready)(void *data, int events);
	void *data;
};

#define LOOP_NEVER INT64_MAX

struct loop_timer {
	int64_t at; /* by loop_now; set to LOOP_NEVER before due is called */
	void (*due)(void *data);
	void *data;
};

struct loop {
	struct loop_source *sources[LOOP_MAX];
	size_t source_count;
	struct loop_timer *timers[LOOP_MAX];
	size_t timer_count;
};

/* Milliseconds of CLOCK_MONOTONIC. */
int64_t loop_now(void);

/* The source or timer has to outlive the loop. */
void loop_add(struct loop *loop, struct loop_source *source);
void loop_add_timer(struct loop *loop, struct loop_timer *timer);

/*
 * Waits for the first thing to happen and calls what belongs to it, timers
 * first, so that no flow of data keeps a limit from being held. ready may be
 * called without cause. 0 or -errno.
 */
int loop_step(struct loop *loop);

#endif
