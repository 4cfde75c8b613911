/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which system calls a box has. Every call that has a name is in one group, and
 * each group has one answer a filter; a few calls are checked by argument on
 * top. The list of what is allowed is the one container engines have in common
 * (moby's and containers-common's default profiles), reviewed:
 *
 * - What belongs to a capability that box root never has is refused, although
 *   the kernel would do so too: less of the kernel can be reached.
 * - A call that programs try with a fallback, or whose refusal they take for a
 *   broken system, answers ENOSYS; so do numbers without a name, since a C
 *   library takes ENOSYS alone for "not on this kernel".
 * - Socket families and protocols are an allow-list, where engines refuse only
 *   AF_VSOCK: asking for a protocol loads its kernel module, whoever asks.
 * - ptrace of the box's own processes is allowed, as engines do since Linux 4.8
 *   made it safe with filters: LeakSanitizer, in every program built with
 *   -fsanitize=address, fails without it. Init can't be traced, since it is
 *   not dumpable (ptrace(2), "Ptrace access mode checking").
 *
 * The filter is one wall of several. What it can't tell from arguments (paths,
 * structures in memory) is held by namespaces, capabilities and Landlock.
 */
#include "sandbox/seccomp_rules.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/netlink.h>
#include <linux/sched.h>
#include <netinet/in.h>
#include <seccomp.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/socket.h>
#include <sys/stat.h>

const struct filter_arch filter_arch_x86_64 = { AUDIT_ARCH_X86_64, true };
const struct filter_arch filter_arch_aarch64 = { AUDIT_ARCH_AARCH64, false };

#define ALLOW         SECCOMP_RET_ALLOW
#define REFUSE(error) (SECCOMP_RET_ERRNO | (error))
#define HAND_OVER     SECCOMP_RET_USER_NOTIF

/* The answers of a group in the order of enum filter_kind, up to init's; the
 * volumes' filters leave the groups to the others. */
/* clang-format off */
#define EVERYWHERE     { ALLOW, ALLOW, ALLOW, ALLOW }
#define NOT_IN_STRICT  { ALLOW, REFUSE(EPERM), ALLOW, ALLOW }
#define DEBUG_ONLY     { REFUSE(EPERM), REFUSE(EPERM), ALLOW, ALLOW }
/* A policy may still allow these ... */
#define IF_ASKED(e)    { REFUSE(e), REFUSE(e), REFUSE(e), ALLOW }
/* ... but never these: init refuses them for all that come after it. */
#define NEVER(e)       { REFUSE(e), REFUSE(e), REFUSE(e), REFUSE(e) }
/* clang-format on */

