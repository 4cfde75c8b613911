/* SPDX-License-Identifier: Apache-2.0 */
#include "super/caller.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/error.h"
#include "base/mem.h"
#include "sandbox/explain.h"

static bool signal_is_ignored(int signal)
{
	struct sigaction action;

	return sigaction(signal, NULL, &action) == 0 &&
	       action.sa_handler == SIG_IGN;
}

int caller_signals(struct error *err)
{
	static const int always[] = { SIGCONT, SIGWINCH, SIGUSR1, SIGUSR2 };
	static const int unless_ignored[] = { SIGTERM, SIGINT, SIGHUP, SIGQUIT,
					      SIGTSTP };
	sigset_t watched, blocked;

	sigemptyset(&watched);
	for (size_t i = 0; i < ARRAY_SIZE(always); i++)
		sigaddset(&watched, always[i]);
	for (size_t i = 0; i < ARRAY_SIZE(unless_ignored); i++)
		if (!signal_is_ignored(unless_ignored[i]))
			sigaddset(&watched, unless_ignored[i]);
	blocked = watched;
	sigaddset(&blocked, SIGTTIN);
	sigaddset(&blocked, SIGTTOU);
	sigprocmask(SIG_BLOCK, &blocked, NULL);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	/* Ignored, it would reap init before it could be waited for. */
	signal(SIGCHLD, SIG_DFL);

	int fd = signalfd(-1, &watched, SFD_CLOEXEC | SFD_NONBLOCK);

	if (fd < 0)
		return error_set(err, ERROR_HOST, errno, "signalfd");
	return fd;
}

int caller_watch(pid_t caller, struct error *err)
{
	if (caller <= 1)
		return -ENOENT;
	int fd = pidfd_open(caller, 0);
	int code = errno;

	/* Its number may be another process's by now. */
	if (getppid() != caller) {
		if (fd >= 0)
			close(fd);
		return -ESRCH;
	}
	if (fd >= 0)
		return fd;
	error_set(err, ERROR_HOST, code,
		  "watch the process that started llmbox");
	return explain_error(err);
}

void caller_stop(void)
{
	sigset_t stop;

	sigemptyset(&stop);
	sigaddset(&stop, SIGTSTP);
	raise(SIGTSTP);
	/* In an orphaned process group the kernel drops it (setpgid(2)). */
	sigprocmask(SIG_UNBLOCK, &stop, NULL);
	sigprocmask(SIG_BLOCK, &stop, NULL);
}

const char *signal_name(int signal)
{
	const char *name = sigabbrev_np(signal);

	return name ? name : "RT";
}
