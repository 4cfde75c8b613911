/* SPDX-License-Identifier: Apache-2.0 */
/*
 * First what each row can be held by, then the process limits that follow. Only
 * the policy and the caller's own limits are looked at.
 */
#include "sandbox/limits.h"

#include <errno.h>
#include <linux/keyctl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/error.h"
#include "base/mem.h"
#include "sandbox/landlock.h"
#include "sandbox/plan.h"

/* How a row of the table can be held in this box. */
struct means {
	const char *name; /* NULL: not at all */
	bool soft;
};

struct guarantee_row {
	const char *name;
	const char *field; /* of the policy, where it is a limit */
	const char *option;
	struct means (*hold)(const struct policy *p, const struct plan *plan);
};

/* ---- the means ---- */

static struct means hold_supervisor(const struct policy *p,
				    const struct plan *plan)
{
	(void)p;
	(void)plan;
	return (struct means){ "supervisor", false };
}

static struct means hold_rlimit(const struct policy *p, const struct plan *plan)
{
	(void)p;
	(void)plan;
	return (struct means){ "rlimit", false };
}

/* getrlimit(2): RLIMIT_CPU is of each process, not of all together. */
static struct means hold_cpu_time(const struct policy *p,
				  const struct plan *plan)
{
	(void)p;
	(void)plan;
	return (struct means){ "rlimit", true };
}

/* A bound on all ids together: see outer.c. */
static struct means hold_pids(const struct policy *p, const struct plan *plan)
{
	(void)p;
	(void)plan;
	return (struct means){ "rlimit", false };
}

static struct means hold_disk(const struct policy *p, const struct plan *plan)
{
	(void)p;
	/* On disk only single files are bounded, by RLIMIT_FSIZE. */
	if (plan->root.disk)
		return (struct means){ "rlimit", true };
	return (struct means){ "tmpfs", false };
}

static struct means hold_inodes(const struct policy *p, const struct plan *plan)
{
	(void)p;
	if (plan->root.disk)
		return (struct means){ NULL, false };
	return (struct means){ "tmpfs", false };
}

/* Only control groups count what a tree of processes uses together. */
static struct means hold_cgroup(const struct policy *p, const struct plan *plan)
{
	(void)p;
	(void)plan;
	return (struct means){ NULL, false };
}

static struct means hold_network(const struct policy *p,
				 const struct plan *plan)
{
	(void)p;
	if (plan->network == NETWORK_HOST)
		return (struct means){ "host", true };
	return (struct means){ "namespace", false };
}

static struct means hold_filter(const struct policy *p, const struct plan *plan)
{
	(void)p;
	(void)plan;
	return (struct means){ "seccomp", false };
}

static struct means hold_keyring(const struct policy *p,
				 const struct plan *plan)
{
	(void)p;
	(void)plan;
	/* As init will find it; it only asks. */
	if (syscall(SYS_keyctl, KEYCTL_GET_KEYRING_ID, KEY_SPEC_SESSION_KEYRING,
		    0) < 0 &&
	    (errno == EPERM || errno == ENOSYS))
		return (struct means){ "seccomp", false };
	return (struct means){ "session", false };
}

static struct means hold_identity(const struct policy *p,
				  const struct plan *plan)
{
	(void)p;
	return (struct means){ identity_name(plan->ids.identity), false };
}

static struct means hold_landlock(const struct policy *p,
				  const struct plan *plan)
{
	(void)p;
	if (plan->network == NETWORK_HOST && landlock_can_scope())
		return (struct means){ "scope", false };
	return (struct means){ NULL, false };
}

static struct means hold_proc(const struct policy *p, const struct plan *plan)
{
	(void)p;
	return (struct means){ proc_name(plan->proc),
			       plan->proc == PROC_OUTER };
}