static const struct call_group groups[] = {
	{ "@basic-io", EVERYWHERE,
	  "close close_range dup dup2 dup3 fcntl ioctl lseek pipe pipe2 "
	  "pread64 preadv preadv2 pwrite64 pwritev pwritev2 read readv write "
	  "writev" },
	{ "@io-event", EVERYWHERE,
	  "epoll_create epoll_create1 epoll_ctl epoll_pwait epoll_pwait2 "
	  "epoll_wait eventfd eventfd2 inotify_add_watch inotify_init "
	  "inotify_init1 inotify_rm_watch poll ppoll pselect6 select" },
	{ "@file", EVERYWHERE,
	  "access cachestat chdir chmod copy_file_range creat faccessat "
	  "faccessat2 fadvise64 fallocate fchdir fchmod fchmodat fchmodat2 "
	  "file_getattr file_setattr flock fstat fstatfs ftruncate futimesat "
	  "getcwd getdents getdents64 link linkat lstat mkdir mkdirat mknod "
	  "mknodat name_to_handle_at newfstatat open openat openat2 readahead "
	  "readlink readlinkat rename renameat renameat2 rmdir sendfile splice "
	  "stat statfs statx symlink symlinkat tee truncate umask unlink "
	  "unlinkat utime utimensat utimes" },
	{ "@xattr", EVERYWHERE,
	  "fgetxattr flistxattr fremovexattr fsetxattr getxattr getxattrat "
	  "lgetxattr listxattr listxattrat llistxattr lremovexattr lsetxattr "
	  "removexattr removexattrat setxattr setxattrat" },
	{ "@chown", EVERYWHERE, "chown fchown fchownat lchown" },
	{ "@sync", EVERYWHERE,
	  "fdatasync fsync msync sync sync_file_range syncfs" },
	{ "@memory", EVERYWHERE,
	  "brk madvise map_shadow_stack membarrier memfd_create mincore mlock "
	  "mlock2 mlockall mmap mprotect mremap mseal munlock munlockall "
	  "munmap pkey_alloc pkey_free pkey_mprotect remap_file_pages" },
	{ "@memory-policy", NOT_IN_STRICT,
	  "get_mempolicy mbind memfd_secret set_mempolicy "
	  "set_mempolicy_home_node" },
	{ "@process", EVERYWHERE,
	  "arch_prctl clone execve execveat exit exit_group fork getpgid "
	  "getpgrp getpid getppid getsid gettid personality pidfd_open prctl "
	  "restart_syscall setpgid setsid set_tid_address unshare vfork wait4 "
	  "waitid" },
	{ "@thread", EVERYWHERE,
	  "futex futex_requeue futex_wait futex_waitv futex_wake "
	  "get_robust_list get_thread_area rseq set_robust_list "
	  "set_thread_area" },
	{ "@signal", EVERYWHERE,
	  "kill pause pidfd_send_signal process_mrelease rt_sigaction "
	  "rt_sigpending rt_sigprocmask rt_sigqueueinfo rt_sigreturn "
	  "rt_sigsuspend rt_sigtimedwait rt_tgsigqueueinfo sigaltstack "
	  "signalfd signalfd4 tgkill tkill" },
	{ "@setuid", EVERYWHERE,
	  "capget capset getegid geteuid getgid getgroups getresgid getresuid "
	  "getuid setfsgid setfsuid setgid setgroups setregid setresgid "
	  "setresuid setreuid setuid" },
	{ "@resources", EVERYWHERE,
	  "getcpu getpriority getrlimit getrusage ioprio_get ioprio_set "
	  "prlimit64 sched_getaffinity sched_getattr sched_getparam "
	  "sched_get_priority_max sched_get_priority_min sched_getscheduler "
	  "sched_rr_get_interval sched_setaffinity sched_setattr "
	  "sched_setparam sched_setscheduler sched_yield setpriority "
	  "setrlimit" },
	{ "@timer", EVERYWHERE,
	  "alarm clock_getres clock_gettime clock_nanosleep getitimer "
	  "gettimeofday nanosleep setitimer time timer_create timer_delete "
	  "timerfd_create timerfd_gettime timerfd_settime timer_getoverrun "
	  "timer_gettime timer_settime times" },
	{ "@system", EVERYWHERE, "getrandom sysinfo uname" },
	{ "@socket", EVERYWHERE,
	  "accept accept4 bind connect getpeername getsockname getsockopt "
	  "listen recvfrom recvmmsg recvmsg sendmmsg sendmsg sendto setsockopt "
	  "shutdown socket socketpair" },
	{ "@sandbox", EVERYWHERE,
	  "landlock_add_rule landlock_create_ruleset landlock_restrict_self "
	  "seccomp" },
	/* Not called by programs but by the kernel's own trampolines in them,
	 * when somebody outside traces a library: refused, they crash. */
	{ "@probe", EVERYWHERE, "uprobe uretprobe" },

	{ "@ipc", NOT_IN_STRICT,
	  "mq_getsetattr mq_notify mq_open mq_timedreceive mq_timedsend "
	  "mq_unlink msgctl msgget msgrcv msgsnd semctl semget semop "
	  "semtimedop shmat shmctl shmdt shmget" },
	{ "@aio", NOT_IN_STRICT,
	  "io_cancel io_destroy io_getevents io_pgetevents io_setup io_submit "
	  "vmsplice" },
	{ "@chroot", NOT_IN_STRICT, "chroot" },
	/* Reading; the kernel refuses to set without CAP_SYS_TIME. */
	{ "@clock", NOT_IN_STRICT, "adjtimex clock_adjtime" },
	{ "@cpu-emulation", NOT_IN_STRICT, "modify_ldt" },
	{ "@ptrace", NOT_IN_STRICT,
	  "process_vm_readv process_vm_writev ptrace" },

	{ "@debug", DEBUG_ONLY, "kcmp pidfd_getfd process_madvise" },

	/* Its flags are in memory, where no filter sees CLONE_NEWUSER. */
	{ "@clone3", IF_ASKED(ENOSYS), "clone3" },
	/* Callers fall back to /proc/self/mountinfo and /proc/self/attr. */
	{ "@mount-info", IF_ASKED(ENOSYS), "listmount statmount" },
	{ "@lsm", IF_ASKED(ENOSYS),
	  "lsm_get_self_attr lsm_list_modules lsm_set_self_attr" },
	{ "@obsolete", IF_ASKED(ENOSYS),
	  "afs_syscall create_module epoll_ctl_old epoll_wait_old "
	  "get_kernel_syms getpmsg nfsservctl putpmsg query_module security "
	  "_sysctl sysfs tuxcall uselib ustat vserver" },
	{ "@privileged", IF_ASKED(EPERM),
	  "fanotify_init fanotify_mark migrate_pages move_pages setdomainname "
	  "sethostname userfaultfd" },

	/* As if the kernel had no keyrings: the caller's must not be found. */
	{ "@keyring", NEVER(ENOSYS), "add_key keyctl request_key" },
	{ "@io-uring", NEVER(ENOSYS),
	  "io_uring_enter io_uring_register io_uring_setup" },
	{ "@mount", NEVER(EPERM),
	  "fsconfig fsmount fsopen fspick mount mount_setattr move_mount "
	  "open_tree open_tree_attr pivot_root umount2" },
	{ "@setns", NEVER(EPERM), "setns" },
	/* A handle names any file of a filesystem, above the root too. */
	{ "@handle", NEVER(EPERM), "open_by_handle_at" },
	{ "@bpf", NEVER(EPERM), "bpf lookup_dcookie perf_event_open" },
	{ "@module", NEVER(EPERM), "delete_module finit_module init_module" },
	{ "@reboot", NEVER(EPERM), "kexec_file_load kexec_load reboot" },
	{ "@swap", NEVER(EPERM), "swapoff swapon" },
	{ "@raw-io", NEVER(EPERM), "ioperm iopl" },
	{ "@set-clock", NEVER(EPERM), "clock_settime settimeofday" },
	/* syslog: the host's kernel log, readable where dmesg_restrict is 0. */
	{ "@admin", NEVER(EPERM), "acct quotactl quotactl_fd syslog vhangup" },
};

