/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The plan: everything that is decided before anything is done, as plain data.
 * It is built from a policy and an opened image, printed by --dry-run, carried
 * out by sandbox/ and super/. It owns all of its strings: outer and init read
 * it from their copy of the supervisor's memory, in which argv and the
 * environment are overwritten.
 */
#ifndef LLMBOX_PLAN_H
#define LLMBOX_PLAN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/types.h>

#include "base/buf.h"
#include "policy/policy.h"
#include "sandbox/idmap.h"
#include "sandbox/protect.h"
#include "sandbox/seccomp.h"

struct error;
struct json_writer;

/* One guarantee: what is promised, by which means, and whether it can be got
 * round ("soft"). The report's "isolation" is this list. */
struct guarantee {
	const char *name;  /* "pids" */
	const char *means; /* "rlimit", "tmpfs", "none", ...; static */
	bool soft;
	bool asked; /* by policy, option or require */
};

enum root_kind { ROOT_HOST, ROOT_TREE };

struct plan_root {
	enum root_kind kind;
	char *tree;    /* the lower directory; NULL for the host view */
	bool idmapped; /* lower handed to init as an idmapped mount */
	enum writes writes;
	char *disk;     /* absolute directory for upper layers, the root's and
			   volumes'; NULL: they lie in memory */
	bool only_disk; /* not asked for: memory can't hold them here */
};

struct plan_mount {
	struct policy_mount *mount; /* the policy's, which outlives the plan */
	bool directory;             /* the source is one; a tmpfs too */
	dev_t dev;                  /* what was checked; init opens it again */
	ino_t ino;
	uid_t owner; /* of the source, on the host */
	gid_t group;
	struct protect protect; /* of a writable directory */
	bool on_volume; /* its place lies on a writable volume: init holds it
			   as a placeholder (placeholder.h) */
};

struct plan_limits {
	int64_t time, lifetime, cpu_time; /* milliseconds, or LIMIT_NONE */
	int64_t output, disk, inodes, memory, pids;
	int64_t cpus;
	struct policy_ulimit *rlimits; /* for each command, in order */
	size_t rlimit_count;
};

/* What one command of the box is; a box that stays gets more of them. */
struct command {
	struct strv argv;
	struct strv env; /* NAME=VALUE, complete but for what only the box's
			    own accounts tell: HOME, USER, LOGNAME, SHELL */
	char *workdir;   /* absolute, or NULL: "/" or the account's home */
	char *user;      /* as the policy has it */
	char *term;      /* TERM, with a pty, where env has none */
	bool shell;      /* no argv: the account's shell, as a login shell */
	bool pty;
	struct winsize size; /* of the pty; 0: 24x80 */
};

struct plan {
	struct idmap ids;
	uid_t user_uid; /* of the command's user, inside: owners of volumes */
	gid_t user_gid;
	struct plan_root root;
	char *hostname;
	enum network_mode network;
	enum proc proc;
	struct plan_mount *mounts; /* in order: parents before children */
	size_t mount_count;
	bool writable_volumes; /* of the host, not overlays */
	struct plan_limits limits;
	struct filter filter, init_filter;
	bool emulates_one; /* root emulation with no id but 0 (seccomp.h) */
	enum profile profile;
	struct command command;
	struct guarantee *guarantees;
	size_t guarantee_count;
	bool count_changes; /* of the root and of overlay volumes, at the end */
};

struct plan_input {
	const struct policy *policy;
	const char *tree; /* of the image; NULL: the host view */
	bool tree_idmap;  /* the tree lies plain: idmap it for host root */
	const char *disk; /* where plan_wants_disk says so: an empty directory,
			     absolute, the caller's own */
	const struct idmap *ids;
	uid_t user_uid; /* of policy->user, as accounts_ids found them */
	gid_t user_gid;
	const char *const *argv; /* NULL-terminated; empty: the shell */
	bool count_changes;
	bool allow_root_volume;         /* --allow-root-volume */
	const struct strv *named_files; /* --policy, --report, -r, ...: files
					   that no volume may hold writable */
};

/*
 * Must upper layers lie on disk: asked for, or because this kernel's tmpfs has
 * no user xattrs (before 6.6), which an overlay in a user namespace needs.
 */
bool plan_wants_disk(const struct policy *policy, bool has_tree);

/*
 * Decides. Looks at the host (which sources exist, what can hold which limit)
 * but changes nothing. A limit that was asked for and can't be held is
 * ERROR_LIMIT and names it and its option; an unsafe volume is ERROR_POLICY.
 */
int plan_build(const struct plan_input *in, struct plan *ret,
	       struct error *err);
void plan_release(struct plan *plan);
#define auto_plan __attribute__((cleanup(plan_release))) struct plan

/* --dry-run: the plan as one object. */
void plan_write(const struct plan *plan, struct json_writer *w);

#endif
