/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SIGTTIN and SIGTTOU are blocked while this is used (caller.c): a read from
 * the background fails with EIO instead of stopping the supervisor and with it
 * every limit it holds.
 */
#include "super/terminal.h"

#include <unistd.h>

bool terminal_is_foreground(int fd)
{
	pid_t group = tcgetpgrp(fd);

	return group < 0 || group == getpgrp();
}

static bool terminal_modes_equal(const struct termios *a,
				 const struct termios *b)
{
	return a->c_iflag == b->c_iflag && a->c_oflag == b->c_oflag &&
	       a->c_cflag == b->c_cflag && a->c_lflag == b->c_lflag;
}

void terminal_make_raw(struct terminal *t)
{
	struct termios now;

	if (t->fd < 0 || !terminal_is_foreground(t->fd) ||
	    tcgetattr(t->fd, &now) < 0)
		return;
	if (t->raw && terminal_modes_equal(&now, &t->set))
		return;
	t->saved = t->set = now;
	cfmakeraw(&t->set);
	/*
	 * TCSANOW: output is processed when it is written, so there is nothing
	 * to wait for, and waiting would hang on a terminal that is stopped.
	 */
	t->raw = tcsetattr(t->fd, TCSANOW, &t->set) == 0;
}

void terminal_restore(struct terminal *t)
{
	if (t->raw && terminal_is_foreground(t->fd))
		tcsetattr(t->fd, TCSANOW, &t->saved);
	t->raw = false;
}

struct winsize terminal_size(int fd)
{
	struct winsize size = { 0 };

	if (fd < 0 || ioctl(fd, TIOCGWINSZ, &size) < 0)
		return (struct winsize){ 0 };
	return size;
}
