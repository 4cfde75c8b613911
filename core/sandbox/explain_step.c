/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Why a step of set-up failed. In this order: what only that step can fail of;
 * the settings that take the rights from user namespaces; a system call that is
 * not there or refused, found by making each of them once, with arguments that
 * no kernel accepts, by a process with every right over namespaces of its own.
 * This costs some milliseconds, of which a box that starts pays none.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/fd.h"
#include "base/mem.h"
#include "sandbox/explain.h"

/* ---- system calls ---- */

/* Errors that the kernel gives such a call anyway: EINVAL, EFAULT, EBADF. */
static const struct needed_call {
	const char *name, *since; /* NULL: older than what llmbox runs on */
	long number;
	long args[5];
} needed_calls[] = {
	{ "mount", NULL, SYS_mount, { 0 } },
	{ "umount2", NULL, SYS_umount2, { 0 } },
	{ "pivot_root", NULL, SYS_pivot_root, { 0 } },
	{ "unshare", NULL, SYS_unshare, { 0 } },
	{ "sethostname", NULL, SYS_sethostname, { 0, -1 } },
	{ "prctl", NULL, SYS_prctl, { -1 } },
	{ "capset", NULL, SYS_capset, { 0 } },
	{ "seccomp", NULL, SYS_seccomp, { -1 } },
	{ "open_tree", "5.2", SYS_open_tree, { -1, 0, 0 } },
	{ "move_mount", "5.2", SYS_move_mount, { -1, 0, -1, 0, 0 } },
	{ "fsopen", "5.2", SYS_fsopen, { 0 } },
	{ "fsconfig", "5.2", SYS_fsconfig, { -1 } },
	{ "fsmount", "5.2", SYS_fsmount, { -1 } },
	{ "pidfd_open", "5.3", SYS_pidfd_open, { -1 } },
	{ "openat2", "5.6", SYS_openat2, { -1 } },
	{ "mount_setattr", "5.12", SYS_mount_setattr, { -1 } },
};

enum { MISSING = 0x80 }; /* in a status: ENOSYS, else refused */

/* The index of the first that fails so, plus one; or 0. */
static int try_calls(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(needed_calls); i++) {
		const struct needed_call *c = &needed_calls[i];

		if (syscall(c->number, c->args[0], c->args[1], c->args[2],
			    c->args[3], c->args[4]) >= 0)
			continue;
		if (errno == ENOSYS)
			return (int)(i + 1) | MISSING;
		if (errno == EPERM || errno == EACCES)
			return (int)(i + 1);
	}
	return 0;
}

/* What a process in new namespaces answers, a small number; or -errno. */
static int ask_child(int namespaces, int (*ask)(void))
{
	int status;
	pid_t pid = (pid_t)syscall(SYS_clone, namespaces | SIGCHLD, NULL, NULL,
				   NULL, NULL);

	if (pid == 0)
		_exit(ask());
	if (pid < 0)
		return -errno;
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return 0;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 0;
}

static const struct needed_call *find_call(int *ret_code)
{
	int found = ask_child(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWUTS,
			      try_calls);

	if (found < 0)
		return NULL;
	*ret_code = found & MISSING ? ENOSYS : EPERM;
	found &= ~MISSING;
	return found ? &needed_calls[found - 1] : NULL;
}

static void name_call(const struct needed_call *call, int code,
		      struct error *err)
{
	enum cure cure = explain_call(code, CURE_NONE);
	auto_free char *what = mem_strdup(err->message);
	enum error_kind kind = err->kind;

	if (cure == CURE_FILTER)
		error_set(err, kind, err->code,
			  "%s: the system-call filter that llmbox was started "
			  "under refuses %s(2)",
			  what, call->name);
	else if (code == ENOSYS)
		error_set(err, kind, err->code,
			  "%s: this kernel has no %s(2), which Linux %s has",
			  what, call->name, call->since ? call->since : "2.6");
	else
		error_set(err, kind, err->code,
			  "%s: this host refuses %s(2) in user namespaces",
			  what, call->name);
	if (cure != CURE_NONE)
		error_hint(err, "%s", explain_cure(cure));
}

/* Root of a container has fewer rights than an ordinary user has in namespaces
 * of its own: mounts of the container's are none of its to hand over. */
