/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of probes and how they are run: each in a child that leads a
 * process group, with a shared page for its answer. When it ends, or
 * hangs, all of its group is killed. A probe
 * trusts the host, as a run does; what it makes has names of this process alone
 * and is taken away here too, should it have been killed before it did.
 */
#include "doctor/probe.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/fd.h"
#include "base/mem.h"
#include "doctor/probe_try.h"

/* Far more than any of them takes on a busy machine. */
enum { PROBE_TIMEOUT_MS = 10000, PROBE_END_MS = 1000 };

#define NO_BOX   "no box can be made"
#define NO_IMAGE "no -r, no -C with its default"

static const struct probe probes[] = {
	{ "user_namespaces", "user namespaces", NO_BOX, .needed = true,
	  .run = probe_userns },
	{ "namespaces", "other namespaces", NO_BOX, .needed = true,
	  .inside = true, .run = probe_namespaces },
	{ "identity", "user ids",
	  "one id: accounts of packages are emulated, privilege drops are not "
	  "real",
	  .inside = true, .run = probe_identity },
	{ "pidfd", "process descriptors", NO_BOX, .needed = true,
	  .run = probe_pidfd },
	{ "mounts", "mount API", NO_BOX, .needed = true, .inside = true,
	  .run = probe_mounts },
	{ "proc", "/proc", NO_BOX, .needed = true, .inside = true,
	  .run = probe_proc },
	{ "sysfs", "/sys", "it is empty in a box", .inside = true,
	  .run = probe_sysfs },
	{ "devpts", "terminals", NO_BOX, .needed = true, .inside = true,
	  .run = probe_devpts },
	{ "tmpfs", "sized tmpfs", "the limits on disk and inodes",
	  .needed = true, .inside = true, .run = probe_tmpfs },
	{ "loopback", "loopback network", NO_BOX, .needed = true,
	  .inside = true, .run = probe_loopback },
	{ "seccomp", "system-call filter", NO_BOX, .needed = true,
	  .run = probe_filter },
	{ "keyring", "session keyring", NO_BOX, .needed = true,
	  .run = probe_keyring },
	{ "seccomp_notify", "calls handed over",
	  "no call that may set set-id bits on a writable volume",
	  .run = probe_notify },
	{ "landlock", "Landlock",
	  "--network host reaches abstract sockets "
	  "(--best-effort network)",
	  .run = probe_landlock },
	{ "pids", "process limit", "--pids-limit bounds each id by itself",
	  .inside = true, .run = probe_pids },
	{ "cgroup", "control groups", "-m and --cpus can't be held",
	  .run = probe_cgroup },
	{ "limits", "limits of a run",
	  "one that is asked for and not held is refused, see --best-effort",
	  .inside = true, .run = probe_limits },
	{ "store", "store", NO_IMAGE, .run = probe_store },
	{ "openat2", "paths", "no image is unpacked, no volume mounted",
	  .run = probe_openat2 },
	{ "overlay", "overlay in memory", "writes go to disk: --disk is soft",
	  .inside = true, .run = probe_overlay },
	{ "overlay_disk", "overlay on disk", "--writes disk", .inside = true,
	  .run = probe_overlay_disk },
	{ "idmapped_mounts", "idmapped mounts",
	  "images are unpacked with shifted owners; no -r DIR, no volumes",
	  .inside = true, .run = probe_idmapped },
	{ "ping", "ping", "ping needs a raw socket, which a box has not",
	  .inside = true, .run = probe_ping },
	{ "relay", "nft and TPROXY", "--network allowlist", .inside = true,
	  .run = probe_relay },
	{ "image", "a box with an image", NO_IMAGE, .inside = true,
	  .run = probe_image },
	{ "box", "a box", NO_BOX, .needed = true, .run = probe_box },
};

const struct probe *probe_table(size_t index)
{
	return index < ARRAY_SIZE(probes) ? &probes[index] : NULL;
}

const char *probe_state_name(enum probe_state state)
{
	static const char *const names[] = {
		[PROBE_YES] = "yes",         [PROBE_SOFT] = "soft",
		[PROBE_NO] = "no",           [PROBE_UNTRIED] = "untried",
		[PROBE_OMITTED] = "omitted",
	};

	return names[state];
}

/* ---- answers ---- */

static void __attribute__((format(printf, 4, 0)))
set_answer(struct probe_try *t, enum probe_state state, enum cure cure,
	   const char *format, va_list args)
{
	struct probe_result *ret = t->ret;

	vsnprintf(ret->detail, sizeof(ret->detail), format, args);
	ret->cure[0] = '\0';
	if (cure == CURE_APPARMOR_USERNS) {
		auto_buf profile = { 0 };

		explain_profile(t->in->binary, &profile);
		probe_add_cure(t, "as root: cat >/etc/apparmor.d/llmbox "
				  "<<'END'");
		probe_add_cure(t, "%sEND", profile.data);
		probe_add_cure(t, "as root: apparmor_parser -r "
				  "/etc/apparmor.d/llmbox");
	} else if (cure != CURE_NONE) {
		probe_add_cure(t, "%s", explain_cure(cure));
	}
	ret->state = state;
}

void probe_yes(struct probe_try *t, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	set_answer(t, PROBE_YES, CURE_NONE, format, args);
	va_end(args);
}

void probe_soft(struct probe_try *t, enum cure cure, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	set_answer(t, PROBE_SOFT, cure, format, args);
	va_end(args);
}