/*
 * Numbers that libseccomp may be too old to know. From 424 on all architectures
 * have the same ones; the first two are x86_64's alone.
 */
static const struct {
	const char *name;
	int number;
} newer_calls[] = {
	{ "uretprobe", 335 },         { "uprobe", 336 },
	{ "memfd_secret", 447 },      { "process_mrelease", 448 },
	{ "futex_waitv", 449 },       { "set_mempolicy_home_node", 450 },
	{ "cachestat", 451 },         { "fchmodat2", 452 },
	{ "map_shadow_stack", 453 },  { "futex_wake", 454 },
	{ "futex_wait", 455 },        { "futex_requeue", 456 },
	{ "statmount", 457 },         { "listmount", 458 },
	{ "lsm_get_self_attr", 459 }, { "lsm_set_self_attr", 460 },
	{ "lsm_list_modules", 461 },  { "mseal", 462 },
	{ "setxattrat", 463 },        { "getxattrat", 464 },
	{ "listxattrat", 465 },       { "removexattrat", 466 },
	{ "open_tree_attr", 467 },    { "file_getattr", 468 },
	{ "file_setattr", 469 },
};

enum { COMMON_FROM = 424 };

#define IS(a, v)                  \
	{                         \
		ARG_IS, a, ~0U, v \
	}
#define IS_NOT(a, v)                  \
	{                             \
		ARG_IS_NOT, a, ~0U, v \
	}
#define MASKED(a, m, v)         \
	{                       \
		ARG_IS, a, m, v \
	}
#define HAS(a, v)                  \
	{                          \
		ARG_HAS, a, ~0U, v \
	}

/* clone takes CLONE_NEWTIME's bit for one of the exit signal (clone(2)). */
#define NEW_NAMESPACE                                             \
	((uint32_t)CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | \
	 CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET)

