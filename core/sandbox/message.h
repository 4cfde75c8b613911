/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the supervisor, init and a command before its exec say to each other:
 * one SEQPACKET datagram a message, with descriptors. Both run the same binary,
 * so a message is a struct. Init is confined, but a box may have taken it over:
 * what it sends is bounded and is not believed where it could harm the host.
 */
#ifndef LLMBOX_MESSAGE_H
#define LLMBOX_MESSAGE_H

#include <stdint.h>
#include <sys/resource.h>

#include "sandbox/box.h"

enum message_type {
	/* supervisor to init */
	MESSAGE_MOUNTS, /* descriptors: detached mounts, in the plan's order */
	MESSAGE_SIGNAL, /* value: for every process but init */
	/* init to supervisor */
	MESSAGE_STARTED,      /* descriptor: the pty's master, or none */
	MESSAGE_SETUP_FAILED, /* code: errno; text: "step: object" */
	MESSAGE_EXEC_FAILED,  /* code: errno; text: the reason */
	MESSAGE_EXITED,
	/* a command to init */
	MESSAGE_LISTENER, /* descriptor: of its filter's notifications */
};

enum {
	MESSAGE_TEXT_MAX = 512,
	MESSAGE_FDS_MAX = 250, /* SCM_MAX_FD is 253 */
};

struct message {
	enum message_type type;
	int32_t value; /* a signal, or the status of waitpid(2) */
	int32_t code;  /* a positive errno */
	char text[MESSAGE_TEXT_MAX];
	uint8_t disk_full;
	struct rusage usage;
	struct box_changes project, root;
};

/* 0 or -errno, -EAGAIN where the peer has not read the last ones: it does not
 * wait for one that may be stuck. fds may be NULL where count is 0. */
int message_send(int socket, const struct message *m, const int *fds,
		 unsigned count);

/*
 * Waits for one message. Fills up to max descriptors (close-on-exec, the
 * caller's) and their number; more than max are closed. 1, 0 at the end of the
 * socket, -errno; -EPROTO for what is not a whole message. The text is ended by
 * a NUL.
 */
int message_receive(int socket, struct message *ret, int *ret_fds, unsigned max,
		    unsigned *ret_count);

#endif