void probe_no(struct probe_try *t, enum cure cure, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	set_answer(t, PROBE_NO, cure, format, args);
	va_end(args);
}

void probe_failed(struct probe_try *t, int code, enum cure otherwise,
		  const char *format, ...)
{
	char what[128];
	va_list args;

	va_start(args, format);
	vsnprintf(what, sizeof(what), format, args);
	va_end(args);
	probe_no(t, explain_call(code, otherwise), "%s: %s", what,
		 strerror(code));
}

void probe_add_cure(struct probe_try *t, const char *format, ...)
{
	char *cure = t->ret->cure;
	size_t len = strlen(cure);
	va_list args;

	if (len && len + 1 < PROBE_CURE_MAX)
		cure[len++] = '\n';
	va_start(args, format);
	vsnprintf(cure + len, PROBE_CURE_MAX - len, format, args);
	va_end(args);
}

bool probe_child_succeeded(int pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return false;
	return status == 0;
}

/* ---- running one ---- */

static void __attribute__((noreturn))
child_main(const struct probe *p, struct probe_try *t, pid_t parent)
{
	sigset_t none;

	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	for (int i = 1; i < NSIG; i++)
		signal(i, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	p->run(t);
	_exit(0);
}

/* All of the group: children that outlived the probe are ours by
 * PR_SET_CHILD_SUBREAPER. One that no signal can end is left after a while. */
static void end_group(pid_t group)
{
	for (int ms = 0; ms < PROBE_END_MS; ms++) {
		kill(-group, SIGKILL);
		pid_t pid = waitpid(-group, NULL, WNOHANG);

		if (pid < 0 && errno == ECHILD)
			return;
		if (pid == 0)
			poll(NULL, 0, 1);
	}
}

/* Ended, but not reaped: as long as it is there, its number and its group's
 * belong to nobody else. */
static bool has_ended(pid_t pid)
{
	siginfo_t info = { .si_pid = 0 };

	return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) <
		       0 ||
	       info.si_pid == pid;
}

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* SIGCHLD is blocked, so that none is lost between look and wait. */
static bool ends_in_time(pid_t pid)
{
	int64_t end = now_ms() + PROBE_TIMEOUT_MS;
	sigset_t child;

	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	while (!has_ended(pid)) {
		int64_t left = end - now_ms();
		struct timespec wait = { .tv_sec = left / 1000,
					 .tv_nsec = left % 1000 * 1000000 };

		if (left <= 0)
			return false;
		sigtimedwait(&child, NULL, &wait);
	}
	return true;
}

static void run_child(const struct probe *p, struct probe_try *t)
{
	pid_t parent = getpid();

	probe_no(t, CURE_NONE, "the probe ended early");
	pid_t pid = fork();

	if (pid == 0)
		child_main(p, t, parent);
	if (pid < 0) {
		probe_failed(t, errno, CURE_NONE, "fork");
		return;
	}
	setpgid(pid, pid);
	if (!ends_in_time(pid))
		probe_no(t, CURE_NONE, "still not done after %d s",
			 PROBE_TIMEOUT_MS / 1000);
	end_group(pid);
}

static void run_one(const struct probe *p, struct probe_try *t, bool inside)
{
	*t->ret = (struct probe_result){ .state = PROBE_UNTRIED };
	if (p->inside && !inside) {
		snprintf(t->ret->detail, sizeof(t->ret->detail),
			 "not tried without user namespaces");
		return;
	}
	run_child(p, t);
}

/* ---- running all ---- */

static size_t run_table(struct probe_try *t, struct probe_result *results,
			bool *ret_ok)
{
	bool inside = true;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(probes); i++) {
		const struct probe *p = &probes[i];

		run_one(p, t, inside);
		results[i] = *t->ret;
		if (p->run == probe_userns && results[i].state == PROBE_NO)
			inside = false;
		if (p->needed && results[i].state == PROBE_NO)
			*ret_ok = false;
	}
	return i;
}

size_t probe_all(const struct probe_input *in, struct probe_result *ret_results,
		 bool *ret_ok)
{
	struct probe_result *shared =
		mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct probe_try t = { .in = in, .ret = shared };
	struct sigaction child = { .sa_handler = SIG_DFL }, child_before;
	sigset_t held, before;
	int reaper = 0;

	*ret_ok = shared != MAP_FAILED;
	if (!*ret_ok)
		return 0;
	/* For ends_in_time(): as if the caller had none of its own ways. */
	sigemptyset(&held);
	sigaddset(&held, SIGCHLD);
	sigaction(SIGCHLD, &child, &child_before);
	sigprocmask(SIG_BLOCK, &held, &before);
	prctl(PR_GET_CHILD_SUBREAPER, &reaper);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	(void)idmap_choose(IDENTITY_AUTO, 0, 0, &t.ids, &t.ids_error);
	snprintf(t.mark, sizeof(t.mark), "llmbox-doctor.%d", getpid());
	size_t count = run_table(&t, ret_results, ret_ok);

	probe_cgroup_clean(&t);
	prctl(PR_SET_CHILD_SUBREAPER, reaper);
	sigaction(SIGCHLD, &child_before, NULL);
	sigprocmask(SIG_SETMASK, &before, NULL);
	munmap(shared, sizeof(*shared));
	return count;
}
_Static_assert(ARRAY_SIZE(probes) <= PROBES_MAX, "PROBES_MAX");
