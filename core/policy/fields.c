/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of a policy's fields. Loader, options, schema, policy show, the
 * ceiling and the manual's check all go by it.
 */
#include "policy/field.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

const char *const access_names[] = { "ro", "rw", "overlay", NULL };
static const char *const writes_names[] = { "memory", "disk", "none", NULL };
static const char *const identity_names[] = { "auto", "one", "range", "shifted",
					      NULL };
static const char *const proc_names[] = { "own", "outer", NULL };
static const char *const mode_names[] = { "none", "allowlist", "host", NULL };
static const char *const profile_names[] = { "default", "strict", "debug",
					     NULL };

static const unsigned char writes_rank[] = { 1, 2, 0 };
static const unsigned char profile_rank[] = { 1, 0, 2 };

#define AT(member) .offset = offsetof(struct policy, member)
#define KIB        (INT64_C(1) << 10)
#define MIB        (INT64_C(1) << 20)
#define BYTES_MAX  (INT64_C(1) << 50)
#define DAY        INT64_C(86400000)
#define TIME_MAX   (36500 * DAY)
#define PIDS_MAX   (INT64_C(4) << 20) /* PID_MAX_LIMIT, proc(5) */
#define INODES_MAX INT64_C(1000000000)
#define FILES_MAX  INT64_C(1073741816) /* of fs.nr_open, proc(5) */

