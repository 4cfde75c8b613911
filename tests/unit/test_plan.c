/* SPDX-License-Identifier: Apache-2.0 */
/* Plans: decided without any rights, from a policy alone. */
#include "sandbox/plan.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/mem.h"
#include "sandbox/landlock.h"
#include "tests/unit/tap.h"

static const struct idmap one = {
	.identity = IDENTITY_ONE,
	.uid = { { 0, 1000, 1 } },
	.gid = { { 0, 1000, 1 } },
	.uid_count = 1,
	.gid_count = 1,
};
static const char *const argv_true[] = { "true", NULL };

static struct plan_input input(const struct policy *policy)
{
	return (struct plan_input){
		.policy = policy,
		.ids = &one,
		.argv = argv_true,
	};
}

static void set(struct policy *p, const char *field, const char *text)
{
	struct error err = { 0 };

	if (policy_set(p, field, "--test", text, &err) < 0)
		printf("# %s=%s: %s\n", field, text, err.message);
}

static const struct guarantee *guarantee(const struct plan *plan,
					 const char *name)
{
	for (size_t i = 0; i < plan->guarantee_count; i++)
		if (strcmp(plan->guarantees[i].name, name) == 0)
			return &plan->guarantees[i];
	return NULL;
}

static const struct policy_ulimit *rlimit(const struct plan *plan, int resource)
{
	for (size_t i = 0; i < plan->limits.rlimit_count; i++)
		if (plan->limits.rlimits[i].resource == resource)
			return &plan->limits.rlimits[i];
	return NULL;
}

static void test_default(void)
{
	auto_policy p;
	auto_plan plan = { 0 };
	struct error err = { 0 };

	policy_init(&p);
	struct plan_input in = input(&p);

	setenv("SECRET", "s3cret", 1);
	setenv("LD_PRELOAD", "/x.so", 1);
	is_int(plan_build(&in, &plan, &err), 0, "the built-in policy");
	is_int(plan.root.kind, ROOT_HOST, "shows the host view");
	is_int(plan.network, NETWORK_NONE, "without a network");
	is_str(guarantee(&plan, "pids")->means, "rlimit", "pids are held");
	is_str(guarantee(&plan, "disk")->means, "tmpfs", "disk is held");
	is_str(guarantee(&plan, "memory")->means, "none",
	       "memory is best effort, and says so");
	ok(rlimit(&plan, RLIMIT_CORE)->hard == 1,
	   "no core dumps, also not into a pipe");
	ok(!rlimit(&plan, RLIMIT_CPU), "no processor time");
	ok(plan.filter.count > 10 && plan.init_filter.count > 10,
	   "there are filters");
	bool leaked = false;

	for (size_t i = 0; i < plan.command.env.count; i++)
		if (strstr(plan.command.env.items[i], "s3cret") ||
		    strncmp(plan.command.env.items[i], "LD_", 3) == 0)
			leaked = true;
	ok(!leaked, "nothing of the caller's environment is passed");
}

static void test_limits(void)
{
	static const struct {
		const char *field, *text, *name;
	} unheld[] = { { "limits.memory", "64m", "memory" },
		       { "limits.cpus", "1.5", "cpus" } };

	for (size_t i = 0; i < ARRAY_SIZE(unheld); i++) {
		auto_policy p;
		auto_plan plan = { 0 };
		struct error err = { 0 };

		policy_init(&p);
		set(&p, unheld[i].field, unheld[i].text);
		struct plan_input in = input(&p);

		ok(plan_build(&in, &plan, &err) < 0,
		   "%s that can't be held is refused", unheld[i].name);
		is_int(err.kind, ERROR_LIMIT, "as a limit");
		ok(strstr(err.message, unheld[i].name), "by its name");
		set(&p, "best_effort", unheld[i].name);
		is_int(plan_build(&in, &plan, &err), 0, "best effort lets it");
		is_str(guarantee(&plan, unheld[i].name)->means, "none",
		       "and the plan says so");
	}
}

static void test_require(void)
{
	auto_policy p;
	auto_plan plan = { 0 };
	struct error err = { 0 };

	policy_init(&p);
	set(&p, "require", "pids");
	struct plan_input in = input(&p);

	is_int(plan_build(&in, &plan, &err), 0, "what is held can be required");
	plan_release(&plan);
	set(&p, "require", "cpu_time");
	ok(plan_build(&in, &plan, &err) < 0, "a limit that is off can't be");
	set(&p, "limits.cpu_time", "5s");
	ok(plan_build(&in, &plan, &err) < 0, "nor one that is soft");
	is_int(err.kind, ERROR_LIMIT, "as a limit");
}

