/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The least that a namespace sandbox can do, as the measure of llmbox's start.
 * One clone with the namespaces asked for, one id mapped, an overlay of the
 * tree on a fresh tmpfs, /proc, a small /dev, loopback up, pivot_root, exec. No
 * filter, no limits, no init, no report: what llmbox takes beyond this is the
 * price of those. It trusts its arguments.
 *
 *   floor [-n LETTERS] [-r TREE] [-o] [-p] [-d] [-l] -- COMMAND [ARG]...
 *
 *   -n  u(ser) m(ount) p(id) n(et) i(pc) (u)t(s) c(group)
 *   -r  the tree; -o over it an overlay, else a bind mount
 *   -p  /proc; -d a tmpfs on /dev with six devices; -l loopback up
 */
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

struct floor {
	unsigned long namespaces;
	const char *tree;
	bool overlay, proc, dev, loopback;
	uid_t uid;
	gid_t gid;
};

static void check(long result, const char *what)
{
	if (result >= 0)
		return;
	fprintf(stderr, "floor: %s: %s\n", what, strerror(errno));
	_exit(125);
}

static void put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	check(fd, path);
	check(write(fd, text, strlen(text)), path);
	close(fd);
}

static void map_ids(const struct floor *f)
{
	char map[64];

	put("/proc/self/setgroups", "deny");
	snprintf(map, sizeof(map), "0 %u 1", f->uid);
	put("/proc/self/uid_map", map);
	snprintf(map, sizeof(map), "0 %u 1", f->gid);
	put("/proc/self/gid_map", map);
}

/* As llmbox mounts it: by a name relative to the tree. */
static void mount_overlay(const struct floor *f)
{
	check(chdir(f->tree), f->tree);
	check(mount("t", "/mnt", "tmpfs", 0, "size=64m"), "tmpfs");
	check(mkdir("/mnt/u", 0755), "mkdir");
	check(mkdir("/mnt/w", 0755), "mkdir");
	check(mkdir("/mnt/m", 0755), "mkdir");
	check(mount("o", "/mnt/m", "overlay", 0,
		    f->namespaces & CLONE_NEWUSER
			    ? "lowerdir=.,upperdir=/mnt/u,workdir=/mnt/w,"
			      "userxattr"
			    : "lowerdir=.,upperdir=/mnt/u,workdir=/mnt/w"),
	      "overlay");
	check(chdir("/mnt/m"), "chdir");
}

static void mount_bind(const struct floor *f)
{
	check(mount(f->tree, f->tree, NULL, MS_BIND | MS_REC, NULL), f->tree);
	check(chdir(f->tree), f->tree);
}

static void mount_dev(void)
{
	static const char *const names[] = { "null",   "zero",    "full",
					     "random", "urandom", "tty" };

	check(mount("t", "dev", "tmpfs", MS_NOSUID, "mode=755,size=64k"),
	      "dev");
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		char source[64], target[64];

		snprintf(source, sizeof(source), "/dev/%s", names[i]);
		snprintf(target, sizeof(target), "dev/%s", names[i]);
		check(mknod(target, S_IFREG | 0666, 0), target);
		check(mount(source, target, NULL, MS_BIND, NULL), target);
	}
}

static void loopback_up(void)
{
	struct ifreq request = { .ifr_name = "lo", .ifr_flags = IFF_UP };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	check(fd, "socket");
	check(ioctl(fd, SIOCSIFFLAGS, &request), "lo");
	close(fd);
}

static void enter_tree(const struct floor *f)
{
	check(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL), "private");
	if (f->overlay)
		mount_overlay(f);
	else
		mount_bind(f);
	if (f->proc)
		check(mount("proc", "proc", "proc",
			    MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL),
		      "proc");
	if (f->dev)
		mount_dev();
	check(syscall(SYS_pivot_root, ".", "."), "pivot_root");
	check(umount2(".", MNT_DETACH), "umount");
	check(chdir("/"), "chdir");
}

static void child(const struct floor *f, char **command)
{
	if (f->namespaces & CLONE_NEWUSER)
		map_ids(f);
	if (f->tree)
		enter_tree(f);
	if (f->loopback)
		loopback_up();
	execv(command[0], command);
	_exit(127);
}

static unsigned long namespaces_of(const char *letters)
{
	static const struct {
		char letter;
		unsigned long flag;
	} table[] = {
		{ 'u', CLONE_NEWUSER },   { 'm', CLONE_NEWNS },
		{ 'p', CLONE_NEWPID },    { 'n', CLONE_NEWNET },
		{ 'i', CLONE_NEWIPC },    { 't', CLONE_NEWUTS },
		{ 'c', CLONE_NEWCGROUP },
	};
	unsigned long flags = 0;

	for (; *letters; letters++)
		for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++)
			if (table[i].letter == *letters)
				flags |= table[i].flag;
	return flags;
}

static int parse(int argc, char **argv, struct floor *f)
{
	int option;

	while ((option = getopt(argc, argv, "+n:r:opdl")) != -1) {
		switch (option) {
		case 'n':
			f->namespaces = namespaces_of(optarg);
			break;
		case 'r':
			f->tree = optarg;
			break;
		case 'o':
			f->overlay = true;
			break;
		case 'p':
			f->proc = true;
			break;
		case 'd':
			f->dev = true;
			break;
		case 'l':
			f->loopback = true;
			break;
		default:
			return -1;
		}
	}
	return optind < argc ? 0 : -1;
}

int main(int argc, char **argv)
{
	struct floor f = { .uid = getuid(), .gid = getgid() };
	int status;

	if (parse(argc, argv, &f) < 0)
		return 125;
	long pid = syscall(SYS_clone, f.namespaces | SIGCHLD, NULL, NULL, NULL,
			   NULL);

	check(pid, "clone");
	if (pid == 0)
		child(&f, argv + optind);
	while (waitpid((pid_t)pid, &status, 0) < 0 && errno == EINTR)
		;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