static const struct arg_rule clone_checks[] = {
	{ REFUSE(EPERM), { HAS(0, NEW_NAMESPACE) } },
};

static const struct arg_rule unshare_checks[] = {
	{ REFUSE(EPERM), { HAS(0, NEW_NAMESPACE | CLONE_NEWTIME) } },
};

/* All that do not weaken the program that runs next: READ_IMPLIES_EXEC and
 * ADDR_NO_RANDOMIZE do. */
#define PERSONALITIES                                                       \
	{ ALLOW, { IS(0, PER_LINUX) } }, { ALLOW, { IS(0, PER_LINUX32) } }, \
		{ ALLOW, { IS(0, UNAME26) } },                              \
		{ ALLOW, { IS(0, UNAME26 | PER_LINUX32) } },                \
	{                                                                   \
		ALLOW,                                                      \
		{                                                           \
			IS(0, 0xffffffffU /* only asks */)                  \
		}                                                           \
	}

static const struct arg_rule personality_checks[] = {
	PERSONALITIES,
	{ REFUSE(EPERM), { { ARG_ALWAYS, 0, 0, 0 } } },
};

/* What gdb sets, so that addresses are the same in each run. */
static const struct arg_rule personality_checks_debug[] = {
	PERSONALITIES,
	{ ALLOW, { IS(0, ADDR_NO_RANDOMIZE) } },
	{ REFUSE(EPERM), { { ARG_ALWAYS, 0, 0, 0 } } },
};

/*
 * The terminal's ioctls that type into it, change its discipline or take the
 * console. The kernel looks at 32 bits of a request, and so must the check:
 * comparing 64 lets 1 << 32 | TIOCSTI through (CVE-2019-10063).
 */
static const struct arg_rule ioctl_checks[] = {
	{ REFUSE(EPERM), { IS(1, TIOCSTI) } },
	{ REFUSE(EPERM), { IS(1, TIOCLINUX) } },
	{ REFUSE(EPERM), { IS(1, TIOCSETD) } },
	{ REFUSE(EPERM), { IS(1, TIOCCONS) } },
};

/*
 * Errors are those of a kernel without the family or protocol: su and useradd
 * give up on EPERM from a netlink socket, and go on after these. ICMP sockets
 * of type SOCK_DGRAM need no right (ping(8)); raw ones never work in a box.
 */
enum { SOCKET_TYPE = 0xf, TYPE_PACKET = 10 };

#define SOCKET_INET                                                            \
	{ REFUSE(EAFNOSUPPORT), { IS_NOT(0, AF_INET), IS_NOT(0, AF_INET6) } }, \
		{ REFUSE(EPERM), { MASKED(1, SOCKET_TYPE, SOCK_RAW) } },       \
		{ REFUSE(EPERM), { MASKED(1, SOCKET_TYPE, TYPE_PACKET) } },    \
		{ ALLOW, { IS(2, 0), MASKED(1, SOCKET_TYPE, SOCK_STREAM) } },  \
		{ ALLOW, { IS(2, 0), MASKED(1, SOCKET_TYPE, SOCK_DGRAM) } },   \
		{ ALLOW, { IS(2, IPPROTO_TCP) } },                             \
		{ ALLOW, { IS(2, IPPROTO_UDP) } },                             \
		{ ALLOW, { IS(2, IPPROTO_ICMP) } },                            \
		{ ALLOW, { IS(2, IPPROTO_ICMPV6) } },                          \
	{                                                                      \
		REFUSE(EPROTONOSUPPORT),                                       \
		{                                                              \
			{                                                      \
				ARG_ALWAYS, 0, 0, 0                            \
			}                                                      \
		}                                                              \
	}

static const struct arg_rule socket_checks[] = {
	{ ALLOW, { IS(0, AF_UNIX) } },
	{ ALLOW, { IS(0, AF_NETLINK), IS(2, NETLINK_ROUTE) } },
	{ REFUSE(EPROTONOSUPPORT), { IS(0, AF_NETLINK) } },
	SOCKET_INET,
};

static const struct arg_rule socket_checks_strict[] = {
	{ ALLOW, { IS(0, AF_UNIX) } },
	SOCKET_INET,
};

