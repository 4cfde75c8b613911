/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The notifier's process: takes a call from the listener, finds its row, has
 * the caller looked at, sees that the caller is still the one, becomes it, does
 * the call, is itself again, and answers.
 *
 * Its memory is a copy of init's and it has init's filter, so box root can't
 * look into it; it has less rights than init and CAP_SYS_PTRACE more than box
 * root, within the box. It trusts the kernel's words about the caller and the
 * box's own /proc. The caller's memory is hostile: it is read once, and what
 * was read is what is done.
 *
 * Box root may stop or kill this process. Then calls wait, or fail (ENOSYS);
 * none passes, and nothing else waits for it.
 */
#include "sandbox/notify.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "sandbox/rights.h"
#include "sandbox/setup.h"

#ifndef SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP
#define SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP (1UL << 0)
#define SECCOMP_IOCTL_NOTIF_SET_FLAGS      SECCOMP_IOW(4, __u64)
#endif
#ifndef SYS_fchmodat2
#define SYS_fchmodat2 452
#endif

/*
 * Rules of Landlock hold for who made them and its children, and the notifier
 * can't see them: what it made and opened for a caller would go round them. So
 * from the first such rule in the box on it only changes modes, which these
 * rules don't speak of (landlock(7)).
 */
static int note_restriction(struct notifier *n, struct notify_request *r)
{
	(void)r;
	n->restricted = true;
	return NOTIFY_CONTINUE;
}

static const struct notify_call calls[] = {
	/* handler, number, then dirfd, path, flags, mode, dev */
	{ notify_change_mode, SYS_fchmod, 0, -1, -1, 1, -1 },
	{ notify_change_mode, SYS_fchmodat, 0, 1, -1, 2, -1 },
	{ notify_change_mode, SYS_fchmodat2, 0, 1, 3, 2, -1 },
	{ notify_open, SYS_openat, 0, 1, 2, 3, -1 },
	{ notify_make_node, SYS_mknodat, 0, 1, -1, 2, 3 },
	{ note_restriction, SYS_landlock_restrict_self, -1, -1, -1, -1, -1 },
#ifdef SYS_chmod
	{ notify_change_mode, SYS_chmod, -1, 0, -1, 1, -1 },
	{ notify_open, SYS_open, -1, 0, 1, 2, -1 },
	{ notify_open, SYS_creat, -1, 0, -1, 1, -1 },
	{ notify_make_node, SYS_mknod, -1, 0, -1, 1, 2 },
#endif
};

static const struct notify_call *find_call(int number)
{
	for (size_t i = 0; i < ARRAY_SIZE(calls); i++)
		if (calls[i].number == number)
			return &calls[i];
	return NULL;
}

static int do_as_caller(struct notifier *n, pid_t pid, struct notify_request *r)
{
	int result = notify_look(n, pid, r);

	if (result < 0)
		return result;
	/* Valid now means that it waited in this call all the time: nothing
	 * above was of another process with its number. */
	if (ioctl(n->listener, SECCOMP_IOCTL_NOTIF_ID_VALID, &r->id) < 0)
		return -EPERM;
	result = notify_become(n, &r->caller);
	if (result == 0)
		result = r->call->run(n, r);
	notify_leave(n, &r->caller);
	return result;
}

static int do_call(struct notifier *n, const struct seccomp_notif *from)
{
	struct notify_request r = {
		.call = find_call(from->data.nr),
		.args = (const uint64_t *)from->data.args,
		.id = from->id,
		.caller = { .process = -1,
			    .root = -1,
			    .base = -1,
			    .descriptor = -1 },
	};

	if (!r.call)
		return -ENOSYS;
	if (r.call->mode < 0)
		return r.call->run(n, &r);
	if (n->proc < 0)
		return -EPERM;
	int result = do_as_caller(n, (pid_t)from->pid, &r);

	notify_caller_release(&r.caller);
	return result;
}

static void answer(const struct notifier *n, struct seccomp_notif_resp *to,
		   uint64_t id, int result)
{
	if (result == NOTIFY_ANSWERED)
		return;
	to->id = id;
	if (result == NOTIFY_CONTINUE)
		to->flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
	else if (result < 0)
		to->error = result;
	else
		to->val = result;
	/* It fails where the caller is gone: nobody to answer. */
	ioctl(n->listener, SECCOMP_IOCTL_NOTIF_SEND, to);
}

/* Returns when no process is left that could call. */
static void serve(struct notifier *n)
{
	struct seccomp_notif_sizes sizes = { 0 };

	if (syscall(SYS_seccomp, SECCOMP_GET_NOTIF_SIZES, 0, &sizes) < 0)
		return;
	/* The kernel's may be larger than those it was compiled with. */
	size_t from_size = sizeof(struct seccomp_notif);
	size_t to_size = sizeof(struct seccomp_notif_resp);

	if (sizes.seccomp_notif > from_size)
		from_size = sizes.seccomp_notif;
	if (sizes.seccomp_notif_resp > to_size)
		to_size = sizes.seccomp_notif_resp;
	auto_free struct seccomp_notif *from = mem_alloc(from_size);
	auto_free struct seccomp_notif_resp *to = mem_alloc(to_size);
	struct pollfd events = { .fd = n->listener, .events = POLLIN };

	/* The caller waits, so both may run on one processor: Linux 6.6. */
	ioctl(n->listener, SECCOMP_IOCTL_NOTIF_SET_FLAGS,
	      SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP);
	while (poll(&events, 1, -1) > 0 && (events.revents & POLLIN)) {
		memset(from, 0, from_size);
		memset(to, 0, to_size);
		/* A caller that was killed meanwhile: ENOENT. */
		if (ioctl(n->listener, SECCOMP_IOCTL_NOTIF_RECV, from) < 0)
			continue;
		answer(n, to, from->id, do_call(n, from));
	}
}

/*
 * The box's own /proc, where a number is the same process as here: else all
 * would be looked up that has nothing to do with the caller.
 */
static int open_proc(void)
{
	int fd = open("/proc", O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	char self[16] = "", own[16];
	struct statfs st;

	snprintf(own, sizeof(own), "%d", getpid());
	if (fd >= 0 && fstatfs(fd, &st) == 0 && st.f_type == PROC_SUPER_MAGIC &&
	    readlinkat(fd, "self", self, sizeof(self) - 1) > 0 &&
	    strcmp(self, own) == 0)
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

static int take_rights(uint64_t rights)
{
	struct __user_cap_header_struct head = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct caps[2] = { 0 };

	caps[0].effective = caps[0].permitted = (__u32)rights;
	caps[1].effective = caps[1].permitted = (__u32)(rights >> 32);
	return syscall(SYS_capset, &head, caps) < 0 ? -errno : 0;
}

void notify_main(const struct setup *s, int listener)
{
	struct notifier n = {
		.s = s,
		.listener = 3,
		.uid = geteuid(),
		.gid = getegid(),
		/* To look at its callers; all else that they may have. */
		.rights = rights_of(s->plan) | 1ULL << CAP_SYS_PTRACE,
	};

	/* The supervisor's socket above all. */
	if (dup3(listener, n.listener, O_CLOEXEC) < 0 ||
	    fd_close_range((unsigned)n.listener + 1, ~0U, false) < 0 ||
	    take_rights(n.rights) < 0)
		_exit(1);
	prctl(PR_SET_NAME, "llmbox-notify");
	n.proc = open_proc();
	n.root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (n.root >= 0)
		serve(&n);
	_exit(0);
}
