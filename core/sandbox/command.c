/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command's process between fork and exec. Each step takes away what the
 * one before needed: session and terminal, descriptors, limits, ids,
 * capabilities, working directory, filter, exec. After the first drop of rights
 * there is no way back: what fails is told and the process ends.
 *
 * It may share init's memory (vfork(2)): it writes only to its own stack, to
 * the command_memory that init made for it, and to the shared page.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <termios.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "sandbox/accounts.h"
#include "sandbox/rights.h"
#include "sandbox/setup.h"

struct command_memory {
	struct account account;
	char path[PATH_MAX];   /* the file to execute */
	char denied[PATH_MAX]; /* the last one found that may not be */
	char shell_name[ACCOUNT_TEXT_MAX + 1];
	char *shell_argv[2];
	char home[ACCOUNT_TEXT_MAX + 8], user[ACCOUNT_TEXT_MAX + 8];
	char logname[ACCOUNT_TEXT_MAX + 8], shell[ACCOUNT_TEXT_MAX + 8];
	char term[ACCOUNT_TEXT_MAX + 8];
	char *env[]; /* of the plan, these, NULL */
};

struct command_memory *command_memory_new(const struct plan *plan)
{
	return mem_alloc(sizeof(struct command_memory) +
			 (plan->command.env.count + 6) * sizeof(char *));
}

/* ---- failures ---- */

static void fail(struct setup *s, bool is_setup, int code, const char *format,
		 ...) __attribute__((noreturn, format(printf, 4, 5), cold));

static void fail(struct setup *s, bool is_setup, int code, const char *format,
		 ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(s->shared->exec_reason, sizeof(s->shared->exec_reason),
		  format, args);
	va_end(args);
	s->shared->exec_setup = is_setup;
	s->shared->exec_failed = code;
	_exit(127);
}

/* The interpreter that a script's first line names. */
static void explain_script(struct setup *s, const char *path, char *text)
{
	char *name = text + 2 + strspn(text + 2, " \t");
	size_t len = strcspn(name, " \t\n");
	bool cr = len && name[len - 1] == '\r';

	name[len] = '\0';
	if (cr)
		name[len - 1] = '\0';
	fail(s, false, ENOENT, "%s: its interpreter %s%s is not in the box%s",
	     path, name, cr ? "\\r" : "",
	     cr ? "; the first line ends in a carriage return" : "");
}

/* The loader (PT_INTERP) of a program. */
static void explain_program(struct setup *s, const char *path, int fd,
			    const Elf64_Ehdr *h)
{
	char name[128] = "";
	Elf64_Phdr p;

	if (h->e_ident[EI_CLASS] != ELFCLASS64)
		return;
	for (unsigned i = 0; i < h->e_phnum && i < 64; i++) {
		off_t at = (off_t)(h->e_phoff + i * sizeof(p));

		if (pread(fd, &p, sizeof(p), at) != sizeof(p))
			return;
		if (p.p_type != PT_INTERP)
			continue;
		ssize_t n =
			pread(fd, name, sizeof(name) - 1, (off_t)p.p_offset);

		if (n <= 0)
			return;
		name[n] = '\0';
		fail(s, false, ENOENT, "%s: its loader %s is not in the box",
		     path, name);
	}
}

/* execve(2) says ENOENT for a file that is there when what it needs is not. */
static void explain_missing(struct setup *s, const char *path)
{
	_Alignas(Elf64_Ehdr) char head[256] = "";
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0 && errno == ENOENT)
		fail(s, false, ENOENT, "%s is not in the box", path);
	ssize_t n = fd < 0 ? 0 : pread(fd, head, sizeof(head) - 1, 0);

	if (n > 2 && head[0] == '#' && head[1] == '!')
		explain_script(s, path, head);
	if (n >= (ssize_t)sizeof(Elf64_Ehdr) &&
	    memcmp(head, ELFMAG, SELFMAG) == 0)
		explain_program(s, path, fd, (const Elf64_Ehdr *)head);
	fail(s, false, ENOENT, "%s: its loader or interpreter is missing",
	     path);
}

static void explain_format(struct setup *s, const char *path)
{
	Elf64_Ehdr h = { 0 };
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : pread(fd, &h, sizeof(h), 0);

	if (n == 0)
		fail(s, false, ENOEXEC, "%s is an empty file", path);
	if (n >= 20 && memcmp(h.e_ident, ELFMAG, SELFMAG) == 0)
		fail(s, false, ENOEXEC,
		     "%s is for another processor (ELF machine %u)", path,
		     h.e_machine);
	fail(s, false, ENOEXEC,
	     "%s is neither a program nor a script with #! in its first line",
	     path);
}

