/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Set-up: what the kernel shows, /proc, /dev and /sys, and the directories that
 * are in memory in every box. The working directory is the box's root, in which
 * these names are directories (setup_made.c); sources are the host's.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "sandbox/setup.h"

enum { NO_EFFECT = MS_NOSUID | MS_NODEV | MS_NOEXEC };

/*
 * The caller's /proc, for a policy that says so: numbers of processes there are
 * others than in the box, and all that the caller sees has its command line
 * there. /proc/self is right, as the kernel resolves it for the process that
 * asks. Read-only, since a box's root with the caller's id owns the files of
 * the caller's processes (oom_score_adj); what lies below comes with it, for a
 * user namespace may not look behind it (mount_namespaces(7)).
 */
static int bind_outer_proc(struct setup *s)
{
	struct mount_attr attr = {
		.attr_set = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID |
			    MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC,
		.propagation = MS_PRIVATE,
	};
	auto_close int tree =
		open_tree(AT_FDCWD, "/proc",
			  OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE);

	if (tree < 0 ||
	    mount_setattr(tree, "", AT_EMPTY_PATH | AT_RECURSIVE, &attr,
			  sizeof(attr)) < 0 ||
	    move_mount(tree, "", AT_FDCWD, "proc", MOVE_MOUNT_F_EMPTY_PATH) < 0)
		return setup_fail(s, "the outer /proc");
	/* Engines mount it read-only; then the filter alone keeps a box from
	 * user namespaces of its own (plan_proc() in plan.c). */
	file_put(AT_FDCWD, "/proc/sys/user/max_user_namespaces", "0");
	return 0;
}

int setup_proc(struct setup *s)
{
	if (s->plan->proc == PROC_OUTER)
		return bind_outer_proc(s);
	if (mount("proc", "proc", "proc", NO_EFFECT, NULL) < 0)
		return setup_fail(s, "a new one");
	/* While it can still be written: no user namespaces below the box's,
	 * which would give back every capability over themselves. */
	int r = file_put(AT_FDCWD, "proc/sys/user/max_user_namespaces", "0");

	return r < 0 ? setup_fail(s, "max_user_namespaces") : 0;
}

/* Ids keep a box from writing most of it; the settings of ipc namespaces go by
 * uid alone, and these files tell of the host. */
int setup_masks(struct setup *s)
{
	static const char *const masked[] = { "proc/keys", "proc/config.gz",
					      "proc/iomem", "proc/kallsyms",
					      "proc/interrupts" };
	int r = s->plan->proc == PROC_OUTER
			? 0
			: setup_bind_over_itself(
				  "proc/sys",
				  MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID |
					  MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC);

	if (r < 0)
		return r;
	for (size_t i = 0; i < ARRAY_SIZE(masked); i++)
		if (mount("/dev/null", masked[i], NULL, MS_BIND, NULL) < 0 &&
		    errno != ENOENT)
			return setup_fail(s, "%s", masked[i]);
	return 0;
}

/* Nodes can't be made in a user namespace: the host's are bound. */
static int bind_nodes(struct setup *s)
{
	static const char *const nodes[] = { "null",   "zero",    "full",
					     "random", "urandom", "tty" };

	for (size_t i = 0; i < ARRAY_SIZE(nodes); i++) {
		char from[32], to[32];

		snprintf(from, sizeof(from), "/dev/%s", nodes[i]);
		snprintf(to, sizeof(to), "dev/%s", nodes[i]);
		if (mknod(to, S_IFREG | 0666, 0) < 0 ||
		    mount(from, to, NULL, MS_BIND, NULL) < 0)
			return setup_fail(s, "%s", from);
	}
	return 0;
}

int setup_dev(struct setup *s)
{
	static const struct {
		const char *name, *target;
	} links[] = { { "dev/fd", "/proc/self/fd" },
		      { "dev/stdin", "/proc/self/fd/0" },
		      { "dev/stdout", "/proc/self/fd/1" },
		      { "dev/stderr", "/proc/self/fd/2" },
		      { "dev/ptmx", "pts/ptmx" } };

	if (mount("/tmp/dev", "dev", NULL, MS_BIND, NULL) < 0)
		return -errno;
	setup_own_mount(s, AT_FDCWD, "dev");
	int r = bind_nodes(s);

	if (r < 0)
		return r;
	for (size_t i = 0; i < ARRAY_SIZE(links); i++)
		if (symlink(links[i].target, links[i].name) < 0)
			return setup_fail(s, "%s", links[i].name);
	if (mkdir("dev/pts", 0755) < 0 || mkdir("dev/shm", 01777) < 0)
		return setup_fail(s, "dev/pts and dev/shm");
	return 0;
}

int setup_devpts(struct setup *s)
{
	/* Terminals belong to group tty (5) where the box has more than one
	 * id. */
	const char *options =
		s->plan->ids.identity == IDENTITY_ONE
			? "newinstance,ptmxmode=0666,mode=620"
			: "newinstance,ptmxmode=0666,mode=620,gid=5";

	if (mount("devpts", "dev/pts", "devpts", MS_NOSUID | MS_NOEXEC,
		  options) < 0)
		return -errno;
	/* Kept open: terminals are made through it, by no path of the box. */
	s->devpts = open("dev/pts", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return s->devpts < 0 ? -errno : 0;
}

int setup_writable(struct setup *s)
{
	static const char *const binds[][2] = { { "/tmp/tmp", "tmp" },
						{ "/tmp/run", "run" },
						{ "/tmp/shm", "dev/shm" } };

	for (size_t i = 0; i < ARRAY_SIZE(binds); i++) {
		if (mount(binds[i][0], binds[i][1], NULL, MS_BIND, NULL) < 0)
			return setup_fail(s, "%s", binds[i][1]);
		setup_own_mount(s, AT_FDCWD, binds[i][1]);
	}
	return 0;
}

int setup_sys(struct setup *s)
{
	if (s->sysfs < 0)
		return 0; /* the host's network: no /sys of our own to show */
	if (move_mount(s->sysfs, "", AT_FDCWD, "sys", MOVE_MOUNT_F_EMPTY_PATH) <
	    0)
		return -errno;
	fd_close(&s->sysfs);
	return 0;
}