static const struct guarantee_row guarantee_rows[] = {
	{ "identity", NULL, "--identity", hold_identity },
	{ "network", NULL, "--network", hold_network },
	{ "syscalls", NULL, "--syscalls", hold_filter },
	{ "keyring", NULL, NULL, hold_keyring },
	{ "landlock", NULL, NULL, hold_landlock },
	{ "proc", NULL, NULL, hold_proc },
	{ "time", "limits.time", "--timeout", hold_supervisor },
	{ "lifetime", "limits.lifetime", "--lifetime", hold_supervisor },
	{ "cpu_time", "limits.cpu_time", "--cpu-time", hold_cpu_time },
	{ "cpus", "limits.cpus", "--cpus", hold_cgroup },
	{ "memory", "limits.memory", "-m", hold_cgroup },
	{ "pids", "limits.pids", "--pids-limit", hold_pids },
	{ "disk", "limits.disk", "--disk", hold_disk },
	{ "inodes", "limits.inodes", "--inodes", hold_inodes },
	{ "output", "limits.output", "--output-limit", hold_supervisor },
	{ "file_size", "limits.file_size", "--ulimit fsize", hold_rlimit },
	{ "open_files", "limits.open_files", "--ulimit nofile", hold_rlimit },
};

/* ---- deciding ---- */

static int64_t limit_value(const struct policy_limits *l, const char *name)
{
	const struct {
		const char *name;
		int64_t value;
	} values[] = {
		{ "time", l->time },
		{ "lifetime", l->lifetime },
		{ "cpu_time", l->cpu_time },
		{ "cpus", l->cpus },
		{ "memory", l->memory },
		{ "pids", l->pids },
		{ "disk", l->disk },
		{ "inodes", l->inodes },
		{ "output", l->output },
		{ "file_size", l->file_size },
		{ "open_files", l->open_files },
	};

	for (size_t i = 0; i < ARRAY_SIZE(values); i++)
		if (strcmp(values[i].name, name) == 0)
			return values[i].value;
	return LIMIT_NONE;
}

static int refuse(const struct guarantee_row *row, const struct means *m,
		  struct error *err)
{
	error_set(err, ERROR_LIMIT, 0,
		  m->name ? "%s can't be held for sure here: %s is soft"
			  : "%s can't be held here: %s",
		  row->name,
		  m->name ? m->name : "there is no means for it on this host");
	if (row->hold == hold_landlock)
		return error_hint(err, "Landlock is used with --network host, "
				       "from Linux 6.12 on");
	if (row->hold == hold_proc)
		return error_hint(err, "a policy says \"proc\": \"outer\"");
	if (row->hold == hold_cgroup)
		return error_hint(err,
				  "%s needs control groups; without the limit: "
				  "--best-effort %s",
				  row->option, row->name);
	if (row->field)
		return error_hint(err, "without the limit: --best-effort %s",
				  row->name);
	return -EINVAL;
}

static int decide(const struct policy *p, struct plan *plan,
		  const struct guarantee_row *row, struct error *err)
{
	bool required = strv_has(&p->require, row->name);
	bool bounded =
		!row->field || limit_value(&p->limits, row->name) != LIMIT_NONE;
	bool asked = required || (row->field && policy_asked(p, row->field));

	/* A limit that is off needs no means, unless it is required. */
	if (!bounded && !required)
		return 0;
	struct means m =
		bounded ? row->hold(p, plan) : (struct means){ NULL, false };

	if (((asked && !m.name) || (required && m.soft)) &&
	    !strv_has(&p->best_effort, row->name))
		return refuse(row, &m, err);
	plan->guarantees[plan->guarantee_count++] = (struct guarantee){
		.name = row->name,
		.means = m.name ? m.name : "none",
		.soft = m.soft,
		.asked = asked,
	};
	return 0;
}

/*
 * Adds or replaces one. A box can't have more than the caller's own hard limit:
 * what was asked for is refused then, a default is cut to it.
 */
