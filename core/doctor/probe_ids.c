/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Probes: user namespaces, the ids in them, and the other kinds of namespaces.
 * They are made as outer and init make theirs (outer.c, setup_process.c): one
 * user namespace below another, with the maps of a run.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "base/fd.h"
#include "base/mem.h"
#include "doctor/probe_try.h"

static int become_root(void)
{
	if (syscall(SYS_setgroups, 0, NULL) < 0 ||
	    syscall(SYS_setresgid, 0, 0, 0) < 0 ||
	    syscall(SYS_setresuid, 0, 0, 0) < 0)
		return -errno;
	/* prctl(2): set*id cleared both. */
	if (prctl(PR_SET_DUMPABLE, 1) < 0 ||
	    prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
		return -errno;
	return 0;
}

static int join(int userns)
{
	if (setns(userns, CLONE_NEWUSER) < 0)
		return -errno;
	return become_root();
}

/* By whom the maps of several ids are given: a process that stays outside. */
static int give_maps(const struct probe_try *t, int go, struct error *err)
{
	pid_t pid = getppid();
	char byte;

	if (read(go, &byte, 1) != 1)
		return -EPIPE;
	return idmap_give(pid, &t->ids, err);
}

static pid_t start_giver(const struct probe_try *t, int go[2])
{
	struct error err = { 0 };
	pid_t pid = fork();

	if (pid != 0)
		return pid < 0 ? -errno : pid;
	close(go[1]);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	_exit(give_maps(t, go[0], &err) < 0 ? (err.code ? err.code : EPERM)
					    : 0);
}

static int be_mapped(const struct probe_try *t)
{
	int go[2], status;

	if (pipe2(go, O_CLOEXEC) < 0)
		return -errno;
	pid_t giver = start_giver(t, go);

	close(go[0]);
	int r = giver < 0 ? giver : unshare(CLONE_NEWUSER) < 0 ? -errno : 0;

	if (r == 0 && write(go[1], "", 1) != 1)
		r = -errno;
	close(go[1]);
	if (giver > 0 && waitpid(giver, &status, 0) == giver && r == 0 &&
	    status != 0)
		r = WIFEXITED(status) ? -WEXITSTATUS(status) : -EIO;
	return r == 0 ? become_root() : r;
}

static int enter(struct probe_try *t)
{
	if (t->ids.identity != IDENTITY_ONE)
		return be_mapped(t);
	return unshare(CLONE_NEWUSER) < 0 ? -errno : idmap_write_self(&t->ids);
}

int probe_enter(struct probe_try *t, int flags)
{
	struct error err = t->ids_error;
	int r = err.kind == ERROR_NONE ? enter(t) : -EINVAL;

	if (r == 0 && flags && unshare(flags) < 0) {
		r = -errno;
		probe_failed(t, -r, CURE_NONE, "make its namespaces");
		return r;
	}
	if (r == 0)
		return 0;
	if (err.kind == ERROR_NONE)
		explain_userns(-r, &err);
	probe_no(t, explain_userns_cure(-r), "%s%s%s", err.message,
		 err.code ? ": " : "", err.code ? strerror(err.code) : "");
	if (!t->ret->cure[0] && err.hint[0])
		probe_add_cure(t, "%s", err.hint);
	return r;
}

/*
 * An AppArmor profile may let user namespaces be made and then refuse every
 * right in them (apparmor_restrict_unprivileged_userns), so one is used.
 */
void probe_userns(struct probe_try *t)
{
	struct error err = { 0 };

	if (probe_enter(t, 0) < 0)
		return;
	if (unshare(CLONE_NEWNS) < 0 ||
	    mount("box", "/tmp", "tmpfs", 0, NULL) < 0) {
		probe_no(t, explain_userns_cure(errno),
			 "a user namespace is made, but may mount nothing: %s",
			 strerror(errno));
		return;
	}
	if (unshare(CLONE_NEWUSER) < 0) {
		int code = errno;

		explain_userns(code, &err);
		probe_no(t, explain_userns_cure(code),
			 "none can be made below another: %s: %s", err.message,
			 strerror(code));
		return;
	}
	probe_yes(t, "made, mapped, nested");
}

void probe_namespaces(struct probe_try *t)
{
	static const struct {
		const char *name, *setting;
		int flag;
	} kinds[] = {
		{ "mount", "mnt", CLONE_NEWNS },
		{ "network", "net", CLONE_NEWNET },
		{ "ipc", "ipc", CLONE_NEWIPC },
		{ "pid", "pid", CLONE_NEWPID },
		{ "uts", "uts", CLONE_NEWUTS },
		{ "cgroup", "cgroup", CLONE_NEWCGROUP },
	};

	if (probe_enter(t, 0) < 0)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (unshare(kinds[i].flag) == 0)
			continue;
		int code = errno;

		probe_failed(t, code, CURE_KERNEL, "%s namespace",
			     kinds[i].name);
		if (code != ENOSPC)
			return;
		t->ret->cure[0] = '\0';
		probe_add_cure(t,
			       "as root: sysctl user.max_%s_namespaces=15000",
			       kinds[i].setting);
		return;
	}
	probe_yes(t, "mount, network, ipc, pid, uts, cgroup");
}

