/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a box may do and use. One table (fields.c) has every field with its
 * name, type, parser, default and documentation; the loader, the command
 * line's options, the schema, policy show and the manual all go by it. Nothing
 * here touches the host: a policy is plain data, checked against itself.
 */
#ifndef LLMBOX_POLICY_H
#define LLMBOX_POLICY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

struct error;
struct error_list;
struct json_writer;

enum access { ACCESS_RO, ACCESS_RW, ACCESS_OVERLAY };
enum writes { WRITES_MEMORY, WRITES_DISK, WRITES_NONE };
enum identity { IDENTITY_AUTO, IDENTITY_ONE, IDENTITY_RANGE, IDENTITY_SHIFTED };
enum proc { PROC_OWN, PROC_OUTER };
enum network_mode { NETWORK_NONE, NETWORK_ALLOWLIST, NETWORK_HOST };
enum profile { PROFILE_DEFAULT, PROFILE_STRICT, PROFILE_DEBUG };

/* Where a value came from. */
enum origin_kind {
	ORIGIN_DEFAULT, /* built in; nobody asked for it */
	ORIGIN_FILE,
	ORIGIN_OPTION, /* the command line */
};

struct origin {
	enum origin_kind kind;
	const char *name; /* the file, or the option ("-m"); policy owns it */
	unsigned line, column;
};

struct policy_mount {
	char *source; /* absolute and normal; NULL: a tmpfs */
	char *target; /* absolute and normal */
	enum access access;
	bool project;        /* -C: also the working directory */
	int64_t size;        /* tmpfs: bytes, or LIMIT_NONE */
	struct strv protect; /* relative to source; the built-in ones added */
	struct strv hide;    /* globs relative to source */
	struct origin origin;
};

struct policy_env {
	char *name, *value;
};

struct policy_ulimit {
	int resource;        /* RLIMIT_... */
	char *name;          /* "nofile" */
	uint64_t soft, hard; /* RLIM_INFINITY: unlimited */
};

/* No bound. All limits are bounded or LIMIT_NONE, never 0. */
#define LIMIT_NONE ((int64_t)-1)

struct policy_limits {
	int64_t time, lifetime, idle, cpu_time; /* milliseconds */
	int64_t cpus;                           /* thousandths of a processor */
	int64_t memory, disk, output, file_size; /* bytes */
	int64_t pids, inodes, open_files;
	struct policy_ulimit *ulimits;
	size_t ulimit_count;
};

struct policy_network {
	enum network_mode mode;
	struct strv allow, publish;
	struct policy_env *routes; /* name: from, value: to */
	size_t route_count;
};

struct policy {
	char *image; /* as it was given, made absolute where it is a path; NULL:
			the host view */
	enum writes writes;
	char *workdir; /* absolute, or NULL */
	char *user;    /* NAME|UID[:GROUP|GID]; default "root" */
	char *hostname;
	enum identity identity;
	enum proc proc;
	struct policy_env *env; /* later ones win */
	size_t env_count;
	struct strv env_pass;
	struct policy_mount
		*mounts; /* as given; later ones win on one target */
	size_t mount_count;
	struct policy_network network;
	struct policy_limits limits;
	enum profile profile;
	struct strv syscalls_allow, syscalls_deny;
	struct strv require, best_effort; /* names of guarantees and limits */

	struct origin *origins; /* one a field, in the table's order */
	struct strv names;      /* what origins point to */
	struct strv files;      /* the files that were read, in order */
};

/* The built-in policy. */
void policy_init(struct policy *p);
void policy_release(struct policy *p);
#define auto_policy __attribute__((cleanup(policy_release))) struct policy

/*
 * Reads the first source there is: explicit files (repeated ones merge: lists
 * append, later scalars win), $LLMBOX_POLICY,
 * $XDG_CONFIG_HOME/llmbox/policy.json, /etc/llmbox/policy.json; none is no
 * error. Paths in a file are relative to the file. All errors of a file are
 * told, up to ERROR_LIST_MAX; any error means that nothing may run. Returns 0
 * or -errno of the first.
 */
int policy_load(struct policy *p, const struct strv *files,
		struct error_list *errors);

/* One file into p, as policy_load. "-" is not special. */
int policy_load_file(struct policy *p, const char *file,
		     struct error_list *errors);

/*
 * Sets one field from an option's text with the field's own parser: "512m" for
 * "limits.memory"; lists append one element. option ("-m") is the origin.
 * Relative paths count from the working directory. ERROR_USAGE.
 */
int policy_set(struct policy *p, const char *field, const char *option,
	       const char *text, struct error *err);

/* -v SRC:DST[:rw|ro|overlay], default rw; -C DIR[:overlay|rw|ro]; --tmpfs
 * DST[:SIZE]. ERROR_USAGE with the cure ("write ./SRC"). */
int policy_add_volume(struct policy *p, const char *option, const char *text,
		      struct error *err);
int policy_add_project(struct policy *p, const char *option, const char *text,
		       struct error *err);
int policy_add_tmpfs(struct policy *p, const char *option, const char *text,
		     struct error *err);

/*
 * After the last change: checks that no single field can (mounts that
 * contradict each other, unsafe targets such as /proc, names in require and
 * best_effort, hostname's form), then the ceiling (/etc/llmbox/ceiling.json,
 * which a policy can only tighten). ERROR_POLICY, or ERROR_USAGE where an
 * option is at fault.
 */
int policy_finish(struct policy *p, struct error *err);

/* Was the field (by its dotted name) set by anybody? Where? */
const struct origin *policy_origin(const struct policy *p, const char *field);
bool policy_asked(const struct policy *p, const char *field);

/* policy show: the whole policy as an object; origins: each field with "value"
 * and "from". */
void policy_write(const struct policy *p, bool origins, struct json_writer *w);
/* policy schema: JSON Schema (2020-12) of a policy file, from the table. */
void policy_write_schema(struct json_writer *w);

const char *access_name(enum access access);
const char *writes_name(enum writes writes);
const char *identity_name(enum identity identity);
const char *proc_name(enum proc proc);
const char *network_mode_name(enum network_mode mode);
const char *profile_name(enum profile profile);

/* The table, for the manual's test, the schema and completions. */
struct policy_field_info {
	const char *name;     /* "limits.memory" */
	const char *type;     /* "size", "time", "string", "list", ... */
	const char *fallback; /* the default as text, or "" */
	const char *doc;      /* one clause */
};
/* NULL at the end. */
const struct policy_field_info *policy_field(size_t index);

#endif
