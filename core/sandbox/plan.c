/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a policy to a plan. Trusted: the policy, the image's path, the caller's
 * environment as far as the policy passes it. Nothing is changed here.
 */
#include "sandbox/plan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/error.h"
#include "base/fd.h"
#include "base/mem.h"
#include "sandbox/landlock.h"
#include "sandbox/limits.h"
#include "sandbox/volumes.h"

/* A memfd is a file of the same kind as a tmpfs's: asking it costs no mount. */
static bool tmpfs_has_user_xattrs(void)
{
	auto_close int fd = memfd_create("llmbox", MFD_CLOEXEC);

	return fd >= 0 && fsetxattr(fd, "user.llmbox", "y", 1, 0) == 0;
}

static bool has_overlay(const struct policy *policy)
{
	for (size_t i = 0; i < policy->mount_count; i++)
		if (policy->mounts[i].source &&
		    policy->mounts[i].access == ACCESS_OVERLAY)
			return true;
	return false;
}

bool plan_wants_disk(const struct policy *policy, bool has_tree)
{
	/* A read-only root has nothing to replace. */
	bool writes = has_tree && policy->writes != WRITES_NONE;

	if (has_tree && policy->writes == WRITES_DISK)
		return true;
	return (writes || has_overlay(policy)) && !tmpfs_has_user_xattrs();
}

static int plan_root_build(const struct plan_input *in, struct plan *plan,
			   struct error *err)
{
	struct plan_root *root = &plan->root;

	root->kind = in->tree ? ROOT_TREE : ROOT_HOST;
	root->writes = in->policy->writes;
	if (!in->tree && root->writes == WRITES_DISK)
		return error_set(err, ERROR_POLICY, 0,
				 "writes disk needs an image: without one the "
				 "root lies in memory");
	if (in->tree) {
		root->tree = mem_strdup(in->tree);
		root->idmapped = in->tree_idmap;
	}
	if (!in->disk)
		return 0;
	root->disk = mem_strdup(in->disk);
	root->only_disk = root->writes != WRITES_DISK;
	if (in->tree && root->writes == WRITES_MEMORY)
		root->writes = WRITES_DISK;
	return 0;
}

/* An allow-list without a rule allows nothing: that is no network at all. */
static int plan_network(const struct policy *p, struct plan *plan,
			struct error *err)
{
	plan->network = p->network.mode;
	if (plan->network == NETWORK_ALLOWLIST && p->network.allow.count) {
		error_set(err, ERROR_POLICY, 0,
			  "network allowlist with rules is not built in yet");
		return error_hint(err, "use --network none or host");
	}
	if (plan->network == NETWORK_ALLOWLIST)
		plan->network = NETWORK_NONE;
	if (plan->network == NETWORK_HOST && !landlock_can_scope() &&
	    !strv_has(&p->best_effort, "network")) {
		error_set(err, ERROR_HOST, 0,
			  "network host would let the box reach abstract unix "
			  "sockets: this kernel's Landlock can't scope them "
			  "(Linux 6.12)");
		return error_hint(err, "accept that with --best-effort "
				       "network");
	}
	return 0;
}

/* Fields whose feature is not there: asked for, they are refused rather than
 * taken for held. */
static int plan_unbuilt(const struct policy *p, struct error *err)
{
	const char *field = NULL;

	if (p->network.publish.count)
		field = "network.publish";
	else if (p->network.route_count)
		field = "network.route";
	else if (p->limits.idle != LIMIT_NONE)
		field = "limits.idle";
	if (!field)
		return 0;
	error_set(err, ERROR_POLICY, 0, "%s is not built in yet", field);
	return error_hint(err, "leave it away");
}

/*
 * With the outer /proc, whose sysctls may be read-only, the filter alone keeps
 * the box from user namespaces of its own, and it can't see clone3's flags.
 */
static int plan_proc(const struct policy *p, struct plan *plan,
		     struct error *err)
{
	plan->proc = p->proc;
	if (p->proc == PROC_OWN || (!strv_has(&p->syscalls_allow, "clone3") &&
				    !strv_has(&p->syscalls_allow, "@clone3")))
		return 0;
	error_set(err, ERROR_POLICY, 0,
		  "clone3 can't be allowed with proc outer: the box could make "
		  "user namespaces");
	return error_hint(err, "leave one of the two away");
}

