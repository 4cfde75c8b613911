/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The supervisor against boxes that do what a real one seldom does: break, say
 * things twice, ignore every signal. Below, box_start and the others are this
 * file's own: init is a child that plays a script, and shared memory tells what
 * the supervisor did to it.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "base/fd.h"
#include "sandbox/plan.h"
#include "super/report.h"
#include "super/run.h"
#include "tap.h"

/* A script is a string of these letters. */
enum step {
	STEP_STARTED = 'S',
	STEP_PTY = 'P',     /* started, with a pty nobody asked for */
	STEP_REFUSED = 'R', /* set-up failed */
	STEP_NOT_FOUND = 'N',
	STEP_EXIT = 'E',   /* exited with the case's status */
	STEP_WAIT = 'W',   /* until TERM, INT or HUP comes */
	STEP_DEAF = 'D',   /* for ever, whatever comes */
	STEP_PARENT = 'T', /* TERM to the supervisor, twice */
	STEP_HANGUP = 'H', /* HUP to the supervisor */
};

struct shared {
	pid_t supervisor;
	int signals[16];
	size_t signal_count;
	bool killed; /* by box_kill */
	enum outcome outcome;
	int ret, exit_code, signal;
	char message[256], limits[64];
};

struct script {
	const char *steps;
	int status;
	bool disk_full;
	int64_t time, cpu_time;
	bool ignore_hangup;
};

static struct shared *shared;
static const struct script *script;

struct message {
	enum box_event_type type;
	bool pty;
};

static void init_tell(int fd, enum box_event_type type, bool pty)
{
	struct message m = { .type = type, .pty = pty };

	if (send(fd, &m, sizeof(m), MSG_NOSIGNAL) < 0)
		_exit(1);
}

/* Notes a signal from box_signal; false at the end of the supervisor. USR1 is
 * init_meet's. */
static bool init_hear(int fd, int *ret)
{
	do
		if (recv(fd, ret, sizeof(*ret), 0) != sizeof(*ret))
			return false;
	while (*ret == SIGUSR1);
	if (shared->signal_count < 16)
		shared->signals[shared->signal_count++] = *ret;
	return true;
}

/* A signal to the supervisor, but to nobody who took its place. */
static void init_ask(int signal)
{
	if (getppid() != shared->supervisor || kill(getppid(), signal) < 0)
		_exit(1);
}

/* Until the supervisor has seen that the command runs: only then does it pass
 * on USR1. */
static void init_meet(int fd)
{
	struct pollfd polled = { .fd = fd, .events = POLLIN };
	int heard = 0;

	while (heard != SIGUSR1) {
		init_ask(SIGUSR1);
		if (poll(&polled, 1, 10) == 1 &&
		    recv(fd, &heard, sizeof(heard), 0) != sizeof(heard))
			_exit(1);
	}
}

static void init_step(int fd, char step)
{
	int heard;

	switch (step) {
	case STEP_STARTED:
	case STEP_PTY:
		init_tell(fd, BOX_STARTED, step == STEP_PTY);
		break;
	case STEP_REFUSED:
		init_tell(fd, BOX_SETUP_FAILED, false);
		break;
	case STEP_NOT_FOUND:
		init_tell(fd, BOX_EXEC_FAILED, false);
		break;
	case STEP_EXIT:
		init_tell(fd, BOX_EXITED, false);
		break;
	case STEP_WAIT:
		while (init_hear(fd, &heard) && heard == SIGCONT)
			;
		break;
	case STEP_DEAF:
		while (init_hear(fd, &heard))
			;
		break;
	case STEP_PARENT:
		init_meet(fd);
		init_ask(SIGTERM);
		init_hear(fd, &heard);
		init_ask(SIGTERM);
		break;
	case STEP_HANGUP:
		init_meet(fd);
		init_ask(SIGHUP);
		break;
	}
}