/* ---- which ids ---- */

static void one_id(struct probe_try *t)
{
	const char *reason = t->ids.reason;
	struct error err = { 0 };
	struct idmap range;

	probe_soft(t, CURE_NONE, "one: %s",
		   reason && *reason ? reason : "only the caller's own id");
	/* Root of a user namespace has no range to get. */
	if (geteuid() != 0 &&
	    idmap_choose(IDENTITY_RANGE, 0, 0, &range, &err) < 0)
		probe_add_cure(t, "%s", err.hint);
}

void probe_identity(struct probe_try *t)
{
	const struct idmap *ids = &t->ids;
	uint32_t total = 0;

	if (ids->identity == IDENTITY_ONE) {
		one_id(t);
		return;
	}
	if (probe_enter(t, 0) < 0)
		return;
	for (unsigned i = 0; i < ids->uid_count; i++)
		total += ids->uid[i].count;
	probe_yes(t, "%s: %" PRIu32 " ids, from %" PRIu32 " on",
		  identity_name(ids->identity), total,
		  ids->uid[ids->uid_count - 1].outside);
}

/* ---- the bound on processes ---- */

enum { PIDS_BOUND = 12, PIDS_TRIED = 10, PIDS_LEADERS = 3 };

/* Forks up to so many that stay, and tells each by a byte. */
static void fork_many(int count, int told)
{
	for (int i = 0; i < count; i++) {
		pid_t pid = fork();

		if (pid < 0 || (pid > 0 && write(told, "", 1) != 1))
			return;
		if (pid == 0)
			for (;;)
				pause();
	}
}

/* A process with each of several ids forks; all of them are of one box. */
static void fork_by_ids(unsigned ids, int told)
{
	for (unsigned id = 1; id <= ids; id++) {
		pid_t pid = fork();

		if (pid < 0)
			return;
		if (pid > 0) {
			probe_child_succeeded(pid);
			continue;
		}
		if (syscall(SYS_setresuid, id, id, id) == 0)
			fork_many(PIDS_TRIED, told);
		_exit(0);
	}
}

static int count_forks(bool several)
{
	char bytes[256];
	int told[2], total = 0;

	if (pipe2(told, O_CLOEXEC | O_NONBLOCK) < 0)
		return -errno;
	if (several)
		fork_by_ids(PIDS_LEADERS, told[1]);
	else
		fork_many(PIDS_LEADERS * PIDS_TRIED, told[1]);
	for (;;) {
		ssize_t n = read(told[0], bytes, sizeof(bytes));

		if (n <= 0)
			return total;
		total += (int)n;
	}
}

/*
 * A user namespace takes RLIMIT_NPROC at its creation as the bound of all its
 * ids together, since Linux 5.14; before, it bounds what an id of the host has
 * anywhere.
 */
void probe_pids(struct probe_try *t)
{
	struct rlimit bound = { PIDS_BOUND, PIDS_BOUND };
	bool several = t->ids.identity != IDENTITY_ONE;
	/* Ids of the namespace above; root's may be a range of its own there
	 * (user_namespaces(7): each line is within one of the parent's). */
	struct idmap below = {
		.identity = IDENTITY_SHIFTED,
		.uid = { { 0, 0, 1 }, { 1, 1, PIDS_LEADERS } },
		.gid = { { 0, 0, 1 }, { 1, 1, PIDS_LEADERS } },
		.uid_count = several ? 2 : 1,
		.gid_count = several ? 2 : 1,
	};

	if (probe_enter(t, 0) < 0)
		return;
	/* The process that holds the new namespace is one more. */
	if (setrlimit(RLIMIT_NPROC, &bound) < 0) {
		probe_failed(t, errno, CURE_NONE, "RLIMIT_NPROC");
		return;
	}
	int r = 0;

	if (!several) {
		r = unshare(CLONE_NEWUSER) < 0 ? -errno
					       : idmap_write(0, &below);
	} else {
		struct error err = { 0 };
		auto_close int userns = idmap_userns(&below, &err);

		r = userns < 0 ? userns : join(userns);
	}
	int forks = r < 0 ? r : count_forks(several);

	if (forks < 0)
		probe_failed(t, -forks, CURE_NONE, "a bounded namespace");
	else if (forks > PIDS_BOUND)
		probe_soft(t, CURE_KERNEL, "each id has a bound of its own");
	else if (forks == 0)
		probe_soft(t, CURE_KERNEL,
			   "what runs outside under this id counts too");
	else
		probe_yes(t, "a bound on all ids of a box together");
}