const struct field fields[] = {
	{ { "rootfs.image", "string", "host",
	    "the root filesystem: an archive, a directory, a name in the store, "
	    "or host for the host's own programs" },
	  .type = &type_string,
	  AT(image),
	  .clean = clean_image,
	  .ceiling = CEILING_SAME },
	{ { "rootfs.writes", "choice", "memory",
	    "where changes to the root go: memory (lost at the end), disk, or "
	    "none (a read-only root)" },
	  .type = &type_choice,
	  AT(writes),
	  .choices = writes_names,
	  .rank = writes_rank,
	  .ceiling = CEILING_MOST },
	{ { "workdir", "string", "",
	    "the working directory inside; without one it is that of the "
	    "project, or the user's home" },
	  .type = &type_string,
	  AT(workdir),
	  .clean = clean_workdir },
	{ { "user", "user", "root",
	    "who runs the command inside: NAME or UID, and :GROUP or :GID" },
	  .type = &type_user,
	  AT(user),
	  .clean = clean_user },
	{ { "hostname", "string", "box", "the host name inside" },
	  .type = &type_string,
	  AT(hostname),
	  .clean = clean_hostname },
	{ { "identity", "choice", "auto",
	    "how ids inside map to ids of the host" },
	  .type = &type_choice,
	  AT(identity),
	  .choices = identity_names,
	  .ceiling = CEILING_SAME },
	{ { "proc", "choice", "own",
	    "whose processes /proc shows: those of the box, or, where a "
	    "container's kernel gives no other, outer: all that the caller "
	    "sees" },
	  .type = &type_choice,
	  AT(proc),
	  .choices = proc_names,
	  .ceiling = CEILING_MOST },
	{ { "env", "map", "", "environment variables and their values" },
	  .type = &type_env,
	  AT(env),
	  .clean = clean_env_name },
	{ { "env_pass", "list", "",
	    "environment variables whose values the caller passes on" },
	  .type = &type_list,
	  AT(env_pass),
	  .clean = clean_env_name,
	  .ceiling = CEILING_SUBSET },
	{ { "mounts", "mounts", "",
	    "files and directories of the host, and tmpfs, inside" },
	  .type = &type_mounts,
	  AT(mounts) },
	{ { "network.mode", "choice", "none",
	    "none (only loopback), allowlist (what a rule names), or host (the "
	    "host's own network)" },
	  .type = &type_choice,
	  AT(network.mode),
	  .choices = mode_names,
	  .ceiling = CEILING_MOST },
	{ { "network.allow", "list", "",
	    "what may be connected to: HOST[:PORT], *.DOMAIN[:PORT], "
	    "ADDRESS[/BITS][:PORT] or @GROUP; without a port, 80 and 443" },
	  .type = &type_list,
	  AT(network.allow),
	  .clean = clean_allow,
	  .ceiling = CEILING_SUBSET },
	{ { "network.publish", "list", "",
	    "ports of the box that the host can reach: [ADDRESS:]PORT:PORT" },
	  .type = &type_list,
	  AT(network.publish),
	  .clean = clean_publish,
	  .ceiling = CEILING_SUBSET },
	{ { "network.route", "map", "",
	    "connections to HOST:PORT that go to another ADDRESS:PORT" },
	  .type = &type_route,
	  AT(network.routes) },
	{ { "limits.time", "time", "", "wall time of one command" },
	  .type = &type_time,
	  AT(limits.time),
	  .min = 1,
	  .max = TIME_MAX,
	  .ceiling = CEILING_MOST },
	{ { "limits.lifetime", "time", "", "wall time of the box" },
	  .type = &type_time,
	  AT(limits.lifetime),
	  .min = 1,
	  .max = TIME_MAX,
	  .ceiling = CEILING_MOST },
	{ { "limits.idle", "time", "",
	    "how long a box may stay with nothing to do" },
	  .type = &type_time,
	  AT(limits.idle),
	  .min = 1,
	  .max = TIME_MAX,
	  .ceiling = CEILING_MOST },
	{ { "limits.cpu_time", "time", "", "processor time" },
	  .type = &type_time,
	  AT(limits.cpu_time),
	  .min = 1,
	  .max = TIME_MAX,
	  .ceiling = CEILING_MOST },
	{ { "limits.cpus", "number", "", "processors used at once" },
	  .type = &type_number,
	  AT(limits.cpus),
	  .min = 1,
	  .max = 1000000000,
	  .ceiling = CEILING_MOST },
	{ { "limits.memory", "size", "half of the host's memory, best effort",
	    "memory of all processes together" },
	  .type = &type_size,
	  AT(limits.memory),
	  .min = MIB,
	  .max = BYTES_MAX,
	  .ceiling = CEILING_MOST },
	{ { "limits.pids", "count", "4096", "processes and threads" },
	  .type = &type_count,
	  AT(limits.pids),
	  .min = 1,
	  .max = PIDS_MAX,
	  .ceiling = CEILING_MOST },
	{ { "limits.disk", "size", "4g, or a quarter of the host's memory",
	    "bytes written to the root, /tmp, /run and /dev/shm" },
	  .type = &type_size,
	  AT(limits.disk),
	  .min = 64 * KIB,
	  .max = BYTES_MAX,
	  .ceiling = CEILING_MOST },
	{ { "limits.inodes", "count", "1000000",
	    "files made in the root, /tmp, /run and /dev/shm" },
	  .type = &type_count,
	  AT(limits.inodes),
	  .min = 100,
	  .max = INODES_MAX,
	  .ceiling = CEILING_MOST },
	{ { "limits.output", "size", "",
	    "bytes of standard output and standard error together" },
	  .type = &type_size,
	  AT(limits.output),
	  .min = 1,
	  .max = BYTES_MAX,
	  .ceiling = CEILING_MOST },
	{ { "limits.file_size", "size", "", "bytes of one file" },
	  .type = &type_size,
	  AT(limits.file_size),
	  .min = 1,
	  .max = BYTES_MAX,
	  .ceiling = CEILING_MOST },
	{ { "limits.open_files", "count", "4096", "open files of one process" },
	  .type = &type_count,
	  AT(limits.open_files),
	  .min = 16,
	  .max = FILES_MAX,
	  .ceiling = CEILING_MOST },
	{ { "limits.ulimit", "map", "",
	    "further limits of one process (getrlimit(2)): SOFT[:HARD]" },
	  .type = &type_ulimit,
	  AT(limits.ulimits) },
	{ { "syscalls.profile", "choice", "default",
	    "the set of system calls; debug allows ptrace and its like" },
	  .type = &type_choice,
	  AT(profile),
	  .choices = profile_names,
	  .rank = profile_rank,
	  .ceiling = CEILING_MOST },
	{ { "syscalls.allow", "list", "", "system calls allowed on top" },
	  .type = &type_list,
	  AT(syscalls_allow),
	  .clean = clean_syscall,
	  .ceiling = CEILING_SUBSET },
	{ { "syscalls.deny", "list", "", "system calls denied on top" },
	  .type = &type_list,
	  AT(syscalls_deny),
	  .clean = clean_syscall,
	  .ceiling = CEILING_UNION },
	{ { "require", "list", "",
	    "limits and guarantees that must hold, or nothing runs" },
	  .type = &type_list,
	  AT(require),
	  .clean = clean_guarantee,
	  .ceiling = CEILING_UNION },
	{ { "best_effort", "list", "",
	    "limits that may be missed where the host can't hold them" },
	  .type = &type_list,
	  AT(best_effort),
	  .clean = clean_guarantee,
	  .ceiling = CEILING_SUBSET },
};

const size_t field_count = ARRAY_SIZE(fields);

const struct field *field_find(const char *name)
{
	for (size_t i = 0; i < field_count; i++)
		if (strcmp(fields[i].info.name, name) == 0)
			return &fields[i];
	return NULL;
}

size_t field_index(const struct field *f)
{
	return (size_t)(f - fields);
}

void *field_at(const struct policy *p, const struct field *f)
{
	return (char *)(uintptr_t)p + f->offset;
}

bool field_is_empty(const struct policy *p, const struct field *f)
{
	if (f->type->parse)
		return *(int64_t *)field_at(p, f) == LIMIT_NONE;
	return f->clean == clean_workdir && !p->workdir;
}

const struct policy_field_info *policy_field(size_t index)
{
	return index < field_count ? &fields[index].info : NULL;
}

const char *access_name(enum access access)
{
	return access_names[access];
}

const char *writes_name(enum writes writes)
{
	return writes_names[writes];
}

const char *identity_name(enum identity identity)
{
	return identity_names[identity];
}

const char *proc_name(enum proc proc)
{
	return proc_names[proc];
}

const char *network_mode_name(enum network_mode mode)
{
	return mode_names[mode];
}

const char *profile_name(enum profile profile)
{
	return profile_names[profile];
}