int box_start(const struct plan *plan, const int stdio[3], struct box *ret,
	      struct error *err)
{
	int ends[2];

	(void)plan;
	(void)stdio;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		return error_set(err, ERROR_HOST, errno, "socketpair");
	pid_t pid = fork();

	if (pid < 0)
		return error_set(err, ERROR_HOST, errno, "fork");
	if (pid == 0) {
		close(ends[0]);
		for (const char *s = script->steps; *s; s++)
			init_step(ends[1], *s);
		_exit(0);
	}
	close(ends[1]);
	*ret = (struct box){ .init = pid, .pidfd = -1, .socket = ends[0] };
	return 0;
}

int box_next(struct box *box, struct box_event *ret, struct error *err)
{
	struct message m;
	ssize_t n;

	*ret = (struct box_event){ .type = BOX_GONE, .pty = -1 };
	/* Once, where init left requests unread; what it said comes then. */
	do
		n = recv(box->socket, &m, sizeof(m), 0);
	while (n < 0 && errno == ECONNRESET);
	if (n != sizeof(m))
		return 0;
	ret->type = m.type;
	ret->status = script->status;
	ret->disk_full = script->disk_full;
	if (m.pty)
		ret->pty = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (m.type == BOX_SETUP_FAILED)
		error_set(err, ERROR_HOST, EPERM, "mount proc");
	if (m.type == BOX_EXEC_FAILED)
		error_set(err, ERROR_EXEC, ENOENT, "execute nothere");
	return 0;
}

void box_signal(struct box *box, int signal)
{
	send(box->socket, &signal, sizeof(signal), MSG_NOSIGNAL);
}

void box_kill(struct box *box)
{
	shared->killed = true;
	kill(box->init, SIGKILL);
}

void box_release(struct box *box)
{
	if (box->init) {
		kill(box->init, SIGKILL);
		waitpid(box->init, NULL, 0);
	}
	fd_close(&box->socket);
	*box = (struct box)BOX_INIT;
}

/* ---- a run, in a process of its own ---- */

static void supervise(void)
{
	struct run_options options = { .tty = RUN_TTY_NEVER,
				       .caller = getppid() };

	shared->supervisor = getpid();
	struct plan plan = { 0 };
	struct error err = { 0 };
	auto_result r = { 0 };

	plan.limits = (struct plan_limits){ .time = script->time,
					    .lifetime = LIMIT_NONE,
					    .cpu_time = script->cpu_time,
					    .output = LIMIT_NONE,
					    .disk = 1 << 20 };
	if (script->ignore_hangup)
		signal(SIGHUP, SIG_IGN);
	shared->ret = run_box(&plan, &options, &r, &err);
	shared->outcome = r.outcome;
	shared->exit_code = r.exit_code;
	shared->signal = r.signal;
	snprintf(shared->message, sizeof(shared->message), "%s",
		 r.message ? r.message : "");
	for (size_t i = 0; i < r.limits_hit.count; i++)
		snprintf(shared->limits, sizeof(shared->limits), "%s",
			 r.limits_hit.items[i]);
}

static void run_script(const struct script *s)
{
	memset(shared, 0, sizeof(*shared));
	script = s;
	fflush(stdout);
	pid_t pid = fork();

	if (pid == 0) {
		supervise();
		_exit(0);
	}
	int status = -1;

	waitpid(pid, &status, 0);
	is_int(status, 0, "%s: the supervisor comes to its end", s->steps);
}

static void expect(const struct script *s, enum outcome outcome, int exit_code,
		   const char *message)
{
	run_script(s);
	is_str(outcome_name(shared->outcome), outcome_name(outcome),
	       "%s: outcome", s->steps);
	is_int(shared->exit_code, exit_code, "%s: exit code", s->steps);
	is_str(shared->message, message, "%s: message", s->steps);
}

#define NO_LIMITS .time = LIMIT_NONE, .cpu_time = LIMIT_NONE