static void explain(struct setup *s, const char *path, int code)
{
	struct stat st;

	if (code == ENOENT)
		explain_missing(s, path);
	if (code == ENOEXEC)
		explain_format(s, path);
	if (code == EACCES && stat(path, &st) == 0 && S_ISDIR(st.st_mode))
		fail(s, false, code, "%s is a directory", path);
	if (code == EACCES && stat(path, &st) == 0 && !(st.st_mode & 0111))
		fail(s, false, code, "%s is not executable (mode %04o)", path,
		     st.st_mode & 07777);
	if (code == E2BIG)
		fail(s, false, code,
		     "%s: one argument is over 128 KiB, or all arguments and "
		     "the environment are over a quarter of the stack limit",
		     path);
	fail(s, false, code, "%s: %s", path, strerror(code));
}

/* ---- the steps ---- */

static void take_session(struct setup *s, const int stdio[3])
{
	bool in_place = stdio[0] == 0 && stdio[1] == 1 && stdio[2] == 2;
	int above[3];

	if (setsid() < 0)
		fail(s, true, errno, "command: session");
	/* Above 2 first, or one would be overwritten before it is used. */
	for (int i = 0; i < 3 && !in_place; i++)
		above[i] = fcntl(stdio[i], F_DUPFD_CLOEXEC, 10);
	for (int i = 0; i < 3 && !in_place; i++)
		if (above[i] < 0 || dup2(above[i], i) < 0)
			fail(s, true, errno, "command: descriptor %d", i);
	if (s->plan->command.pty && ioctl(0, TIOCSCTTY, 0) < 0 &&
	    ioctl(1, TIOCSCTTY, 0) < 0)
		fail(s, true, errno, "command: controlling terminal");
	/* Close-on-exec they are all by birth; this holds should one not be. */
	fd_close_range(3, ~0U, true);
}

static void take_limits(struct setup *s)
{
	const struct plan_limits *l = &s->plan->limits;

	for (size_t i = 0; i < l->rlimit_count; i++) {
		const struct policy_ulimit *u = &l->rlimits[i];
		struct rlimit r = { u->soft, u->hard };

		if (setrlimit((__rlimit_resource_t)u->resource, &r) < 0)
			fail(s, true, errno, "command: limit %s", u->name);
	}
}

static void take_ids(struct setup *s, const struct account *a)
{
	struct __user_cap_header_struct head = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct caps[2] = { 0 };
	uint64_t kept = rights_of(s->plan);

	/* In a one-id box the map decided already, and setgroups(2) is denied
	 * (user_namespaces(7)). Raw, for glibc's wrappers would tell the other
	 * threads of a process whose memory this may be. */
	if (s->plan->ids.identity != IDENTITY_ONE &&
	    (syscall(SYS_setgroups, a->group_count, a->groups) < 0 ||
	     syscall(SYS_setresgid, a->gid, a->gid, a->gid) < 0 ||
	     syscall(SYS_setresuid, a->uid, a->uid, a->uid) < 0))
		fail(s, true, errno, "command: become user %s",
		     s->plan->command.user);
	if (a->uid == 0) {
		caps[0].effective = caps[0].permitted = (__u32)kept;
		caps[1].effective = caps[1].permitted = (__u32)(kept >> 32);
	}
	if (syscall(SYS_capset, &head, caps) < 0)
		fail(s, true, errno, "command: capabilities");
}

static bool has_env(const struct strv *env, const char *prefix)
{
	for (size_t i = 0; i < env->count; i++)
		if (strncmp(env->items[i], prefix, strlen(prefix)) == 0)
			return true;
	return false;
}

/*
 * Programs write there. Where the account has no home in which its user can, as
 * nobody and numbers without an account, it is /tmp. A root file system that is
 * read-only as a whole was asked for, and its homes are read.
 */
static void choose_home(struct account *a)
{
	static const char fallback[] = "/tmp";
	struct stat st;
	bool has = strcmp(a->home, "/") != 0 && stat(a->home, &st) == 0 &&
		   S_ISDIR(st.st_mode) &&
		   (access(a->home, W_OK | X_OK) == 0 || errno == EROFS);

	if (!has && access(fallback, W_OK | X_OK) == 0)
		memcpy(a->home, fallback, sizeof(fallback));
}

/* What only the box's accounts tell, where the policy does not say it. */
static void complete_env(const struct plan *plan, struct command_memory *m)
{
	const struct account *a = &m->account;
	const struct {
		const char *prefix, *value;
		char *text;
	} parts[] = {
		{ "HOME=", a->home, m->home },
		{ "USER=", a->name, m->user },
		{ "LOGNAME=", a->name, m->logname },
		{ "SHELL=", a->shell, m->shell },
		{ "TERM=", plan->command.pty ? plan->command.term : "",
		  m->term },
	};
	size_t n = 0;

	for (size_t i = 0; i < plan->command.env.count; i++)
		m->env[n++] = plan->command.env.items[i];
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		if (!*parts[i].value ||
		    has_env(&plan->command.env, parts[i].prefix))
			continue;
		snprintf(parts[i].text, ACCOUNT_TEXT_MAX + 8, "%s%s",
			 parts[i].prefix, parts[i].value);
		m->env[n++] = parts[i].text;
	}
	m->env[n] = NULL;
}