static bool is_root_without_rights(void)
{
	struct __user_cap_header_struct head = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct caps[2] = { 0 };

	return geteuid() == 0 && syscall(SYS_capget, &head, caps) == 0 &&
	       !(caps[0].effective & 1U << CAP_SYS_ADMIN);
}

int explain_error(struct error *err)
{
	int code = 0;
	const struct needed_call *call = NULL;

	if (!err || err->kind == ERROR_NONE)
		return 0;
	if (err->code == EPERM && is_root_without_rights()) {
		auto_free char *what = mem_strdup(err->message);

		error_set(err, err->kind, EPERM,
			  "%s: this root has no CAP_SYS_ADMIN", what);
		return error_hint(err, "start llmbox as another user; in "
				       "docker: --user 1000, in a pod: "
				       "runAsUser: 1000");
	}
	if (err->code == ENOSYS || err->code == EPERM || err->code == EACCES)
		call = find_call(&code);
	if (call)
		name_call(call, code, err);
	return err->code ? -err->code : -EINVAL;
}

/* ---- namespaces ---- */

static const struct needed_namespace {
	int flag;
	const char *name, *file;
} needed_namespaces[] = {
	{ CLONE_NEWNS, "mount", "mnt" },         { CLONE_NEWPID, "pid", "pid" },
	{ CLONE_NEWNET, "network", "net" },      { CLONE_NEWIPC, "ipc", "ipc" },
	{ CLONE_NEWCGROUP, "cgroup", "cgroup" }, { CLONE_NEWUTS, "uts", "uts" },
};

static int answer_nothing(void)
{
	return 0;
}

static int name_namespace(const struct needed_namespace *n, int code,
			  struct error *err)
{
	enum cure cure = explain_call(code, CURE_NONE);
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/ns/%s", n->file);
	if (access(path, F_OK) < 0)
		return error_set(err, ERROR_HOST, code,
				 "this kernel has no %s namespaces", n->name);
	if (code == ENOSPC) {
		error_set(err, ERROR_HOST, code, "no more %s namespaces",
			  n->name);
		return error_hint(err,
				  "as root: sysctl "
				  "user.max_%s_namespaces=15000",
				  n->file);
	}
	if (cure == CURE_FILTER)
		error_set(err, ERROR_HOST, code,
			  "the system-call filter that llmbox was started "
			  "under refuses %s namespaces",
			  n->name);
	else
		error_set(err, ERROR_HOST, code,
			  "this host refuses %s namespaces", n->name);
	return cure == CURE_NONE ? -code
				 : error_hint(err, "%s", explain_cure(cure));
}

/* 0 where each of them can be made. */
static int find_namespace(struct error *err)
{
	int r = ask_child(CLONE_NEWUSER, answer_nothing);

	if (r == -EINVAL && access("/proc/self/ns/user", F_OK) < 0)
		return error_set(err, ERROR_HOST, EINVAL,
				 "this kernel has no user namespaces "
				 "(CONFIG_USER_NS)");
	if (r < 0)
		return explain_userns(-r, err);
	for (size_t i = 0; i < ARRAY_SIZE(needed_namespaces); i++) {
		r = ask_child(CLONE_NEWUSER | needed_namespaces[i].flag,
			      answer_nothing);
		if (r < 0)
			return name_namespace(&needed_namespaces[i], -r, err);
	}
	return 0;
}

int explain_namespaces(int code, struct error *err)
{
	int r = find_namespace(err);

	return r < 0 ? r : explain_userns(code, err);
}

/* ---- what only one step can fail of ---- */

/* The first mount point below /proc; those of the kernel itself cover nothing
 * (mount_is_visible's empty directories, fs/namespace.c). */
static bool proc_is_covered(char ret_path[128])
{
	auto_buf text = { 0 };

	if (file_read(AT_FDCWD, "/proc/self/mountinfo", 1 << 20, &text) < 0 ||
	    !text.data)
		return false;
	for (const char *line = text.data; line && *line;) {
		if (sscanf(line, "%*s %*s %*s %*s %127s", ret_path) == 1 &&
		    strncmp(ret_path, "/proc/", 6) == 0 &&
		    strncmp(ret_path, "/proc/sys/fs/", 13) != 0)
			return true;
		line = strchr(line, '\n');
		line = line ? line + 1 : NULL;
	}
	return false;
}

