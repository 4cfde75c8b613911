/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Init: pid 1 of the box, in the user namespace U2. Sets the box up, step by
 * step, starts the command, reaps, and ends everything when the command has
 * ended. Its end is the end of every process of the box (pid_namespaces(7)).
 *
 * It trusts the plan and the supervisor, and nothing in the box: it follows no
 * path that the box may have changed, never waits for a process of the box, and
 * has no limit or filter of the policy on itself.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "sandbox/notify.h"
#include "sandbox/setup.h"

/*
 * The order matters (core/README): sources as the caller, before the host's
 * paths are covered, ids before the death signal, /proc/sys written before it
 * is read-only, all that needs the host's /dev and /tmp before pivot_root,
 * rights last.
 */
static const struct {
	const char *name;
	setup_step *run;
} init_steps[] = {
	{ "id maps", setup_maps },
	{ "descriptors", setup_descriptors },
	{ "sources", setup_sources },
	{ "ids", setup_ids },
	{ "parent", setup_parent },
	{ "scratch", setup_scratch },
	{ "files", setup_made },
	{ "root", setup_root },
	{ "host view", setup_host_view },
	{ "proc", setup_proc },
	{ "proc masks", setup_masks },
	{ "dev", setup_dev },
	{ "devpts", setup_devpts },
	{ "tmp", setup_writable },
	{ "sys", setup_sys },
	{ "volumes", setup_volumes },
	{ "protect", setup_protect },
	{ "workdir", setup_workdir },
	{ "pivot", setup_pivot },
	{ "hostname", setup_names },
	{ "keyring", setup_keyring },
	{ "capabilities", setup_bounding },
	{ "landlock", setup_landlock },
	{ "filter", setup_filter },
};

static void tell_failure(struct setup *s, const char *step, int code)
{
	struct message m = { .type = MESSAGE_SETUP_FAILED, .code = code };

	if (s->detail[0])
		snprintf(m.text, sizeof(m.text), "%s: %s", step, s->detail);
	else
		snprintf(m.text, sizeof(m.text), "%s", step);
	message_send(s->socket, &m, NULL, 0);
	_exit(1);
}

static void set_up(struct setup *s)
{
	umask(0);
	for (size_t i = 0; i < ARRAY_SIZE(init_steps); i++) {
		int r = init_steps[i].run(s);

		if (r < 0)
			tell_failure(s, init_steps[i].name, -r);
		s->detail[0] = '\0';
	}
}

/* ---- the command ---- */

/* By the kept root of devpts and TIOCGPTPEER (ioctl_tty(2)): no path of the box
 * is followed. */
static int open_pty(struct setup *s, int *ret_peer)
{
	const struct command *c = &s->plan->command;
	struct winsize size = c->size;
	int unlock = 0;
	auto_close int master =
		openat(s->devpts, "ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC);

	if (master < 0 || ioctl(master, TIOCSPTLCK, &unlock) < 0)
		return -errno;
	auto_close int peer =
		ioctl(master, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);

	if (peer < 0)
		return -errno;
	if (!size.ws_row || !size.ws_col)
		size = (struct winsize){ .ws_row = 24, .ws_col = 80 };
	if (ioctl(master, TIOCSWINSZ, &size) < 0)
		return -errno;
	*ret_peer = fd_take(peer);
	return fd_take(master);
}

static void tell_exec_failure(struct setup *s)
{
	struct message m = {
		.type = s->shared->exec_setup ? MESSAGE_SETUP_FAILED
					      : MESSAGE_EXEC_FAILED,
		.code = s->shared->exec_failed,
	};

	memcpy(m.text, s->shared->exec_reason, sizeof(m.text));
	m.text[sizeof(m.text) - 1] = '\0';
	message_send(s->socket, &m, NULL, 0);
	_exit(1);
}

/* The command's descriptors are its own: who waits for their end must not wait
 * for init. */
static void let_go(struct setup *s)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (int i = 0; i < 3; i++) {
		if (s->stdio[i] > 2)
			close(s->stdio[i]);
		s->stdio[i] = -1;
		if (null < 0)
			close(i);
		else if (null != i)
			dup2(null, i);
	}
	if (null > 2)
		close(null);
}

/* Sent before the exec. End of file: the command had none to send. */
static int take_listener(struct setup *s)
{
	struct message m;
	unsigned count = 0;
	int listener = -1;

	fd_close(&s->listener[1]);
	if (s->listener[0] >= 0)
		message_receive(s->listener[0], &m, &listener, 1, &count);
	fd_close(&s->listener[0]);
	return count ? listener : -1;
}

/*
 * By vfork(2): no copy, and an exec that failed is known at once. It holds init
 * until then, and a box root could stop the child and with it init for good: so
 * only for the first command, while nobody is in the box yet.
 */