/* A shell starts in its user's home where there is one, as a login does. */
static void enter_workdir(struct setup *s, const struct command_memory *m)
{
	const struct command *c = &s->plan->command;

	if (c->workdir) {
		if (chdir(c->workdir) < 0)
			fail(s, true, errno, "working directory %s",
			     c->workdir);
		return;
	}
	if (c->shell && chdir(m->account.home) == 0)
		return;
	if (chdir("/") < 0)
		fail(s, true, errno, "working directory /");
}

/* ---- exec ---- */

static const char *search_path(char **env)
{
	for (; *env; env++)
		if (strncmp(*env, "PATH=", 5) == 0)
			return *env + 5;
	return "/usr/local/bin:/usr/bin:/bin";
}

/* Tries one directory of the search path; comes back only where the next may
 * have it. Returns whether a file was found that may not be executed. */
static bool exec_in(struct setup *s, const char *dir, size_t len,
		    char *const *argv, struct command_memory *m)
{
	size_t name_len = strlen(argv[0]);

	if (!len || !name_len || len + name_len + 2 > sizeof(m->path))
		return false;
	memcpy(m->path, dir, len);
	m->path[len] = '/';
	memcpy(m->path + len + 1, argv[0], name_len + 1);
	execve(m->path, argv, m->env);
	int code = errno;

	if (code == EACCES) {
		memcpy(m->denied, m->path, len + name_len + 2);
		return true;
	}
	/* There, but not what it needs. */
	if ((code != ENOENT && code != ENOTDIR) || access(m->path, F_OK) == 0)
		explain(s, m->path, code);
	return false;
}

/* execvp(3)'s search without its fall-back to sh for files of no format. */
static void exec_search(struct setup *s, char *const *argv,
			struct command_memory *m)
{
	const char *dir = search_path(m->env);
	bool denied = false;

	for (;;) {
		size_t len = strcspn(dir, ":");

		if (exec_in(s, dir, len, argv, m))
			denied = true;
		if (!dir[len])
			break;
		dir += len + 1;
	}
	/* A directory that may not be searched says EACCES too. */
	if (denied && access(m->denied, F_OK) == 0)
		explain(s, m->denied, EACCES);
	fail(s, false, ENOENT, "%s is not in the box's PATH", argv[0]);
}

static void execute(struct setup *s, struct command_memory *m)
{
	const struct command *c = &s->plan->command;
	char *const *argv = c->argv.items;

	if (c->shell) {
		/* login(1)'s sign of a login shell: "-sh". */
		const char *base = strrchr(m->account.shell, '/');

		snprintf(m->shell_name, sizeof(m->shell_name), "-%s",
			 base ? base + 1 : m->account.shell);
		m->shell_argv[0] = m->shell_name;
		m->shell_argv[1] = NULL;
		execve(m->account.shell, m->shell_argv, m->env);
		explain(s, m->account.shell, errno);
	}
	if (!strchr(argv[0], '/'))
		exec_search(s, argv, m);
	execve(argv[0], argv, m->env);
	explain(s, argv[0], errno);
}

/*
 * Before the profile's filter, which may refuse what this needs. The other form
 * is loaded where there is no listener to be had: a filter above, of another
 * sandbox, has one already (EBUSY), or refuses them.
 */
static void take_volume_filter(struct setup *s)
{
	struct message m = { .type = MESSAGE_LISTENER };
	struct filter filter;

	if (!s->plan->writable_volumes)
		return;
	filter_for_volumes(true, &filter);
	int listener = filter_load_listener(&filter), r;

	if (listener < 0) {
		filter_for_volumes(false, &filter);
		r = filter_load(&filter);
	} else {
		r = message_send(s->listener[1], &m, &listener, 1);
		close(listener);
	}
	if (r < 0)
		fail(s, true, -r, "command: filter for volumes");
}

void command_main(struct setup *s, const int stdio[3],
		  struct command_memory *memory)
{
	const struct command *c = &s->plan->command;

	sigset_t none;

	take_session(s, stdio);
	/* Dispositions are the default ones (init.c), but for init's own
	 * handler, which exec resets. */
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	umask(022);
	int r = accounts_find(s->etc, c->user, &memory->account);

	if (r < 0)
		fail(s, true, ENOENT, "user %s is not in the box", c->user);
	if (c->pty && fchown(0, memory->account.uid, (gid_t)-1) < 0 &&
	    errno != EINVAL)
		fail(s, true, errno, "command: owner of the terminal");
	take_limits(s);
	take_ids(s, &memory->account);
	choose_home(&memory->account);
	complete_env(s->plan, memory);
	enter_workdir(s, memory);
	take_volume_filter(s);
	r = filter_load(&s->plan->filter);
	if (r < 0)
		fail(s, true, -r, "command: filter");
	execute(s, memory);
	_exit(127);
}
