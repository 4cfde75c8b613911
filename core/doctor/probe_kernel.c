/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Probes: system calls that a container's filter or an old kernel may refuse,
 * filters, keyrings, Landlock.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/keyctl.h>
#include <linux/openat2.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "doctor/probe_try.h"
#include "sandbox/landlock.h"
#include "sandbox/seccomp.h"

/* ---- calls ---- */

void probe_pidfd(struct probe_try *t)
{
	struct pollfd self = { .events = POLLIN };

	self.fd = (int)syscall(SYS_pidfd_open, getpid(), 0);
	if (self.fd < 0 || poll(&self, 1, 0) < 0)
		probe_failed(t, errno, CURE_KERNEL, "pidfd_open");
	else
		probe_yes(t, "a process is watched by a descriptor");
}

void probe_openat2(struct probe_try *t)
{
	struct open_how how = { .flags = O_PATH | O_CLOEXEC,
				.resolve = RESOLVE_IN_ROOT |
					   RESOLVE_NO_MAGICLINKS };

	if (syscall(SYS_openat2, AT_FDCWD, "/", &how, sizeof(how)) < 0)
		probe_failed(t, errno, CURE_KERNEL, "openat2");
	else
		probe_yes(t, "paths are kept below a directory");
}

/* ---- filters ---- */

/* Answers getppid(2), which never fails, with this action; lets all else
 * through. Returns what seccomp(2) does. */
static int filter_getppid(unsigned flags, unsigned action)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, action),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { ARRAY_SIZE(code), code };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -errno;
	int r = (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags,
			     &program);

	return r < 0 ? -errno : r;
}

static int has_actions(void)
{
	static const unsigned actions[] = { SECCOMP_RET_ERRNO,
					    SECCOMP_RET_KILL_PROCESS };

	for (size_t i = 0; i < ARRAY_SIZE(actions); i++)
		if (syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0,
			    &actions[i]) < 0)
			return -errno;
	return 0;
}

/* The filters of a run are loaded too: they are long. */
void probe_filter(struct probe_try *t)
{
	static const struct strv none;
	struct filter init, commands;
	int r = has_actions();

	if (r == 0)
		r = filter_getppid(0, SECCOMP_RET_ERRNO | EXDEV);
	if (r == 0 && (syscall(SYS_getppid) != -1 || errno != EXDEV))
		r = -EOPNOTSUPP;
	filter_for_init(&init);
	if (r == 0)
		r = filter_load(&init);
	if (r == 0)
		r = filter_for_policy(PROFILE_DEFAULT, EMULATE_ONE, &none,
				      &none, &commands, NULL);
	if (r == 0)
		r = filter_load(&commands);
	if (r < 0)
		probe_failed(t, -r, CURE_KERNEL, "load a filter");
	else
		probe_yes(t, "loaded, and it refuses");
}

/* The child asks, this process answers for the kernel. */
static int answer_one(int listener)
{
	struct seccomp_notif_sizes sizes;
	struct seccomp_notif request = { 0 };
	struct seccomp_notif_resp answer = { .error = -EXDEV };
	pid_t pid = fork();

	if (pid < 0)
		return -errno;
	if (pid == 0)
		_exit(syscall(SYS_getppid) == -1 && errno == EXDEV ? 0 : 1);
	if (syscall(SYS_seccomp, SECCOMP_GET_NOTIF_SIZES, 0, &sizes) < 0)
		return -errno;
	if (sizes.seccomp_notif > sizeof(request) ||
	    sizes.seccomp_notif_resp > sizeof(answer))
		return -E2BIG;
	if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &request) < 0)
		return -errno;
	answer.id = request.id;
	if (ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answer) < 0)
		return -errno;
	return probe_child_succeeded(pid) ? 0 : -EIO;
}

void probe_notify(struct probe_try *t)
{
	int listener = filter_getppid(SECCOMP_FILTER_FLAG_NEW_LISTENER,
				      SECCOMP_RET_USER_NOTIF);
	int r = listener < 0 ? listener : answer_one(listener);

	if (r == -EBUSY)
		probe_no(t, CURE_FILTER,
			 "a filter around llmbox has the listener already");
	else if (r < 0)
		probe_failed(t, -r, CURE_KERNEL, "seccomp notification");
	else
		probe_yes(t, "one was answered");
}

/* ---- keyrings ---- */

/* As setup_keyring() takes it. */
void probe_keyring(struct probe_try *t)
{
	if (syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, NULL) >= 0)
		probe_yes(t, "a new one is joined");
	else if (errno == ENOSYS)
		probe_yes(t, "this kernel has none to hide");
	else if (errno == EPERM)
		probe_yes(t, "refused here, so a box's filter refuses all");
	else
		probe_failed(t, errno, CURE_NONE, "join a new keyring");
}

/* ---- Landlock ---- */

/* Is a listening abstract socket that was made outside of its scope out of this
 * process's reach? */
static int scope_holds(const char *name)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	socklen_t len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 +
				    strlen(name));
	auto_close int outside = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	auto_close int inside = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	memcpy(address.sun_path + 1, name, strlen(name));
	if (outside < 0 || inside < 0 ||
	    bind(outside, (struct sockaddr *)&address, len) < 0 ||
	    listen(outside, 1) < 0 ||
	    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -errno;
	int r = landlock_scope();

	if (r < 0)
		return r;
	if (connect(inside, (struct sockaddr *)&address, len) == 0)
		return -EOPNOTSUPP;
	return errno == EPERM ? 0 : -errno;
}

void probe_landlock(struct probe_try *t)
{
	int abi = landlock_abi();

	if (abi < 0) {
		probe_failed(t, -abi, CURE_KERNEL, "Landlock");
		if (abi == -EOPNOTSUPP) {
			t->ret->cure[0] = '\0';
			probe_add_cure(t, "boot with landlock in the kernel's "
					  "lsm= list");
		}
		return;
	}
	int r = landlock_can_scope() ? scope_holds(t->mark) : -EOPNOTSUPP;

	if (r == 0)
		probe_yes(t, "ABI %d, keeps abstract sockets apart", abi);
	else
		probe_soft(t, CURE_KERNEL,
			   "ABI %d, does not keep abstract sockets apart (%s)",
			   abi, strerror(-r));
}
