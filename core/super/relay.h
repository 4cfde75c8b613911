/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One direction of bytes, from one descriptor to another or into memory, with
 * one buffer: while the reader does not take, nothing is read. Never blocks.
 */
#ifndef LLMBOX_RELAY_H
#define LLMBOX_RELAY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "super/loop.h"

struct result_stream;

/* How an end is read or written without blocking. */
enum relay_end {
	RELAY_OWN,    /* O_NONBLOCK, and closed at the end */
	RELAY_PLAIN,  /* does not block (a regular file, or O_NONBLOCK) */
	RELAY_SOCKET, /* by MSG_DONTWAIT */
	RELAY_SHARED, /* somebody else's flags: asked first, in small parts */
};

/* How much the box may still write, both outputs together. */
struct relay_budget {
	int64_t left; /* bytes, or LIMIT_NONE */
	bool hit;     /* it wanted to write more */
};

struct relay {
	struct loop_source from, to; /* to.fd -1: into memory only */
	enum relay_end from_end, to_end;
	bool from_terminal; /* read only while in the foreground */
	bool from_master;   /* of a pty: EIO may pass until last is set */
	bool to_master;     /* the same; hang-ups are no end */
	bool last;          /* nobody can write to from any more */
	struct relay_budget *budget; /* or NULL */

	struct result_stream *capture; /* or NULL */
	size_t capture_half;           /* bytes of head, and of tail */
	size_t tail_start;             /* the tail is a ring */

	char *buffer; /* made at the first read */
	size_t start, len;
	uint64_t bytes; /* read */
	int64_t moved;  /* loop_now of the last progress */
	bool eof;
	bool paused; /* until relay_resume finds it usable */
	bool done;   /* all is delivered, or can't be */
	bool lost;   /* some of it was not delivered */
	int error;   /* errno of a write that failed, but for EPIPE */
};

#define RELAY_INIT                                                            \
	{                                                                     \
		.from = { -1, LOOP_OFF, 0, 0 }, .to = { -1, LOOP_OFF, 0, 0 }, \
		.done = true,                                                 \
	}

/* Starts. The fields up to capture_half are set; the rest is zero. */
void relay_start(struct relay *r, struct loop *loop);

/* Moves what can be moved now. */
void relay_pump(struct relay *r);

/* Tries again a source that was paused. */
void relay_resume(struct relay *r);

/* Ends it, whatever is left: what was read but not written is lost. */
void relay_stop(struct relay *r);

/* Stops, and gives back the memory; the tail of a capture is put in order, and
 * no character of UTF-8 is left cut in half. */
void relay_release(struct relay *r);

#endif
