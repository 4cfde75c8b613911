/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The caller's descriptors 0 to 2 and what the box gets in their place.
 *
 * A terminal never reaches the box: a pty stands for it when stdin and stdout
 * both are one, else a pipe. A regular file is a pipe too, since a box could
 * open it again by /proc/self/fd with other rights. Pipes, sockets and
 * /dev/null are handed through untouched, unless the output is limited or
 * captured.
 */
#ifndef LLMBOX_STDIO_H
#define LLMBOX_STDIO_H

#include <stdbool.h>
#include <sys/stat.h>

#include "super/relay.h"

struct error;
struct plan;
struct result;
struct run_options;

enum stdio_kind {
	STDIO_TERMINAL,
	STDIO_FILE, /* regular, or a block device */
	STDIO_PIPE, /* with a name or without */
	STDIO_SOCKET,
	STDIO_NULL,  /* /dev/null; closed ones become it */
	STDIO_OTHER, /* other devices and kernel objects: by a pipe only */
	STDIO_DIRECTORY,
};

struct stdio_fd {
	enum stdio_kind kind;
	struct stat st;
	int flags; /* of F_GETFL, as they are to be at the end */
};

struct stdio {
	struct stdio_fd fd[3];
	bool pty;    /* stands for 0 and 1 */
	bool merged; /* 1 and 2 are the same and go by one pipe */
	int box[3];  /* for box_start: -1: the pty */
	int in_pipe; /* reading end of a relayed file's pipe */
	int master;  /* of the pty, or -1 */
	struct relay in, out, err;
	struct relay_budget budget;
	int error; /* errno of output that could not be written, at the end */
};

/* clang-format off */
#define STDIO_INIT                                                           \
	{                                                                    \
		.fd = { { .flags = -1 }, { .flags = -1 }, { .flags = -1 } }, \
		.box = { -1, -1, -1 },                                       \
		.in_pipe = -1,                                               \
		.master = -1,                                                \
		.in = RELAY_INIT,                                            \
		.out = RELAY_INIT,                                           \
		.err = RELAY_INIT,                                           \
	}
/* clang-format on */

/*
 * Looks at the descriptors and decides; plan->command.pty and size are set.
 * ERROR_USAGE for a directory. stdio_release is due in any case.
 */
int stdio_init(struct stdio *s, struct plan *plan,
	       const struct run_options *options, struct error *err);

/* Makes the pipes. Captured bytes go to ret. */
int stdio_open(struct stdio *s, const struct plan *plan,
	       const struct run_options *options, struct loop *loop,
	       struct result *ret, struct error *err);

/* The box has its ends: ours of them are closed. */
void stdio_started(struct stdio *s);

/* Relays the pty's master, which is taken over. */
void stdio_attach(struct stdio *s, int master, struct loop *loop,
		  const struct run_options *options, struct result *ret);

/* The pty's size becomes that of the caller's terminal. */
void stdio_resize(const struct stdio *s);

/*
 * Is stdin of the pty, which is no terminal, at its end? As a file goes on
 * saying so at every read, the pty has to be told again and again:
 * stdio_send_eof now and then.
 */
bool stdio_is_at_eof(const struct stdio *s);
void stdio_send_eof(struct stdio *s);

/* Is the terminal gone that the pty stands for, or who reads its output? */
bool stdio_is_hung_up(const struct stdio *s);

/* Is everything delivered that the box wrote? */
bool stdio_is_drained(const struct stdio *s);

/*
 * Ends all relays, gives back to a file what the box did not read of it, puts
 * status flags back, and fills in what is known of the outputs.
 */
void stdio_release(struct stdio *s, struct result *ret);

#endif