static pid_t start_command(struct setup *s, int *ret_listener)
{
	struct message m = { .type = MESSAGE_STARTED };
	struct command_memory *memory = command_memory_new(s->plan);
	int stdio[3] = { s->stdio[0], s->stdio[1], s->stdio[2] };
	int master = -1, peer = -1;

	if (s->plan->command.pty) {
		master = open_pty(s, &peer);
		if (master < 0)
			tell_failure(s, "pty", -master);
		for (int i = 0; i < 3; i++)
			if (stdio[i] < 0)
				stdio[i] = peer;
	}
	if (s->plan->writable_volumes &&
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, s->listener))
		tell_failure(s, "command: socket pair", errno);
	pid_t pid = vfork();

	if (pid == 0)
		command_main(s, stdio, memory);
	if (pid < 0)
		tell_failure(s, "command: fork", errno);
	if (s->shared->exec_failed)
		tell_exec_failure(s);
	*ret_listener = take_listener(s);
	let_go(s);
	fd_close(&peer);
	message_send(s->socket, &m, &master, master >= 0);
	fd_close(&master);
	return pid;
}

/* ---- the end ---- */

static void end_all(void)
{
	/* kill(2): every process of the namespace but init itself. Again, since
	 * a process may have forked meanwhile. */
	do
		kill(-1, SIGKILL);
	while (waitpid(-1, NULL, 0) > 0 || errno == EINTR);
}

static bool is_full(int fd)
{
	struct statfs st;

	return fd >= 0 && fstatfs(fd, &st) == 0 &&
	       ((st.f_blocks && st.f_bavail == 0) ||
		(st.f_files && st.f_ffree == 0));
}

static void finish(struct setup *s, int status)
{
	struct message m = { .type = MESSAGE_EXITED, .value = status };

	/* Before the caller is told: who sees the exit sees an empty box. */
	end_all();
	getrusage(RUSAGE_CHILDREN, &m.usage);
	m.disk_full = is_full(s->scratch);
	if (s->plan->count_changes && s->upper >= 0)
		changes_count(s->upper, s->lower, &m.root);
	if (s->project_upper >= 0)
		changes_count(s->project_upper, s->project_lower, &m.project);
	message_send(s->socket, &m, NULL, 0);
	_exit(0);
}

/* ---- running ---- */

static void reap(struct setup *s, pid_t command)
{
	int status, command_status = -1;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
		if (pid == command)
			command_status = status;
	if (command_status != -1)
		finish(s, command_status);
}

static void on_message(struct setup *s)
{
	struct message m;
	unsigned count;

	/* End of the socket: no supervisor, no box. */
	if (message_receive(s->socket, &m, NULL, 0, &count) <= 0)
		_exit(1);
	if (m.type == MESSAGE_SIGNAL && m.value > 0 && m.value < NSIG)
		kill(-1, m.value);
}

static void on_child(int signal)
{
	(void)signal;
}

/*
 * The first call that the filter hands over: from now on the notifier has the
 * listener, and it alone. If it can't be made or ends, such calls fail
 * (ENOSYS).
 */
static void start_notifier(struct setup *s, int *listener)
{
	if (fork() == 0)
		notify_main(s, *listener);
	fd_close(listener);
}

static void run(struct setup *s, pid_t command, int listener)
{
	struct pollfd events[] = {
		{ .fd = s->socket, .events = POLLIN },
		{ .fd = listener, .events = POLLIN },
	};
	sigset_t open_mask;

	/* All is blocked but here, SIGCHLD and nothing else is let in: none is
	 * lost between reap and wait. */
	sigfillset(&open_mask);
	sigdelset(&open_mask, SIGCHLD);
	for (;;) {
		reap(s, command);
		if (ppoll(events, ARRAY_SIZE(events), NULL, &open_mask) <= 0)
			continue;
		if (events[0].revents)
			on_message(s);
		if (events[1].revents & POLLIN)
			start_notifier(s, &events[1].fd);
		else if (events[1].revents)
			fd_close(&events[1].fd); /* nobody can call any more */
	}
}

/*
 * What the caller ignores (nohup, a shell's background job) is not the box's.
 * Raw, since the C library keeps its own real-time signals from being set.
 */
static void reset_signals(void)
{
	struct {
		void (*handler)(int);
		unsigned long flags;
		void (*restorer)(void);
		uint64_t mask;
	} action = { .handler = SIG_DFL };

	for (int i = 1; i < NSIG; i++)
		syscall(SYS_rt_sigaction, i, &action, NULL,
			sizeof(action.mask));
}

void init_main(struct setup *s)
{
	struct sigaction action = { .sa_handler = on_child };
	int listener = -1;
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	reset_signals();
	sigaction(SIGCHLD, &action, NULL);
	set_up(s);
	pid_t command = start_command(s, &listener);

	run(s, command, listener);
	_exit(1);
}
