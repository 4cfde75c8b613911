/* SPDX-License-Identifier: Apache-2.0 */
/* Set-up: what init is (ids, death, rights to look at it) and what it holds. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "sandbox/setup.h"

/* Maps first: a process that is not dumpable can't be given maps by an ordinary
 * user, nor give them to itself. */
int setup_maps(struct setup *s)
{
	char byte;

	fd_close(&s->ready[1]);
	if (s->plan->ids.identity == IDENTITY_ONE) {
		/* U1's ids are the box's already. */
		struct idmap map = s->plan->ids;

		map.uid[0].outside = map.uid[0].inside;
		map.gid[0].outside = map.gid[0].inside;
		return idmap_write(0, &map);
	}
	/* Else outer is gone, and says why itself. */
	return read(s->ready[0], &byte, 1) == 1 ? 0 : -EPIPE;
}

/* After the sources, some of which only the caller's own id and groups may
 * reach: a capability does not count for a file whose group is not mapped
 * (user_namespaces(7)). */
int setup_ids(struct setup *s)
{
	if (s->plan->ids.identity == IDENTITY_ONE)
		return 0;
	if (syscall(SYS_setgroups, 0, NULL) < 0 ||
	    syscall(SYS_setresgid, 0, 0, 0) < 0 ||
	    syscall(SYS_setresuid, 0, 0, 0) < 0)
		return -errno;
	return 0;
}

/* After the last set*id, which would clear both (prctl(2)). A supervisor that
 * died before PDEATHSIG was set shows as a socket without a peer (outer closed
 * our copy of that end); getppid(2) is 0 in a new pid namespace and tells
 * nothing. */
int setup_parent(struct setup *s)
{
	struct pollfd peer = { .fd = s->socket, .events = POLLIN };

	if (prctl(PR_SET_DUMPABLE, 0) < 0 ||
	    prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
		return -errno;
	if (poll(&peer, 1, 0) > 0 && (peer.revents & POLLHUP))
		_exit(1);
	return 0;
}

/*
 * Init is a copy of the supervisor, not its exec, so close-on-exec did nothing:
 * it holds all that the supervisor holds. All above 2 goes but what is needed.
 * 0 to 2 may be the command's; they are init's own no longer when it has
 * started (init.c).
 */
enum { KEEP_MAX = 5 };

static int compare_numbers(const void *a, const void *b)
{
	const int *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static int close_others(struct setup *s)
{
	s->sysfs = s->shared->sysfs;
	int kept[KEEP_MAX] = { s->socket, s->sysfs, s->stdio[0], s->stdio[1],
			       s->stdio[2] };
	unsigned next = 3;

	qsort(kept, KEEP_MAX, sizeof(*kept), compare_numbers);
	for (int i = 0; i < KEEP_MAX; i++) {
		if (kept[i] < (int)next)
			continue; /* none, low, or the same again */
		int r = kept[i] > (int)next
				? fd_close_range(next, (unsigned)kept[i] - 1,
						 false)
				: 0;

		if (r < 0)
			return r;
		next = (unsigned)kept[i] + 1;
	}
	return fd_close_range(next, ~0U, false);
}

extern char *program_invocation_name;

/*
 * /proc/1/cmdline and environ are memory of pid 1, and the first is readable by
 * everybody in the box: the host's command line with its tokens. The strings
 * lie together, from argv[0] to the name of the file that was executed
 * (AT_EXECFN), which the kernel puts behind the environment.
 */
static void forget_arguments(void)
{
	static const char name[] = "llmbox-init";
	char *start = program_invocation_name;
	char *end = (char *)getauxval(AT_EXECFN);

	if (!end || start >= end || end - start > 64 << 20)
		return;
	size_t len = (size_t)(end - start) + strlen(end);

	memset(start, 0, len);
	if (len > sizeof(name))
		memcpy(start, name, sizeof(name));
	prctl(PR_SET_NAME, name);
}

int setup_descriptors(struct setup *s)
{
	int r = close_others(s);

	if (r == 0)
		forget_arguments();
	return r;
}
