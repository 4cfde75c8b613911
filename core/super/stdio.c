/* SPDX-License-Identifier: Apache-2.0 */
#include "super/stdio.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/kcmp.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/error.h"
#include "base/fd.h"
#include "sandbox/plan.h"
#include "super/report.h"
#include "super/run.h"
#include "super/terminal.h"

/* ---- what they are ---- */

static enum stdio_kind stdio_device_kind(int fd, dev_t device)
{
	if (device == makedev(1, 3))
		return STDIO_NULL;
	return isatty(fd) ? STDIO_TERMINAL : STDIO_OTHER;
}

static enum stdio_kind stdio_classify(int fd, const struct stat *st)
{
	switch (st->st_mode & S_IFMT) {
	case S_IFCHR:
		return stdio_device_kind(fd, st->st_rdev);
	case S_IFREG:
	case S_IFBLK:
		return STDIO_FILE;
	case S_IFIFO:
		return STDIO_PIPE;
	case S_IFSOCK:
		return STDIO_SOCKET;
	case S_IFDIR:
		return STDIO_DIRECTORY;
	default: /* eventfd, pidfd and the like: no type */
		return STDIO_OTHER;
	}
}

static int stdio_look(struct stdio_fd *f, int fd, struct error *err)
{
	static const char *const names[] = { "standard input",
					     "standard output",
					     "standard error" };

	if (fstat(fd, &f->st) < 0 && errno == EBADF) {
		/* open takes the lowest number that is free: this one. */
		if (open("/dev/null", O_RDWR) != fd)
			return error_set(err, ERROR_HOST, errno,
					 "open /dev/null as %s", names[fd]);
		if (fstat(fd, &f->st) < 0)
			return error_set(err, ERROR_HOST, errno, "stat %s",
					 names[fd]);
	}
	f->kind = stdio_classify(fd, &f->st);
	f->flags = fcntl(fd, F_GETFL);
	if (f->kind != STDIO_DIRECTORY)
		return 0;
	error_set(err, ERROR_USAGE, EISDIR, "%s", names[fd]);
	return error_hint(err, "a box gets directories by -v or -C");
}

/* One open file under two numbers, as 2>&1 makes it? */
static bool stdio_is_same(const struct stdio_fd *f, int a, int b)
{
	const struct stat *x = &f[a].st, *y = &f[b].st;

	if (x->st_dev != y->st_dev || x->st_ino != y->st_ino)
		return false;
	if (f[a].kind == STDIO_TERMINAL)
		return true;
	if (f[a].flags != f[b].flags)
		return false;
	long order = syscall(SYS_kcmp, getpid(), getpid(), KCMP_FILE, a, b);

	/* Without CONFIG_KCMP: two openings have positions of their own. */
	if (order < 0)
		return lseek(a, 0, SEEK_CUR) == lseek(b, 0, SEEK_CUR);
	return order == 0;
}

static struct winsize stdio_size(const struct stdio *s)
{
	struct winsize size = { 0 };

	for (int i = 1; i >= 0 && !size.ws_row; i--)
		if (s->fd[i].kind == STDIO_TERMINAL)
			size = terminal_size(i);
	return size;
}

static void stdio_choose_pty(struct stdio *s, enum run_tty tty,
			     struct command *command)
{
	bool both = s->fd[0].kind == STDIO_TERMINAL &&
		    s->fd[1].kind == STDIO_TERMINAL;

	s->pty = tty == RUN_TTY_ALWAYS || (tty == RUN_TTY_AUTO && both);
	command->pty = s->pty;
	if (s->pty)
		command->size = stdio_size(s);
}

int stdio_init(struct stdio *s, struct plan *plan,
	       const struct run_options *options, struct error *err)
{
	bool closed = fcntl(2, F_GETFD) < 0;

	s->budget.left = plan->limits.output;
	for (int fd = 0; fd < 3; fd++) {
		int r = stdio_look(&s->fd[fd], fd, err);

		if (r < 0)
			return r;
	}
	/* In capture mode stdout is for the report, whatever it is. */
	stdio_choose_pty(s,
			 options->capture && options->tty == RUN_TTY_AUTO
				 ? RUN_TTY_NEVER
				 : options->tty,
			 &plan->command);
	if (s->pty && closed)
		s->fd[2].kind = STDIO_TERMINAL;
	return 0;
}

/* ---- pipes ---- */

/*
 * A box whose ids are others on the host could not open /dev/stdout and
 * /dev/stderr, which scripts like to do: a pipe belongs to its maker, mode
 * 0600. Only processes that have it can reach it at all. A pipe with a name
 * is a file of the caller's: left alone.
 */
