/* SPDX-License-Identifier: Apache-2.0 */
/* The caller's terminal: who may use it now, its mode, its size. */
#ifndef LLMBOX_TERMINAL_H
#define LLMBOX_TERMINAL_H

#include <stdbool.h>
#include <sys/ioctl.h>
#include <termios.h>

struct terminal {
	int fd;   /* not owned; -1: there is none */
	bool raw; /* set by us, to be undone */
	struct termios saved, set;
};

/*
 * May this process read the terminal and set its mode: is its group in the
 * foreground? A terminal that is not the controlling one knows no groups: yes.
 */
bool terminal_is_foreground(int fd);

/*
 * In the foreground: raw, and as it was is remembered; also after somebody
 * else (the shell, on a stop) changed the mode. In the background: nothing.
 */
void terminal_make_raw(struct terminal *t);

/* As it was before; in the background it is another one's, and left alone. */
void terminal_restore(struct terminal *t);

/* The size of a terminal; all zero where it has none. */
struct winsize terminal_size(int fd);

#endif
