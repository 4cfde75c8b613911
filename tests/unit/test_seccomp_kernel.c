/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The filters loaded into the kernel, init's first and a profile's on top, as
 * every command of a box has them. That the same calls do something else
 * without them is shown too.
 */
#include "sandbox/seccomp.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <linux/sched.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "tap.h"

enum { X32 = 0x40000000 };

static void load_filters(enum profile profile)
{
	static const struct strv none;
	struct filter init, command;

	filter_for_init(&init);
	if (filter_for_policy(profile, EMULATE_NONE, &none, &none, &command,
			      NULL) ||
	    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || filter_load(&init) ||
	    filter_load(&command))
		_exit(99);
}

struct trial {
	long nr;
	long args[3];
	int want; /* errno, or 0 */
};

enum { BY_SIGNAL = -1000 };

/* What a child's end says: its exit status, or BY_SIGNAL - the signal. */
static int end_of(pid_t pid)
{
	int status;

	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return -1;
	return WIFEXITED(status) ? WEXITSTATUS(status)
				 : BY_SIGNAL - WTERMSIG(status);
}

static int in_child(void (*run)(void))
{
	pid_t pid = fork();

	if (pid == 0) {
		run();
		_exit(0);
	}
	return end_of(pid);
}

static int try_call(const struct trial *t)
{
	pid_t pid = fork();

	if (pid == 0) {
		load_filters(PROFILE_DEFAULT);
		long r = syscall(t->nr, t->args[0], t->args[1], t->args[2], 0,
				 0, 0);

		_exit(r < 0 ? errno : 0);
	}
	return end_of(pid);
}

static void test_answers(void)
{
	static const struct trial trials[] = {
		{ SYS_getppid, { 0 }, 0 },
		{ SYS_faccessat2, { AT_FDCWD, 0, 0 }, EFAULT },
		{ SYS_mount, { 0 }, EPERM },
		{ SYS_setns, { -1, 0 }, EPERM },
		{ SYS_clone3, { 0 }, ENOSYS },
		{ SYS_clone, { CLONE_NEWUSER | SIGCHLD }, EPERM },
		{ SYS_unshare, { CLONE_NEWUSER }, EPERM },
		{ SYS_unshare, { CLONE_FILES }, 0 },
		{ SYS_keyctl, { 0 }, ENOSYS },
		{ SYS_io_uring_setup, { 0 }, ENOSYS },
		{ SYS_bpf, { -1 }, EPERM },
		{ SYS_ioctl, { -1, TIOCSTI }, EPERM },
		{ SYS_ioctl, { -1, 1L << 32 | TIOCSTI }, EPERM },
		{ SYS_ioctl, { -1, TIOCLINUX }, EPERM },
		{ SYS_ioctl, { -1, TCGETS }, EBADF },
		{ SYS_socket, { AF_VSOCK, SOCK_STREAM }, EAFNOSUPPORT },
		{ SYS_socket, { AF_ALG, SOCK_SEQPACKET }, EAFNOSUPPORT },
		{ SYS_socket,
		  { AF_NETLINK, SOCK_RAW, NETLINK_AUDIT },
		  EPROTONOSUPPORT },
		{ SYS_socket, { AF_NETLINK, SOCK_RAW, NETLINK_ROUTE }, 0 },
		{ SYS_socket, { AF_INET, SOCK_RAW, IPPROTO_ICMP }, EPERM },
		{ SYS_socket, { AF_INET, SOCK_STREAM }, 0 },
		{ SYS_personality, { ADDR_NO_RANDOMIZE }, EPERM },
		{ SYS_personality, { 0xffffffff }, 0 },
		{ 999, { 0 }, ENOSYS },
		{ -1, { 0 }, ENOSYS },
#ifdef __x86_64__
		{ X32 + SYS_getpid, { 0 }, BY_SIGNAL - SIGSYS },
		{ X32 + 520 /* execve */, { 0 }, BY_SIGNAL - SIGSYS },
#endif
	};

	for (size_t i = 0; i < ARRAY_SIZE(trials); i++)
		is_int(try_call(&trials[i]), trials[i].want,
		       "in the kernel: call %#lx(%#lx, %#lx, %#lx)",
		       trials[i].nr, trials[i].args[0], trials[i].args[1],
		       trials[i].args[2]);
}

/* Without a filter the calls do something else: the trials show something. */
static void test_control(void)
{
	errno = 0;
	syscall(SYS_ioctl, -1, TIOCSTI, 0);
	is_int(errno, EBADF, "without a filter TIOCSTI reaches the kernel");
	errno = 0;
	syscall(SYS_ioctl, -1, 1L << 32 | TIOCSTI, 0);
	is_int(errno, EBADF, "and so does 1 << 32 | TIOCSTI");
}

static void *thread_main(void *arg)
{
	*(int *)arg = 42;
	return NULL;
}

static void run_thread(void)
{
	pthread_t thread;
	int value = 0;

	load_filters(PROFILE_STRICT);
	if (pthread_create(&thread, NULL, thread_main, &value) ||
	    pthread_join(thread, NULL))
		_exit(1);
	_exit(value);
}

static void run_strict_wx(void)
{
	load_filters(PROFILE_STRICT);
	void *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		_exit(1);
	if (mprotect(p, 4096, PROT_READ | PROT_WRITE | PROT_EXEC) == 0)
		_exit(2);
	_exit(errno);
}

#ifdef __x86_64__
static void run_int80(void)
{
	long ret = 20; /* i386's getpid */

	signal(SIGSEGV, SIG_DFL); /* a sanitizer has a handler */
	__asm__ volatile("int $0x80" : "+a"(ret) : : "memory");
}

static void run_int80_filtered(void)
{
	load_filters(PROFILE_DEFAULT);
	run_int80();
}

/* A kernel without 32-bit calls ends the program by a signal of its own. */
static void test_int80(void)
{
	int plain = in_child(run_int80);

	is_int(in_child(run_int80_filtered),
	       plain == 0 ? BY_SIGNAL - SIGSYS : plain,
	       "a 32-bit system call is killed");
}
#endif

static void test_children(void)
{
	is_int(in_child(run_thread), 42, "threads start without clone3");
	is_int(in_child(run_strict_wx), EPERM,
	       "strict: memory can't be made writable and executable");
#ifdef __x86_64__
	test_int80();
#endif
}

int main(void)
{
	test_answers();
	test_control();
	test_children();
	return done_testing();
}
