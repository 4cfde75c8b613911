/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A policy as data: the built-in one, what it owns, where its values came from,
 * and changing one field by an option. policy_init runs at every start of the
 * program: no file is opened there, and sysinfo(2) is all that is asked.
 */
#include "policy/policy.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysinfo.h>

#include "base/error.h"
#include "base/mem.h"
#include "policy/field.h"

#define MIB (INT64_C(1) << 20)

/* Bytes, a whole number of MiB; at least 1 GiB where the kernel won't tell. */
static int64_t host_memory(void)
{
	struct sysinfo info;
	uint64_t bytes;

	if (sysinfo(&info) < 0 ||
	    __builtin_mul_overflow((uint64_t)info.totalram,
				   (uint64_t)info.mem_unit, &bytes) ||
	    bytes > INT64_MAX || bytes < 64 * (uint64_t)MIB)
		return 1024 * MIB;
	return (int64_t)bytes;
}

void policy_init(struct policy *p)
{
	int64_t memory = host_memory();

	*p = (struct policy){
		.writes = WRITES_MEMORY,
		.identity = IDENTITY_AUTO,
		.network.mode = NETWORK_NONE,
		.profile = PROFILE_DEFAULT,
		.limits = {
			.time = LIMIT_NONE,
			.lifetime = LIMIT_NONE,
			.idle = LIMIT_NONE,
			.cpu_time = LIMIT_NONE,
			.cpus = LIMIT_NONE,
			.memory = memory / 2 / MIB * MIB,
			.disk = memory / 4 / MIB * MIB,
			.output = LIMIT_NONE,
			.file_size = LIMIT_NONE,
			.pids = 4096,
			.inodes = 1000000,
			.open_files = 4096,
		},
	};
	if (p->limits.disk > 4096 * MIB)
		p->limits.disk = 4096 * MIB;
	p->user = mem_strdup("root");
	p->hostname = mem_strdup("box");
	p->origins = mem_alloc(field_count * sizeof(*p->origins));
}

void policy_mount_release(struct policy_mount *m)
{
	free(m->source);
	free(m->target);
	strv_release(&m->protect);
	strv_release(&m->hide);
}

static void pairs_release(struct policy_env *pairs, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		free(pairs[i].name);
		free(pairs[i].value);
	}
	free(pairs);
}

void policy_release(struct policy *p)
{
	free(p->image);
	free(p->workdir);
	free(p->user);
	free(p->hostname);
	pairs_release(p->env, p->env_count);
	strv_release(&p->env_pass);
	for (size_t i = 0; i < p->mount_count; i++)
		policy_mount_release(&p->mounts[i]);
	free(p->mounts);
	strv_release(&p->network.allow);
	strv_release(&p->network.publish);
	pairs_release(p->network.routes, p->network.route_count);
	for (size_t i = 0; i < p->limits.ulimit_count; i++)
		free(p->limits.ulimits[i].name);
	free(p->limits.ulimits);
	strv_release(&p->syscalls_allow);
	strv_release(&p->syscalls_deny);
	strv_release(&p->require);
	strv_release(&p->best_effort);
	free(p->origins);
	strv_release(&p->names);
	strv_release(&p->files);
	*p = (struct policy){ 0 };
}

void policy_set_origin(struct policy *p, const struct field *f,
		       const struct origin *origin)
{
	p->origins[field_index(f)] = *origin;
}

const struct origin *policy_origin(const struct policy *p, const char *field)
{
	const struct field *f = field_find(field);

	/* Names come from our own code only: a wrong one must not read as
	 * "nobody asked for it". */
	if (!f)
		abort();
	return &p->origins[field_index(f)];
}

bool policy_asked(const struct policy *p, const char *field)
{
	return policy_origin(p, field)->kind != ORIGIN_DEFAULT;
}

struct source source_of_option(struct policy *p, const char *option)
{
	strv_add(&p->names, option);
	return (struct source){
		.origin = { .kind = ORIGIN_OPTION,
			    .name = p->names.items[p->names.count - 1] },
	};
}

int policy_set(struct policy *p, const char *field, const char *option,
	       const char *text, struct error *err)
{
	const struct field *f = field_find(field);

	if (!f || !f->type->set)
		return error_set(err, ERROR_INTERNAL, 0,
				 "no option can set field %s", field);
	struct source s = source_of_option(p, option);
	int r = f->type->set(p, f, &s, text, err);

	if (r < 0)
		return error_prefix(err, "%s", option);
	policy_set_origin(p, f, &s.origin);
	return 0;
}