/*
 * A box root may do to init what goes by the user alone, such as to lower its
 * limits (prlimit(2) does not ask whether a process may be traced).
 */
static const struct arg_rule limit_checks[] = {
	{ REFUSE(EPERM), { IS(0, 1) } },
};

/*
 * A setuid file on a writable volume is one on the host, where nosuid mounts of
 * the box mean nothing: anybody there becomes the file's owner. So all calls
 * that set these bits are done by the notifier (notify.c), which leaves them
 * away on volumes; or are refused, where nobody can be asked.
 */
enum { SET_ID_BITS = 06000 };

#define SET_ID_CHECKS(name, answer)                                      \
	static const struct arg_rule name##_mode_first[] = {             \
		{ answer, { HAS(1, SET_ID_BITS) } },                     \
	};                                                               \
	static const struct arg_rule name##_mode_second[] = {            \
		{ answer, { HAS(2, SET_ID_BITS) } },                     \
	};                                                               \
	/* Without O_CREAT or O_TMPFILE the mode means nothing and may   \
	 * be anything. */                                               \
	static const struct arg_rule name##_open[] = {                   \
		{ answer, { HAS(1, O_CREAT), HAS(2, SET_ID_BITS) } },    \
		{ answer, { HAS(1, __O_TMPFILE), HAS(2, SET_ID_BITS) } } \
	};                                                               \
	static const struct arg_rule name##_openat[] = {                 \
		{ answer, { HAS(2, O_CREAT), HAS(3, SET_ID_BITS) } },    \
		{ answer, { HAS(2, __O_TMPFILE), HAS(3, SET_ID_BITS) } } \
	}

SET_ID_CHECKS(notify, HAND_OVER);
SET_ID_CHECKS(refuse, REFUSE(EPERM));

/* Its mode is in memory, where no filter sees it; callers fall back. */
static const struct arg_rule openat2_checks[] = {
	{ REFUSE(ENOSYS), { { ARG_ALWAYS, 0, 0, 0 } } },
};

/* The notifier must know that there are rules of this kind (notify.c). */
static const struct arg_rule landlock_checks[] = {
	{ HAND_OVER, { { ARG_ALWAYS, 0, 0, 0 } } },
};

#define WRITE_EXEC ((uint32_t)(PROT_WRITE | PROT_EXEC))

static const struct arg_rule protection_checks[] = {
	{ REFUSE(EPERM), { MASKED(2, WRITE_EXEC, WRITE_EXEC) } },
};

enum {
	IN_DEFAULT = 1 << FILTER_DEFAULT,
	IN_STRICT = 1 << FILTER_STRICT,
	IN_DEBUG = 1 << FILTER_DEBUG,
	IN_PROFILES = IN_DEFAULT | IN_STRICT | IN_DEBUG,
	IN_INIT = 1 << FILTER_INIT,
	IN_VOLUMES = 1 << FILTER_VOLUMES,
	IN_REFUSED = 1 << FILTER_VOLUMES_REFUSED,
};