static void stdio_open_to_box(int fd, const struct plan *plan)
{
	struct statfs fs;

	if (plan->ids.identity == IDENTITY_ONE)
		return;
	if (fstatfs(fd, &fs) == 0 && fs.f_type == PIPEFS_MAGIC)
		fchmod(fd, 0666);
}

static int stdio_pipe(int ret_ends[2], int ours, const struct plan *plan,
		      struct error *err)
{
	if (pipe2(ret_ends, O_CLOEXEC) < 0)
		return error_set(err, ERROR_HOST, errno, "make a pipe");
	fcntl(ret_ends[ours], F_SETFL, O_NONBLOCK);
	stdio_open_to_box(ret_ends[ours], plan);
	return 0;
}

/*
 * The caller's end, so that it can't block. A terminal or pipe is opened once
 * more, for flags of our own: those of the caller's would be seen by all who
 * share it, and stay behind when llmbox is killed.
 */
static int stdio_end(const struct stdio *s, int fd, int access,
		     enum relay_end *ret_end)
{
	char path[32];
	enum stdio_kind kind = s->fd[fd].kind;

	*ret_end = kind == STDIO_FILE     ? RELAY_PLAIN
		   : kind == STDIO_SOCKET ? RELAY_SOCKET
					  : RELAY_SHARED;
	if (kind != STDIO_TERMINAL && kind != STDIO_PIPE)
		return fd;
	/* /dev/ptmx and /dev/tty give another thing when opened again. */
	if (kind == STDIO_TERMINAL && major(s->fd[fd].st.st_rdev) == 5)
		return fd;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	int own = open(path, access | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);

	if (own < 0)
		return fd;
	*ret_end = RELAY_OWN;
	return own;
}

static int stdio_open_in(struct stdio *s, const struct plan *plan,
			 struct loop *loop, struct error *err)
{
	int ends[2];
	int r = stdio_pipe(ends, 1, plan, err);

	if (r < 0)
		return r;
	s->box[0] = ends[0];
	if (s->fd[0].kind == STDIO_FILE)
		s->in_pipe = fcntl(ends[0], F_DUPFD_CLOEXEC, 3);
	s->in = (struct relay){
		.to = { .fd = ends[1] },
		.to_end = RELAY_OWN,
		.from_terminal = s->fd[0].kind == STDIO_TERMINAL,
	};
	s->in.from.fd = stdio_end(s, 0, O_RDONLY, &s->in.from_end);
	relay_start(&s->in, loop);
	return 0;
}

static void stdio_capture(struct relay *relay, struct result_stream *stream,
			  const struct run_options *options)
{
	relay->capture = stream;
	relay->capture_half = (size_t)options->capture_max / 2;
}

static int stdio_open_out(struct stdio *s, int fd, struct relay *relay,
			  const struct plan *plan,
			  const struct run_options *options, struct loop *loop,
			  struct result_stream *stream, struct error *err)
{
	int ends[2];
	int r = stdio_pipe(ends, 0, plan, err);

	if (r < 0)
		return r;
	s->box[fd] = ends[1];
	*relay = (struct relay){
		.from = { .fd = ends[0] },
		.from_end = RELAY_OWN,
		.to = { .fd = -1 },
		.budget = &s->budget,
	};
	if (options->capture)
		stdio_capture(relay, stream, options);
	else
		relay->to.fd = stdio_end(s, fd, O_WRONLY, &relay->to_end);
	relay_start(relay, loop);
	return 0;
}

static bool stdio_is_untouched(enum stdio_kind kind)
{
	return kind == STDIO_PIPE || kind == STDIO_SOCKET || kind == STDIO_NULL;
}

static int stdio_open_outputs(struct stdio *s, const struct plan *plan,
			      const struct run_options *options,
			      struct loop *loop, struct result *ret,
			      struct error *err)
{
	bool all = options->capture || plan->limits.output != LIMIT_NONE;
	int r = 0;

	if (!s->pty && (all || !stdio_is_untouched(s->fd[1].kind)))
		r = stdio_open_out(s, 1, &s->out, plan, options, loop,
				   &ret->out, err);
	if (r < 0 || s->box[2] < 0)
		return r;
	if (!all && stdio_is_untouched(s->fd[2].kind))
		return 0;
	s->merged = !options->capture && s->box[1] > 2 &&
		    stdio_is_same(s->fd, 1, 2);
	if (s->merged) {
		s->box[2] = s->box[1];
		return 0;
	}
	return stdio_open_out(s, 2, &s->err, plan, options, loop, &ret->err,
			      err);
}

int stdio_open(struct stdio *s, const struct plan *plan,
	       const struct run_options *options, struct loop *loop,
	       struct result *ret, struct error *err)
{
	int r = 0;