static void test_ends(void)
{
	expect(&(struct script){ "SE", 7 << 8, NO_LIMITS }, OUTCOME_EXITED, 7,
	       "");
	is_int(shared->ret, 0, "a command that ran is no error");
	expect(&(struct script){ "SE", SIGSEGV, NO_LIMITS }, OUTCOME_SIGNALED,
	       128 + SIGSEGV, "");
	is_int(shared->signal, SIGSEGV, "its signal");
	expect(&(struct script){ "R", 0, NO_LIMITS }, OUTCOME_SETUP, 125,
	       "mount proc: Operation not permitted");
	is_int(shared->ret, -EPERM, "no command ran: an error");
	expect(&(struct script){ "SN", 0, NO_LIMITS }, OUTCOME_SETUP, 127,
	       "execute nothere");
}

static void test_broken(void)
{
	static const char *const scripts[] = { "", "S", "SS", "P", "SSE" };

	for (size_t i = 0; i < sizeof(scripts) / sizeof(*scripts); i++)
		expect(&(struct script){ scripts[i], 0, NO_LIMITS },
		       OUTCOME_SETUP, 125,
		       "the box broke: init ended without a word");
}

static void test_disk(void)
{
	struct script s = { "SE", 1 << 8, .disk_full = true, NO_LIMITS };

	expect(&s, OUTCOME_EXITED, 1, "disk 1m is full (--disk)");
	is_str(shared->limits, "disk", "a full disk of a failure is told");
	s.status = 0;
	expect(&s, OUTCOME_EXITED, 0, "");
	is_str(shared->limits, "", "a full disk of a success is not");
}

static void test_cpu_time(void)
{
	struct script s = { "SE", SIGXCPU, .time = LIMIT_NONE,
			    .cpu_time = 60000 };

	expect(&s, OUTCOME_CPU_TIME, 124, "cpu_time 1m reached (--cpu-time)");
	s.status = SIGKILL; /* without so much time used */
	expect(&s, OUTCOME_SIGNALED, 137, "");
}

static void test_time(void)
{
	struct script s = { "SWE", SIGTERM, .time = 50,
			    .cpu_time = LIMIT_NONE };

	expect(&s, OUTCOME_TIME, 124, "time 50ms reached (--timeout)");
	is_int(shared->signals[0], SIGTERM, "TERM comes first");
	ok(!shared->killed, "who obeys is not killed");
	s.status = 0;
	expect(&s, OUTCOME_TIME, 124, "time 50ms reached (--timeout)");
	s.steps = "SD";
	expect(&s, OUTCOME_TIME, 124, "time 50ms reached (--timeout)");
	is_int((int)shared->signal_count, 3, "three signals");
	is_int(shared->signals[0], SIGTERM, "TERM");
	is_int(shared->signals[1], SIGCONT, "CONT, for what is stopped");
	is_int(shared->signals[2], SIGKILL, "KILL, after the grace");
	ok(shared->killed, "init does not answer: it is killed itself");
	is_int(shared->signal, SIGKILL, "the command's signal");
}

static void test_signals(void)
{
	struct script s = { "STWE", SIGTERM, NO_LIMITS };

	s.steps = "STE";
	expect(&s, OUTCOME_CANCELLED, 143, "cancelled by SIGTERM");
	ok(!shared->killed, "one request, sent twice, is one");
	s = (struct script){ "SHWE", 0, NO_LIMITS };
	expect(&s, OUTCOME_CANCELLED, 129, "cancelled by SIGHUP");
	s = (struct script){ "SHE", 0, NO_LIMITS, .ignore_hangup = true };
	expect(&s, OUTCOME_EXITED, 0, "");
	is_int((int)shared->signal_count, 0, "an ignored HUP stays ignored");
}

int main(void)
{
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		return 1;
	test_ends();
	test_broken();
	test_disk();
	test_cpu_time();
	test_time();
	test_signals();
	return done_testing();
}
