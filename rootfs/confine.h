/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process shut into one directory: user, mount, network and ipc namespaces of
 * its own, the directory as its root and nothing else mounted, no descriptors
 * but two, the few rights that writing a tree needs, bounded memory, no further
 * processes, and only the system calls of reading and writing files.
 */
#ifndef LLMBOX_CONFINE_H
#define LLMBOX_CONFINE_H

#include <stdbool.h>
#include <sys/types.h>

#include "sandbox/idmap.h"

struct error;

struct confine_input {
	struct idmap map;
	const char *tree; /* absolute */
	int userns;       /* to join; -1: one of its own, with map */
	int mount;        /* tree as a detached mount; -1: found by its path */
	pid_t parent;     /* whose end is this process's end */
};

/*
 * For a freshly forked child. *in and *out are moved to 0 and 1, all others are
 * closed, 2 is /dev/null. *ret_userns_refused tells that this host lets no user
 * namespace be made (err then has the errno only). There is no way back.
 */
int confine_enter(const struct confine_input *c, int *in, int *out,
		  bool *ret_userns_refused, struct error *err);

#endif