#define CHECKS(list) list, sizeof(list) / sizeof((list)[0])
#define NOTIFIED(call, shape)                            \
	{ call, IN_VOLUMES, CHECKS(notify_##shape) },    \
	{                                                \
		call, IN_REFUSED, CHECKS(refuse_##shape) \
	}

static const struct {
	const char *call;
	unsigned kinds;
	const struct arg_rule *checks;
	size_t count;
} checked_calls[] = {
	{ "clone", IN_PROFILES, CHECKS(clone_checks) },
	{ "unshare", IN_PROFILES, CHECKS(unshare_checks) },
	{ "personality", IN_DEFAULT | IN_STRICT, CHECKS(personality_checks) },
	{ "personality", IN_DEBUG, CHECKS(personality_checks_debug) },
	{ "ioctl", IN_PROFILES, CHECKS(ioctl_checks) },
	{ "socket", IN_DEFAULT | IN_DEBUG, CHECKS(socket_checks) },
	{ "socket", IN_STRICT, CHECKS(socket_checks_strict) },
	{ "socketpair", IN_DEFAULT | IN_DEBUG, CHECKS(socket_checks) },
	{ "socketpair", IN_STRICT, CHECKS(socket_checks_strict) },
	{ "mmap", IN_STRICT, CHECKS(protection_checks) },
	{ "mprotect", IN_STRICT, CHECKS(protection_checks) },
	{ "pkey_mprotect", IN_STRICT, CHECKS(protection_checks) },
	{ "prlimit64", IN_INIT, CHECKS(limit_checks) },
	NOTIFIED("chmod", mode_first),
	NOTIFIED("fchmod", mode_first),
	NOTIFIED("creat", mode_first),
	NOTIFIED("mknod", mode_first),
	NOTIFIED("fchmodat", mode_second),
	NOTIFIED("fchmodat2", mode_second),
	NOTIFIED("mknodat", mode_second),
	NOTIFIED("open", open),
	NOTIFIED("openat", openat),
	{ "openat2", IN_VOLUMES | IN_REFUSED, CHECKS(openat2_checks) },
	{ "landlock_restrict_self", IN_VOLUMES, CHECKS(landlock_checks) },
};

/*
 * Root emulation (seccomp.h): success for an id above the last one that is
 * mapped; -1 means "unchanged" and is the kernel's. setgroups can't be told by
 * its arguments; with one id the kernel denies it whatever it names. Nodes of
 * devices need a right that no box has; 0:0 is a whiteout, which needs none.
 */
#define FAKED REFUSE(0)

#define ABOVE(a, v)                  \
	{                            \
		ARG_ABOVE, a, ~0U, v \
	}
#define UNMAPPED(a, last)                              \
	{                                              \
		FAKED,                                 \
		{                                      \
			ABOVE(a, last), IS_NOT(a, ~0U) \
		}                                      \
	}

enum { LAST_OF_ONE = 0, LAST_OF_RANGE = 65535 };

#define ID_CHECKS(name, last)                                                 \
	static const struct arg_rule name##_first[] = { UNMAPPED(0, last) };  \
	static const struct arg_rule name##_first_two[] = {                   \
		UNMAPPED(0, last), UNMAPPED(1, last)                          \
	};                                                                    \
	static const struct arg_rule name##_first_three[] = {                 \
		UNMAPPED(0, last), UNMAPPED(1, last), UNMAPPED(2, last)       \
	};                                                                    \
	static const struct arg_rule name##_owner[] = { UNMAPPED(1, last),    \
							UNMAPPED(2, last) };  \
	static const struct arg_rule name##_owner_at[] = { UNMAPPED(2, last), \
							   UNMAPPED(3, last) }

ID_CHECKS(one, LAST_OF_ONE);
ID_CHECKS(range, LAST_OF_RANGE);

static const struct arg_rule always_faked[] = {
	{ FAKED, { { ARG_ALWAYS, 0, 0, 0 } } },
};

static const struct arg_rule mknod_checks[] = {
	{ FAKED, { MASKED(1, S_IFMT, S_IFCHR), IS_NOT(2, 0) } },
	{ FAKED, { MASKED(1, S_IFMT, S_IFBLK) } },
};

static const struct arg_rule mknodat_checks[] = {
	{ FAKED, { MASKED(2, S_IFMT, S_IFCHR), IS_NOT(3, 0) } },
	{ FAKED, { MASKED(2, S_IFMT, S_IFBLK) } },
};

