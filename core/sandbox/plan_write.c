/* SPDX-License-Identifier: Apache-2.0 */
/* The plan as people and programs read it: --dry-run. */
#include "sandbox/plan.h"

#include "base/json.h"

static void write_limit(struct json_writer *w, const char *key, int64_t value)
{
	if (value != LIMIT_NONE)
		json_key_integer(w, key, value);
}

static void write_ranges(struct json_writer *w, const char *key,
			 const struct idmap_range *ranges, unsigned count)
{
	json_key(w, key);
	json_begin_array(w);
	for (unsigned i = 0; i < count; i++) {
		json_begin_object(w);
		json_key_integer(w, "inside", ranges[i].inside);
		json_key_integer(w, "outside", ranges[i].outside);
		json_key_integer(w, "count", ranges[i].count);
		json_end_object(w);
	}
	json_end_array(w);
}

static void write_identity(const struct plan *plan, struct json_writer *w)
{
	json_key(w, "identity");
	json_begin_object(w);
	json_key_string(w, "kind", identity_name(plan->ids.identity));
	if (plan->ids.reason[0])
		json_key_string(w, "reason", plan->ids.reason);
	write_ranges(w, "uid_map", plan->ids.uid, plan->ids.uid_count);
	write_ranges(w, "gid_map", plan->ids.gid, plan->ids.gid_count);
	json_end_object(w);
}

static void write_namespaces(const struct plan *plan, struct json_writer *w)
{
	static const char *const names[] = { "user", "mount", "pid",
					     "ipc",  "uts",   "cgroup" };

	json_key(w, "namespaces");
	json_begin_array(w);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		json_string(w, names[i]);
	if (plan->network != NETWORK_HOST)
		json_string(w, "net");
	json_end_array(w);
}

static void write_root(const struct plan *plan, struct json_writer *w)
{
	const struct plan_root *r = &plan->root;

	json_key(w, "root");
	json_begin_object(w);
	json_key_string(w, "kind", r->kind == ROOT_HOST ? "host" : "tree");
	if (r->tree)
		json_key_string(w, "lower", r->tree);
	if (r->kind == ROOT_TREE)
		json_key_boolean(w, "idmapped", r->idmapped);
	json_key_string(w, "writes", writes_name(r->writes));
	if (r->disk)
		json_key_string(w, "upper", r->disk);
	json_end_object(w);
}

/* What is to be made on the host for the time of the run. */
static void write_missing(const struct protect *p, struct json_writer *w)
{
	bool any = false;

	for (size_t i = 0; i < p->count; i++) {
		if (!p->steps[i].missing)
			continue;
		if (!any) {
			json_key(w, "placeholders");
			json_begin_array(w);
		}
		any = true;
		json_string(w, p->steps[i].path);
	}
	if (any)
		json_end_array(w);
}

static void write_mounts(const struct plan *plan, struct json_writer *w)
{
	json_key(w, "mounts");
	json_begin_array(w);
	for (size_t i = 0; i < plan->mount_count; i++) {
		const struct policy_mount *m = plan->mounts[i].mount;

		json_begin_object(w);
		json_key_string(w, "target", m->target);
		if (m->source) {
			json_key_string(w, "source", m->source);
			json_key_string(w, "access", access_name(m->access));
			write_missing(&plan->mounts[i].protect, w);
		} else {
			json_key_string(w, "type", "tmpfs");
			write_limit(w, "size", m->size);
		}
		json_end_object(w);
	}
	json_end_array(w);
}

static void write_limits(const struct plan *plan, struct json_writer *w)
{
	const struct plan_limits *l = &plan->limits;

	json_key(w, "limits");
	json_begin_object(w);
	write_limit(w, "time_ms", l->time);
	write_limit(w, "lifetime_ms", l->lifetime);
	write_limit(w, "cpu_time_ms", l->cpu_time);
	write_limit(w, "milli_cpus", l->cpus);
	write_limit(w, "memory", l->memory);
	write_limit(w, "pids", l->pids);
	write_limit(w, "disk", l->disk);
	write_limit(w, "inodes", l->inodes);
	write_limit(w, "output", l->output);
	json_key(w, "rlimits");
	json_begin_object(w);
	for (size_t i = 0; i < l->rlimit_count; i++) {
		json_key(w, l->rlimits[i].name);
		json_begin_array(w);
		json_integer(w, (int64_t)l->rlimits[i].soft);
		json_integer(w, (int64_t)l->rlimits[i].hard);
		json_end_array(w);
	}
	json_end_object(w);
	json_end_object(w);
}

static void write_guarantees(const struct plan *plan, struct json_writer *w)
{
	json_key(w, "isolation");
	json_begin_object(w);
	for (size_t i = 0; i < plan->guarantee_count; i++) {
		json_key(w, plan->guarantees[i].name);
		json_begin_object(w);
		json_key_string(w, "means", plan->guarantees[i].means);
		json_key_boolean(w, "soft", plan->guarantees[i].soft);
		json_key_boolean(w, "asked", plan->guarantees[i].asked);
		json_end_object(w);
	}
	json_end_object(w);
}

static void write_list(struct json_writer *w, const char *key,
		       const struct strv *list)
{
	json_key(w, key);
	json_begin_array(w);
	for (size_t i = 0; i < list->count; i++)
		json_string(w, list->items[i]);
	json_end_array(w);
}

static void write_command(const struct plan *plan, struct json_writer *w)
{
	const struct command *c = &plan->command;

	json_key(w, "command");
	json_begin_object(w);
	json_key_boolean(w, "shell", c->shell);
	write_list(w, "argv", &c->argv);
	write_list(w, "env", &c->env);
	json_key_string(w, "workdir", c->workdir ? c->workdir : "/");
	json_key_string(w, "user", c->user);
	json_end_object(w);
}

void plan_write(const struct plan *plan, struct json_writer *w)
{
	json_begin_object(w);
	write_identity(plan, w);
	write_namespaces(plan, w);
	json_key_string(w, "hostname", plan->hostname);
	json_key_string(w, "network", network_mode_name(plan->network));
	json_key_string(w, "proc", proc_name(plan->proc));
	write_root(plan, w);
	write_mounts(plan, w);
	write_limits(plan, w);
	json_key(w, "filter");
	json_begin_object(w);
	json_key_string(w, "profile", profile_name(plan->profile));
	json_key_integer(w, "instructions", plan->filter.count);
	json_key_integer(w, "init_instructions", plan->init_filter.count);
	json_end_object(w);
	write_guarantees(plan, w);
	write_command(plan, w);
	json_end_object(w);
}