static int explain_proc(int code, struct error *err)
{
	char path[128];

	if (proc_is_covered(path))
		error_set(err, ERROR_HOST, code,
			  "set up the box: no /proc of its own, since %s is "
			  "covered, as container engines do",
			  path);
	else
		error_set(err, ERROR_HOST, code,
			  "set up the box: no /proc of its own, since this "
			  "host shows none that is whole");
	return error_hint(err, "%s; or the policy field \"proc\": \"outer\"",
			  explain_cure(CURE_PROC));
}

static int explain_overlay(int code, struct error *err)
{
	error_set(err, ERROR_HOST, code,
		  "set up the box: this kernel has no overlay file system");
	return error_hint(err, "%s", explain_cure(CURE_OVERLAY));
}

/* Set-up began, so user namespaces can be made; but not so many, or they give
 * no rights. */
static int explain_settings(int code, struct error *err)
{
	enum cure cure = explain_userns_cure(code);

	if (cure == CURE_NONE || cure == CURE_FILTER || cure == CURE_KERNEL ||
	    cure == CURE_APPARMOR_BOX)
		return 0;
	return explain_userns(code, err);
}

/* A filter may look at arguments, and a security module leaves no trace that
 * the caller may read. */
static int explain_guess(struct error *err)
{
	enum cure cure = explain_call(err->code, CURE_MODULE);
	auto_free char *what = mem_strdup(err->message);
	const char *who = NULL;

	if (err->code != EPERM && err->code != EACCES && err->code != ENOSYS)
		return -err->code;
	if (cure == CURE_FILTER)
		who = "the system-call filter that llmbox was started under";
	else if (cure == CURE_APPARMOR_BOX)
		who = "the AppArmor profile that llmbox was started under";
	else if (cure == CURE_MODULE)
		who = "a security module of this host (AppArmor, SELinux)";
	if (who)
		error_set(err, err->kind, err->code,
			  "%s: perhaps refused by %s", what, who);
	return error_hint(err, "%s", explain_cure(cure));
}

int explain_maps(struct error *err)
{
	if (!err || err->kind == ERROR_NONE)
		return 0;
	auto_free char *what = mem_strdup(err->message);
	int code = err->code;

	if (code == ENOENT || code == EROFS) {
		error_set(err, ERROR_HOST, code,
			  "%s: /proc is not there, or read-only", what);
		return error_hint(err, "as root: mount -t proc proc /proc");
	}
	if ((code == EPERM || code == EACCES) &&
	    explain_settings(code, err) < 0)
		return error_prefix(err, "%s", what);
	return explain_guess(err);
}

/* Files of these may be closed to the caller for reasons of their own. */
static bool names_a_volume(const char *step)
{
	static const char *const steps[] = { "sources", "volumes", "protect",
					     "workdir" };

	for (size_t i = 0; i < ARRAY_SIZE(steps); i++)
		if (strncmp(step, steps[i], strlen(steps[i])) == 0)
			return true;
	return false;
}

int explain_step(const char *step, int code, struct error *err)
{
	bool refused = code == EPERM || code == EACCES;
	int r = 0;

	if (code == EPERM && strcmp(step, "proc: a new one") == 0)
		return explain_proc(code, err);
	if (code == ENODEV && strstr(step, "overlay"))
		return explain_overlay(code, err);
	if (strcmp(step, "make init") == 0 ||
	    strcmp(step, "make a network namespace") == 0)
		r = find_namespace(err);
	if (r == 0 && (refused || code == ENOSPC))
		r = explain_settings(code, err);
	if (r < 0)
		return error_prefix(err, "set up the box: %s", step);
	if (strcmp(step, "map ids") == 0 || strcmp(step, "id maps") == 0 ||
	    strcmp(step, "map ids of init") == 0) {
		error_set(err, ERROR_HOST, code, "set up the box: %s", step);
		return explain_maps(err);
	}
	error_set(err, ERROR_HOST, code, "set up the box: %s", step);
	r = explain_error(err);
	return err && !err->hint[0] && !names_a_volume(step)
		       ? explain_guess(err)
		       : r;
}
