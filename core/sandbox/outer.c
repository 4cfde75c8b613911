/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Outer: the process in the user namespace U1, which owns the network and ipc
 * namespaces of the box. No process of the box ever runs in U1, so none has a
 * capability over its own network (user_namespaces(7): capabilities count in a
 * namespace and those below it). Outer makes init in U2, below U1, as a child
 * of the supervisor, and is gone.
 *
 * It may run in the supervisor's memory (box.c): raw system calls, no
 * allocation, no lasting change but to what it is given to fill.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "sandbox/setup.h"

/* A full box must not keep init from starting what looks into it. */
enum { OUTER_RESERVED_PIDS = 16 };

/*
 * Beside the supervisor, which writes the maps of others than one id meanwhile.
 * It may change errno, so the failure does not hang on that: without this
 * namespace the box would be on the host's network.
 */
static int outer_network(struct setup *s)
{
	if (s->plan->ids.identity == IDENTITY_ONE ||
	    s->plan->network == NETWORK_HOST)
		return 0;
	if (unshare(CLONE_NEWNET) < 0)
		return errno ? -errno : -EPERM;
	return 0;
}

static int outer_maps(struct setup *s)
{
	char byte;

	if (s->plan->ids.identity == IDENTITY_ONE)
		return idmap_write_self(&s->plan->ids);
	if (read(s->go[0], &byte, 1) != 1)
		return -EPIPE; /* the supervisor is gone */
	/* An ordinary user's stays the caller, who can reach the sources of
	 * volumes: all rights over U1 it has as its maker. */
	if (s->plan->ids.identity == IDENTITY_RANGE)
		return 0;
	/* Leaves host root's ids. Raw, for glibc's wrappers would tell other
	 * threads. */
	if (syscall(SYS_setgroups, 0, NULL) < 0 ||
	    syscall(SYS_setresgid, 0, 0, 0) < 0 ||
	    syscall(SYS_setresuid, 0, 0, 0) < 0)
		return -errno;
	/* prctl(2): set*id cleared both. Init inherits dumpable, and without it
	 * U2's map files would belong to host root. */
	if (prctl(PR_SET_DUMPABLE, 1) < 0 ||
	    prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
		return -errno;
	return 0;
}

/*
 * Set here, not in init: a user namespace takes it at its creation as the bound
 * of all its ids together (ucounts, since Linux 5.14), where in init it would
 * bound each id by itself.
 */
static int outer_processes(struct setup *s)
{
	struct rlimit own, limit;

	if (s->plan->limits.pids == LIMIT_NONE)
		return 0;
	if (getrlimit(RLIMIT_NPROC, &own) < 0)
		return -errno;
	limit.rlim_cur = (rlim_t)s->plan->limits.pids + OUTER_RESERVED_PIDS;
	if (limit.rlim_cur > own.rlim_max)
		limit.rlim_cur = own.rlim_max;
	limit.rlim_max = limit.rlim_cur;
	return setrlimit(RLIMIT_NPROC, &limit) < 0 ? -errno : 0;
}

static int outer_loopback(struct setup *s)
{
	struct ifreq request = { .ifr_name = "lo", .ifr_flags = IFF_UP };

	if (s->plan->network == NETWORK_HOST)
		return 0;
	auto_close int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || ioctl(fd, SIOCSIFFLAGS, &request) < 0)
		return -errno;
	return 0;
}

/* ping(8) without a raw socket, and servers on port 80 without rights. Comfort:
 * a host without these settings (no /proc) is no reason to fail. */
static int outer_network_settings(struct setup *s)
{
	const struct idmap *ids = &s->plan->ids;
	char range[32];

	if (s->plan->network == NETWORK_HOST)
		return 0;
	const struct idmap_range *last = &ids->gid[ids->gid_count - 1];

	snprintf(range, sizeof(range), "%u %u", ids->gid[0].inside,
		 last->inside + last->count - 1);
	file_put(AT_FDCWD, "/proc/sys/net/ipv4/ping_group_range", range);
	file_put(AT_FDCWD, "/proc/sys/net/ipv4/ip_unprivileged_port_start",
		 "0");
	return 0;
}

/* Only U1, which owns the network namespace, may mount it; detached, since it
 * needs no place here. Init inherits the descriptor. */
static int outer_sysfs(struct setup *s)
{
	if (s->plan->network == NETWORK_HOST)
		return 0;
	auto_close int fs = fsopen("sysfs", FSOPEN_CLOEXEC);

	if (fs < 0 || fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0)
		return -errno;
	int mount = fsmount(fs, FSMOUNT_CLOEXEC,
			    MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID |
				    MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC);

	/* Refused where parts of this /sys are covered, as container engines
	 * do (mount_too_revealing(), fs/namespace.c): the box's is empty. */
	if (mount < 0)
		return errno == EPERM ? 0 : -errno;
	s->shared->sysfs = mount;
	return 0;
}

static int outer_init(struct setup *s)
{
	/* CLONE_PARENT: the supervisor's child, so that it can reap it and
	 * hold a pidfd; init's PDEATHSIG then means the supervisor. The
	 * kernel stores the number: outer may be killed right after. Not
	 * clone3(2), which container engines' filters refuse, since no filter
	 * sees its flags. */
	unsigned long flags = CLONE_PARENT | CLONE_PARENT_SETTID |
			      CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID |
			      CLONE_NEWUTS | CLONE_NEWCGROUP;
	pid_t pid = (pid_t)syscall(SYS_clone, flags, NULL, &s->shared->init,
				   NULL, NULL);

	if (pid == 0)
		init_main(s);
	return pid < 0 ? -errno : 0;
}

/* Only a process of U1 may write U2's maps: they name U1's ids. */
static int outer_init_maps(struct setup *s)
{
	struct idmap map = s->plan->ids;

	if (map.identity == IDENTITY_ONE)
		return 0; /* init maps itself */
	for (unsigned i = 0; i < map.uid_count; i++)
		map.uid[i].outside = map.uid[i].inside;
	for (unsigned i = 0; i < map.gid_count; i++)
		map.gid[i].outside = map.gid[i].inside;
	int r = idmap_write(s->shared->init, &map);

	if (r < 0)
		return r;
	return write(s->ready[1], "", 1) == 1 ? 0 : -errno;
}

static const struct {
	const char *name;
	int (*run)(struct setup *s);
} outer_steps[] = {
	{ "make a network namespace", outer_network },
	{ "map ids", outer_maps },
	{ "limit processes", outer_processes },
	{ "bring loopback up", outer_loopback },
	{ "network settings", outer_network_settings },
	{ "mount sysfs", outer_sysfs },
	{ "make init", outer_init },
	{ "map ids of init", outer_init_maps },
};

int outer_main(struct setup *s)
{
	/* The copies of these ends must not be what keeps a pipe open. Where
	 * memory is shared with the supervisor, the variables are too: only
	 * the descriptors are closed. */
	close(s->supervisor_socket);
	close(s->go[1]);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (size_t i = 0; i < sizeof(outer_steps) / sizeof(outer_steps[0]);
	     i++) {
		int r = outer_steps[i].run(s);

		if (r < 0) {
			s->shared->step = outer_steps[i].name;
			s->shared->failed = -r;
			return r;
		}
	}
	return 0;
}