	for (int fd = 0; fd < 3; fd++)
		s->box[fd] = fd;
	if (s->pty) {
		s->box[0] = s->box[1] = -1;
		if (s->fd[2].kind == STDIO_TERMINAL)
			s->box[2] = -1;
	} else if (!stdio_is_untouched(s->fd[0].kind)) {
		r = stdio_open_in(s, plan, loop, err);
	}
	if (r == 0)
		r = stdio_open_outputs(s, plan, options, loop, ret, err);
	for (int fd = 0; fd < 3; fd++)
		if (s->box[fd] == fd && s->fd[fd].kind == STDIO_PIPE)
			stdio_open_to_box(fd, plan);
	return r;
}

/* ---- the run ---- */

void stdio_started(struct stdio *s)
{
	if (s->merged)
		s->box[2] = -1;
	for (int fd = 0; fd < 3; fd++)
		if (s->box[fd] > 2)
			fd_close(&s->box[fd]);
}

void stdio_attach(struct stdio *s, int master, struct loop *loop,
		  const struct run_options *options, struct result *ret)
{
	s->master = master;
	fcntl(master, F_SETFL, O_RDWR | O_NONBLOCK);
	s->in = (struct relay){
		.to = { .fd = master },
		.to_end = RELAY_PLAIN,
		.to_master = true,
		.from_terminal = s->fd[0].kind == STDIO_TERMINAL,
	};
	s->in.from.fd = stdio_end(s, 0, O_RDONLY, &s->in.from_end);
	relay_start(&s->in, loop);
	s->out = (struct relay){
		.from = { .fd = master },
		.from_end = RELAY_PLAIN,
		.from_master = true,
		.to = { .fd = -1 },
		.budget = &s->budget,
	};
	if (options->capture)
		stdio_capture(&s->out, &ret->out, options);
	else
		s->out.to.fd = stdio_end(s, 1, O_WRONLY, &s->out.to_end);
	relay_start(&s->out, loop);
}

void stdio_resize(const struct stdio *s)
{
	struct winsize size = stdio_size(s);

	if (s->master >= 0 && size.ws_row)
		ioctl(s->master, TIOCSWINSZ, &size);
}

bool stdio_is_at_eof(const struct stdio *s)
{
	return s->master >= 0 && !s->in.from_terminal && s->in.eof &&
	       s->in.done;
}

void stdio_send_eof(struct stdio *s)
{
	struct termios mode;
	char eof = 4; /* ^D, where a program set none */

	if (tcgetattr(s->master, &mode) == 0 &&
	    mode.c_cc[VEOF] != _POSIX_VDISABLE)
		eof = (char)mode.c_cc[VEOF];
	/* A full pty has something left to read: told again later. */
	if (write(s->master, &eof, 1) < 0)
		return;
}

bool stdio_is_hung_up(const struct stdio *s)
{
	return s->master >= 0 &&
	       (s->out.done || (s->in.from_terminal && s->in.eof));
}

bool stdio_is_drained(const struct stdio *s)
{
	return s->out.done && s->err.done;
}

/* ---- the end ---- */

/*
 * The next reader of the caller's file goes on behind what the box has read.
 * The box may have written into its own stdin: never back beyond what we read.
 */
static void stdio_give_back(struct stdio *s)
{
	int unread = 0;

	if (s->in_pipe < 0)
		return;
	if (ioctl(s->in_pipe, FIONREAD, &unread) < 0 || unread < 0)
		unread = 0;
	uint64_t back = (uint64_t)unread + s->in.len;

	if (back > s->in.bytes)
		back = s->in.bytes;
	if (back)
		lseek(0, -(off_t)back, SEEK_CUR);
	fd_close(&s->in_pipe);
}

static void stdio_fill_stream(const struct relay *relay, bool known,
			      struct result_stream *stream)
{
	if (!known)
		return;
	stream->known = true;
	stream->bytes = relay->bytes;
	stream->cut = stream->cut || relay->lost;
}

void stdio_release(struct stdio *s, struct result *ret)
{
	stdio_started(s);
	relay_release(&s->in);
	stdio_give_back(s);
	relay_release(&s->out);
	relay_release(&s->err);
	fd_close(&s->master);
	s->error = s->out.error ? s->out.error : s->err.error;
	stdio_fill_stream(&s->out, s->out.budget != NULL, &ret->out);
	stdio_fill_stream(&s->err, s->err.budget != NULL, &ret->err);
	/* The box may have changed those of what it was handed. */
	for (int fd = 0; fd < 3; fd++)
		if (s->fd[fd].flags >= 0 &&
		    fcntl(fd, F_GETFL) != s->fd[fd].flags)
			fcntl(fd, F_SETFL, s->fd[fd].flags);
}