#define BOTH(call, shape)                                  \
	{ call, EMULATE_ONE, CHECKS(one_##shape) },        \
	{                                                  \
		call, EMULATE_RANGE, CHECKS(range_##shape) \
	}

static const struct {
	const char *call;
	enum emulation emulation;
	const struct arg_rule *checks;
	size_t count;
} emulated_calls[] = {
	BOTH("chown", owner),
	BOTH("lchown", owner),
	BOTH("fchown", owner),
	BOTH("fchownat", owner_at),
	BOTH("setuid", first),
	BOTH("setgid", first),
	BOTH("setfsuid", first),
	BOTH("setfsgid", first),
	BOTH("setreuid", first_two),
	BOTH("setregid", first_two),
	BOTH("setresuid", first_three),
	BOTH("setresgid", first_three),
	{ "setgroups", EMULATE_ONE, CHECKS(always_faked) },
	{ "mknod", EMULATE_ONE, CHECKS(mknod_checks) },
	{ "mknod", EMULATE_RANGE, CHECKS(mknod_checks) },
	{ "mknodat", EMULATE_ONE, CHECKS(mknodat_checks) },
	{ "mknodat", EMULATE_RANGE, CHECKS(mknodat_checks) },
};

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

const struct call_group *rules_group(size_t index)
{
	return index < COUNT(groups) ? &groups[index] : NULL;
}

const struct call_group *rules_group_named(const char *name)
{
	for (size_t i = 0; i < COUNT(groups); i++)
		if (strcmp(groups[i].name, name) == 0)
			return &groups[i];
	return NULL;
}

const struct call_group *rules_group_of(const char *call)
{
	char name[CALL_NAME_LEN];

	for (size_t i = 0; i < COUNT(groups); i++) {
		const char *cursor = groups[i].calls;

		while (rules_next_call(&cursor, name))
			if (strcmp(name, call) == 0)
				return &groups[i];
	}
	return NULL;
}

bool rules_next_call(const char **cursor, char ret_name[CALL_NAME_LEN])
{
	size_t len = strcspn(*cursor, " ");

	if (!len || len >= CALL_NAME_LEN)
		return false;
	memcpy(ret_name, *cursor, len);
	ret_name[len] = '\0';
	*cursor += len + ((*cursor)[len] == ' ');
	return true;
}

int rules_number(const char *call, const struct filter_arch *arch)
{
	int nr = seccomp_syscall_resolve_name_arch(arch->audit, call);

	if (nr >= 0)
		return nr < CALLS_MAX ? nr : -1;
	/* Other negative numbers: a call that only other architectures have. */
	if (nr != __NR_SCMP_ERROR)
		return -1;
	for (size_t i = 0; i < COUNT(newer_calls); i++)
		if (strcmp(newer_calls[i].name, call) == 0 &&
		    (newer_calls[i].number >= COMMON_FROM || arch->x32))
			return newer_calls[i].number;
	return -1;
}

static struct call_rule rule_in(const struct call_group *group,
				const char *call, enum filter_kind kind,
				enum emulation emulation)
{
	struct call_rule rule = { NULL, 0,
				  kind <= FILTER_INIT ? group->answer[kind]
						      : ALLOW };

	for (size_t i = 0; i < COUNT(checked_calls); i++) {
		if (!(checked_calls[i].kinds & 1U << kind) ||
		    strcmp(checked_calls[i].call, call) != 0)
			continue;
		rule.checks = checked_calls[i].checks;
		rule.count = checked_calls[i].count;
		return rule;
	}
	for (size_t i = 0; i < COUNT(emulated_calls); i++) {
		if (emulated_calls[i].emulation != emulation ||
		    strcmp(emulated_calls[i].call, call) != 0)
			continue;
		rule.checks = emulated_calls[i].checks;
		rule.count = emulated_calls[i].count;
		return rule;
	}
	return rule;
}

struct call_rule rules_of(const char *call, enum filter_kind kind,
			  enum emulation emulation)
{
	return rule_in(rules_group_of(call), call, kind, emulation);
}

bool rules_is_emulated(const char *call)
{
	for (size_t i = 0; i < COUNT(emulated_calls); i++)
		if (strcmp(emulated_calls[i].call, call) == 0)
			return true;
	return false;
}

void rules_fill(struct rule_set *set, enum filter_kind kind,
		enum emulation emulation, const struct filter_arch *arch)
{
	char name[CALL_NAME_LEN];

	set->other = (struct call_rule){ NULL, 0,
					 kind >= FILTER_INIT ? ALLOW
							     : REFUSE(ENOSYS) };
	for (size_t i = 0; i < CALLS_MAX; i++)
		set->calls[i] = set->other;
	for (size_t i = 0; i < COUNT(groups); i++) {
		const char *cursor = groups[i].calls;

		while (rules_next_call(&cursor, name)) {
			int nr = rules_number(name, arch);

			if (nr >= 0)
				set->calls[nr] = rule_in(&groups[i], name, kind,
							 emulation);
		}
	}
}

bool rule_allows(const struct call_rule *rule)
{
	for (size_t i = 0; i < rule->count; i++)
		if (rule->checks[i].answer == ALLOW)
			return true;
	return rule->answer == ALLOW;
}
