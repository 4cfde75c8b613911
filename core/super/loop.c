/* SPDX-License-Identifier: Apache-2.0 */
/*
 * poll(2) over the sources there are, with the nearest timer as its timeout. A
 * run has about ten descriptors: at that number poll costs what epoll does,
 * needs no set-up, takes regular files too, and leaves a descriptor that is
 * off really alone (epoll reports its hang-ups for ever).
 */
#include "super/loop.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

int64_t loop_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

void loop_add(struct loop *loop, struct loop_source *source)
{
	if (loop->source_count == LOOP_MAX)
		abort();
	loop->sources[loop->source_count++] = source;
}

void loop_add_timer(struct loop *loop, struct loop_timer *timer)
{
	if (loop->timer_count == LOOP_MAX)
		abort();
	loop->timers[loop->timer_count++] = timer;
}

static int loop_timeout(const struct loop *loop)
{
	int64_t nearest = LOOP_NEVER;

	for (size_t i = 0; i < loop->timer_count; i++)
		if (loop->timers[i]->at < nearest)
			nearest = loop->timers[i]->at;
	if (nearest == LOOP_NEVER)
		return -1;
	int64_t left = nearest - loop_now();

	if (left < 0)
		return 0;
	/* loop_now rounds down: without the one, the last part of a
	 * millisecond would be spent turning. */
	return left < INT_MAX ? (int)left + 1 : INT_MAX;
}

static void loop_run_timers(struct loop *loop)
{
	int64_t now = loop_now();

	for (size_t i = 0; i < loop->timer_count; i++) {
		struct loop_timer *timer = loop->timers[i];

		if (timer->at > now)
			continue;
		timer->at = LOOP_NEVER;
		timer->due(timer->data);
	}
}

int loop_step(struct loop *loop)
{
	struct pollfd polled[LOOP_MAX];
	size_t count = loop->source_count;

	for (size_t i = 0; i < count; i++) {
		const struct loop_source *source = loop->sources[i];
		bool on = source->events != LOOP_OFF;

		polled[i].fd = on ? source->fd : -1;
		polled[i].events = on ? (short)source->events : 0;
		polled[i].revents = 0;
	}
	if (poll(polled, count, loop_timeout(loop)) < 0 && errno != EINTR)
		return -errno;
	loop_run_timers(loop);
	for (size_t i = 0; i < count; i++) {
		struct loop_source *source = loop->sources[i];

		/* One that came before may have closed or stopped it. */
		if (polled[i].revents && source->fd == polled[i].fd &&
		    source->events != LOOP_OFF)
			source->ready(source->data, polled[i].revents);
	}
	return 0;
}