/* ---- the command ---- */

static void env_set(struct strv *env, const char *name, const char *value)
{
	size_t len = strlen(name);

	for (size_t i = 0; i < env->count; i++) {
		if (strncmp(env->items[i], name, len) != 0 ||
		    env->items[i][len] != '=')
			continue;
		free(env->items[i]);
		env->items[i] = mem_printf("%s=%s", name, value);
		return;
	}
	strv_addf(env, "%s=%s", name, value);
}

/*
 * Nothing of the caller's environment but what the policy passes by name: it
 * holds keys, and LD_PRELOAD and its like would run code.
 */
static void plan_env(const struct policy *p, struct strv *env)
{
	env_set(env, "PATH",
		"/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
	env_set(env, "LANG", "C.UTF-8");
	for (size_t i = 0; i < p->env_pass.count; i++) {
		const char *value = getenv(p->env_pass.items[i]);

		if (value)
			env_set(env, p->env_pass.items[i], value);
	}
	for (size_t i = 0; i < p->env_count; i++)
		env_set(env, p->env[i].name, p->env[i].value);
}

static void plan_command(const struct plan_input *in, struct plan *plan)
{
	const struct policy *p = in->policy;
	struct command *c = &plan->command;

	for (size_t i = 0; in->argv && in->argv[i]; i++)
		strv_add(&c->argv, in->argv[i]);
	c->shell = c->argv.count == 0;
	plan_env(p, &c->env);
	c->term = mem_strdup(getenv("TERM") ? getenv("TERM") : "xterm");
	c->user = mem_strdup(p->user);
	if (p->workdir)
		c->workdir = mem_strdup(p->workdir);
	for (size_t i = 0; !c->workdir && i < p->mount_count; i++)
		if (p->mounts[i].project)
			c->workdir = mem_strdup(p->mounts[i].target);
}

/* A box of one id that is not root's has nothing to emulate: programs know that
 * they are no root. */
static enum emulation plan_emulation(const struct plan *plan)
{
	if (plan->ids.identity != IDENTITY_ONE)
		return EMULATE_RANGE;
	return plan->ids.uid[0].inside == 0 ? EMULATE_ONE : EMULATE_NONE;
}

int plan_build(const struct plan_input *in, struct plan *ret, struct error *err)
{
	const struct policy *p = in->policy;

	memset(ret, 0, sizeof(*ret));
	ret->ids = *in->ids;
	ret->user_uid = in->user_uid;
	ret->user_gid = in->user_gid;
	ret->hostname = mem_strdup(p->hostname);
	ret->count_changes = in->count_changes;
	ret->profile = p->profile;
	plan_command(in, ret);
	int r = plan_unbuilt(p, err);

	if (r == 0)
		r = plan_root_build(in, ret, err);

	if (r == 0)
		r = plan_proc(p, ret, err);
	if (r == 0)
		r = plan_network(p, ret, err);
	if (r == 0)
		r = volumes_plan(in, ret, err);
	if (r == 0)
		r = limits_plan(p, ret, err);
	ret->emulates_one = plan_emulation(ret) == EMULATE_ONE;
	if (r == 0)
		r = filter_for_policy(p->profile, plan_emulation(ret),
				      &p->syscalls_allow, &p->syscalls_deny,
				      &ret->filter, err);
	if (r < 0) {
		plan_release(ret);
		return r;
	}
	filter_for_init(&ret->init_filter);
	return 0;
}

void plan_release(struct plan *plan)
{
	free(plan->root.tree);
	free(plan->root.disk);
	free(plan->hostname);
	for (size_t i = 0; i < plan->mount_count; i++)
		protect_release(&plan->mounts[i].protect);
	free(plan->mounts);
	for (size_t i = 0; i < plan->limits.rlimit_count; i++)
		free(plan->limits.rlimits[i].name);
	free(plan->limits.rlimits);
	filter_release(&plan->filter);
	filter_release(&plan->init_filter);
	strv_release(&plan->command.argv);
	strv_release(&plan->command.env);
	free(plan->command.workdir);
	free(plan->command.term);
	free(plan->command.user);
	free(plan->guarantees);
	memset(plan, 0, sizeof(*plan));
}
