/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A directory of one run, for writes that lie on disk. It is locked while the
 * run lasts and removed at its end; what a killed llmbox leaves is removed by
 * the next one, which knows it by the free lock, never by a pid.
 */
#ifndef LLMBOX_CMD_SCRATCH_H
#define LLMBOX_CMD_SCRATCH_H

struct error;

struct scratch {
	char *path; /* absolute; NULL: there is none */
	int parent; /* the directory that holds it */
	int lock;   /* the directory itself, with flock(2) held */
};
#define SCRATCH_INIT                     \
	{                                \
		.parent = -1, .lock = -1 \
	}

/* An empty one, of mode 0700. ERROR_STATE. */
int scratch_make(struct scratch *ret, struct error *err);
/* Removes it with all that it holds. */
void scratch_release(struct scratch *s);

/* Removes what nobody holds any more. One system call where there is nothing.
 */
void scratch_sweep(void);

#endif