static void test_rlimits(void)
{
	auto_policy p;
	auto_plan plan = { 0 };
	struct error err = { 0 };
	struct rlimit own;

	policy_init(&p);
	set(&p, "limits.cpu_time", "1500ms");
	set(&p, "limits.file_size", "1m");
	struct plan_input in = input(&p);

	is_int(plan_build(&in, &plan, &err), 0, "limits of processes");
	ok(rlimit(&plan, RLIMIT_CPU)->soft == 2, "seconds are rounded up");
	ok(rlimit(&plan, RLIMIT_CPU)->hard == 3, "KILL comes a second later");
	ok(rlimit(&plan, RLIMIT_FSIZE)->soft == 1 << 20, "file size");
	plan_release(&plan);

	getrlimit(RLIMIT_NOFILE, &own);
	own.rlim_cur = own.rlim_max = 100;
	setrlimit(RLIMIT_NOFILE, &own);
	is_int(plan_build(&in, &plan, &err), 0, "a caller with few files");
	ok(rlimit(&plan, RLIMIT_NOFILE)->hard == 100, "hands on what it has");
	plan_release(&plan);
	set(&p, "limits.open_files", "200");
	ok(plan_build(&in, &plan, &err) < 0, "more can't be asked for");
	is_int(err.kind, ERROR_LIMIT, "as a limit");
}

static void test_network(void)
{
	auto_policy p;
	auto_plan plan = { 0 };
	struct error err = { 0 };

	policy_init(&p);
	set(&p, "network.mode", "allowlist");
	struct plan_input in = input(&p);

	is_int(plan_build(&in, &plan, &err), 0, "an empty allow-list");
	is_int(plan.network, NETWORK_NONE, "allows nothing");
	plan_release(&plan);
	set(&p, "network.allow", "example.org:443");
	ok(plan_build(&in, &plan, &err) < 0,
	   "a rule that can't be had is refused, not opened");
	auto_policy host;

	policy_init(&host);
	set(&host, "network.mode", "host");
	in.policy = &host;
	int r = plan_build(&in, &plan, &err);

	if (landlock_can_scope())
		is_int(r, 0, "the host's network, scoped");
	else
		ok(r < 0, "the host's network needs Landlock's scope");
}

static void test_volumes(void)
{
	char dir[] = "/tmp/llmbox-plan-XXXXXX";
	char text[160], store[64];

	if (!mkdtemp(dir))
		abort();
	snprintf(store, sizeof(store), "%s/data", dir);
	mkdir(store, 0700);
	setenv("XDG_DATA_HOME", store, 1);
	snprintf(text, sizeof(text), "%s/llmbox", store);
	mkdir(text, 0700);
	static const struct {
		const char *below, *access;
		bool allowed;
	} cases[] = {
		{ "/data/llmbox", "rw", false },
		{ "/data", "rw", false },
		{ "", "rw", false },
		{ "/data/llmbox", "ro", true },
		{ "", "overlay", true },
		{ "/other", "rw", true },
		{ "/data/llmbox/x", "rw", false },
	};
	char other[64], inner[80];

	snprintf(other, sizeof(other), "%s/other", dir);
	mkdir(other, 0700);
	snprintf(inner, sizeof(inner), "%s/llmbox/x", store);
	mkdir(inner, 0700);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		auto_policy p;
		auto_plan plan = { 0 };
		struct error err = { 0 };

		policy_init(&p);
		snprintf(text, sizeof(text), "%s%s:/w:%s", dir, cases[i].below,
			 cases[i].access);
		if (policy_add_volume(&p, "-v", text, &err) < 0)
			printf("# %s\n", err.message);
		struct plan_input in = input(&p);

		in.allow_root_volume = true;
		int r = plan_build(&in, &plan, &err);

		ok((r == 0) == cases[i].allowed, "%s %s", cases[i].access,
		   cases[i].below);
	}
	rmdir(inner);
	snprintf(text, sizeof(text), "%s/llmbox", store);
	rmdir(text);
	rmdir(store);
	rmdir(other);
	rmdir(dir);
}

int main(void)
{
	test_default();
	test_limits();
	test_require();
	test_network();
	test_volumes();
	test_rlimits(); /* last: it lowers this process's own */
	return done_testing();
}