static int add_rlimit(struct plan *plan, const struct policy_ulimit *limit,
		      bool asked, struct error *err)
{
	struct plan_limits *l = &plan->limits;
	struct policy_ulimit set = *limit;
	struct rlimit own;
	size_t i = 0;

	if (getrlimit((__rlimit_resource_t)set.resource, &own) < 0)
		return error_set(err, ERROR_LIMIT, errno, "limit %s", set.name);
	if (set.hard > own.rlim_max) {
		if (asked)
			return error_set(err, ERROR_LIMIT, 0,
					 "%s %llu is more than the caller's "
					 "own hard limit %llu",
					 set.name, (unsigned long long)set.hard,
					 (unsigned long long)own.rlim_max);
		set.hard = own.rlim_max;
	}
	if (set.soft > set.hard)
		set.soft = set.hard;
	while (i < l->rlimit_count && l->rlimits[i].resource != set.resource)
		i++;
	if (i == l->rlimit_count) {
		l->rlimits = mem_resize(l->rlimits, ++l->rlimit_count,
					sizeof(*l->rlimits));
		set.name = mem_strdup(set.name);
	} else {
		set.name = l->rlimits[i].name;
	}
	l->rlimits[i] = set;
	return 0;
}

static int plan_rlimits(const struct policy *p, struct plan *plan,
			struct error *err)
{
	const struct policy_limits *l = &p->limits;
	int64_t file_size = l->file_size;
	bool has_cpu = l->cpu_time != LIMIT_NONE;
	/* Whole seconds, rounded up: SIGXCPU at the limit, KILL a second later
	 * for who ignores it. */
	uint64_t cpu = has_cpu ? (uint64_t)(l->cpu_time + 999) / 1000 : 0;

	if (file_size == LIMIT_NONE && plan->root.disk)
		file_size = l->disk;
	const struct {
		bool set, asked;
		struct policy_ulimit limit;
	} rows[] = {
		/* Not 0: core(5), a core_pattern that is a pipe ignores that,
		 * and its program would run as host root for a crash in the
		 * box. 1 means "no pipe", and is below any file of a core. */
		{ true, false, { RLIMIT_CORE, (char *)"core", 1, 1 } },
		{ l->open_files != LIMIT_NONE,
		  policy_asked(p, "limits.open_files"),
		  { RLIMIT_NOFILE, (char *)"nofile", (uint64_t)l->open_files,
		    (uint64_t)l->open_files } },
		{ l->pids != LIMIT_NONE,
		  policy_asked(p, "limits.pids"),
		  { RLIMIT_NPROC, (char *)"nproc", (uint64_t)l->pids,
		    (uint64_t)l->pids } },
		{ file_size != LIMIT_NONE,
		  policy_asked(p, "limits.file_size"),
		  { RLIMIT_FSIZE, (char *)"fsize", (uint64_t)file_size,
		    (uint64_t)file_size } },
		{ has_cpu, true, { RLIMIT_CPU, (char *)"cpu", cpu, cpu + 1 } },
	};
	int r = 0;

	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(rows); i++)
		if (rows[i].set)
			r = add_rlimit(plan, &rows[i].limit, rows[i].asked,
				       err);
	for (size_t i = 0; r == 0 && i < l->ulimit_count; i++)
		r = add_rlimit(plan, &l->ulimits[i], true, err);
	return r;
}

/* Nothing may be required that no row knows how to hold. */
static int check_required(const struct policy *p, struct error *err)
{
	for (size_t i = 0; i < p->require.count; i++) {
		size_t k = 0;

		while (k < ARRAY_SIZE(guarantee_rows) &&
		       strcmp(guarantee_rows[k].name, p->require.items[i]) != 0)
			k++;
		if (k == ARRAY_SIZE(guarantee_rows))
			return error_set(err, ERROR_LIMIT, 0,
					 "%s can't be held: it is not built in "
					 "yet",
					 p->require.items[i]);
	}
	return 0;
}

int limits_plan(const struct policy *policy, struct plan *plan,
		struct error *err)
{
	const struct policy_limits *l = &policy->limits;

	plan->limits = (struct plan_limits){
		.time = l->time,
		.lifetime = l->lifetime,
		.cpu_time = l->cpu_time,
		.output = l->output,
		.disk = l->disk,
		.inodes = l->inodes,
		.memory = l->memory,
		.pids = l->pids,
		.cpus = l->cpus,
	};
	plan->guarantees = mem_resize(NULL, ARRAY_SIZE(guarantee_rows),
				      sizeof(*plan->guarantees));
	int r = check_required(policy, err);

	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(guarantee_rows); i++)
		r = decide(policy, plan, &guarantee_rows[i], err);
	return r < 0 ? r : plan_rlimits(policy, plan, err);
}
