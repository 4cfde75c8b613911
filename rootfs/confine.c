/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Order: descriptors; the tree as working directory, as long as the caller's
 * own groups may lead there; ids, since all else needs the rights over the new
 * user namespace; death signal, which a change of ids would clear (prctl(2));
 * namespaces; root; limits; capabilities; filter.
 */
#include "rootfs/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/error.h"
#include "base/fd.h"
#include "base/mem.h"

enum {
	CONFINE_FIRST_FREE = 5,
	CONFINE_FILES = 256,
	CONFINE_MEMORY = 1 << 30, /* xz and zstd windows fit in many times */
};

static int confine_fail(struct error *err, int code, const char *step)
{
	return error_set(err, ERROR_HOST, code,
			 "shut in the process that unpacks: %s", step);
}

/* ---- descriptors ---- */

/* Out of the way of 0 to 4, which they are moved to afterwards. */
static int fd_lift(int fd)
{
	return fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 64);
}

static int confine_descriptors(const struct confine_input *c, int *in, int *out,
			       int *ret_mount, int *ret_userns)
{
	int from[CONFINE_FIRST_FREE] = { fd_lift(*in), fd_lift(*out), -1,
					 fd_lift(c->mount),
					 fd_lift(c->userns) };

	/* Not closed: messages of the C library must not land in a file. */
	from[2] = open("/dev/null", O_RDWR | O_CLOEXEC);
	from[2] = fd_lift(from[2]);
	for (int i = 0; i < CONFINE_FIRST_FREE; i++) {
		if (from[i] < 0)
			close(i);
		else if (dup2(from[i], i) < 0)
			return -errno;
		if (i == 1)
			*out = 1;
	}
	*in = 0;
	*ret_mount = from[3] < 0 ? -1 : 3;
	*ret_userns = from[4] < 0 ? -1 : 4;
	if (from[0] < 0 || from[1] < 0 || (c->mount >= 0 && from[3] < 0))
		return -EMFILE;
	return fd_close_range(CONFINE_FIRST_FREE, ~0U, false);
}

/* ---- ids ---- */

static int confine_ids(const struct confine_input *c, int userns,
		       bool *ret_refused, struct error *err)
{
	if (userns >= 0) {
		int r = idmap_join(userns);

		return r < 0 ? confine_fail(err, -r, "take its ids") : 0;
	}
	if (unshare(CLONE_NEWUSER) < 0) {
		*ret_refused = true;
		return confine_fail(err, errno, "make a user namespace");
	}
	/* The maps belong to root where the process is not dumpable. */
	prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
	int r = idmap_write_self(&c->map);

	prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	return r < 0 ? confine_fail(err, -r, "map its id") : 0;
}

/* ---- root ---- */

static int confine_root(int mount_fd, struct error *err)
{
	struct mount_attr attr = {
		.attr_set = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV |
			    MOUNT_ATTR_NOEXEC,
	};

	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		return confine_fail(err, errno, "make its mounts private");
	if (mount_fd < 0)
		mount_fd = (int)syscall(SYS_open_tree, AT_FDCWD, "",
					OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC |
						AT_EMPTY_PATH);
	if (mount_fd < 0)
		return confine_fail(err, errno, "clone the mount of its tree");
	if (mount_setattr(mount_fd, "", AT_EMPTY_PATH, &attr, sizeof(attr)) < 0)
		return confine_fail(err, errno, "set the mount's flags");
	/* Anywhere will do that every host has and anybody may search. */
	if (move_mount(mount_fd, "", AT_FDCWD, "/proc",
		       MOVE_MOUNT_F_EMPTY_PATH) < 0)
		return confine_fail(err, errno, "mount its tree");
	/* The old root ends up on top of the new one (pivot_root(2)). */
	if (fchdir(mount_fd) < 0 || syscall(SYS_pivot_root, ".", ".") < 0 ||
	    umount2(".", MNT_DETACH) < 0 || chdir("/") < 0)
		return confine_fail(err, errno, "change its root");
	close(mount_fd);
	return 0;
}

/* ---- limits and rights ---- */

static int confine_limits(void)
{
	static const struct {
		__rlimit_resource_t resource;
		rlim_t value;
	} limits[] = {
#ifndef __SANITIZE_ADDRESS__ /* whose shadow is larger than any limit */
		{ RLIMIT_DATA, CONFINE_MEMORY },
#endif
		{ RLIMIT_CORE, 0 },
		{ RLIMIT_NPROC, 0 },
		{ RLIMIT_NOFILE, CONFINE_FILES },
		/* Bounds are on the whole archive; a sparse file may be huge.
		 */
		{ RLIMIT_FSIZE, RLIM_INFINITY },
	};

	for (size_t i = 0; i < ARRAY_SIZE(limits); i++) {
		struct rlimit r, want = { limits[i].value, limits[i].value };

		if (getrlimit(limits[i].resource, &r) < 0)
			return -errno;
		if (want.rlim_max > r.rlim_max)
			want.rlim_cur = want.rlim_max = r.rlim_max;
		if (setrlimit(limits[i].resource, &want) < 0)
			return -errno;
	}
	/* Where the caller has such a limit: an errno, not the end. */
	signal(SIGXFSZ, SIG_IGN);
	return 0;
}

static int confine_rights(void)
{
	struct __user_cap_header_struct header = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	uint32_t keep = 1U << CAP_CHOWN | 1U << CAP_DAC_OVERRIDE |
			1U << CAP_FOWNER | 1U << CAP_FSETID | 1U << CAP_SETFCAP;
	struct __user_cap_data_struct data[2] = {
		{ .effective = keep, .permitted = keep },
	};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	    syscall(SYS_capset, &header, data) < 0)
		return -errno;
	return 0;
}

/* ---- filter ---- */

#if defined(__x86_64__)
#define CONFINE_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define CONFINE_ARCH AUDIT_ARCH_AARCH64
#elif defined(__riscv) && __riscv_xlen == 64
#define CONFINE_ARCH AUDIT_ARCH_RISCV64
#endif

#ifdef CONFINE_ARCH
static const unsigned short allowed[] = {
	SYS_read,         SYS_write,        SYS_pwrite64,   SYS_close,
	SYS_openat,       SYS_openat2,      SYS_utimensat,  SYS_mkdirat,
	SYS_symlinkat,    SYS_fchmod,       SYS_fchownat,   SYS_linkat,
	SYS_newfstatat,   SYS_fstat,        SYS_unlinkat,   SYS_renameat2,
	SYS_mknodat,      SYS_ftruncate,    SYS_fsetxattr,  SYS_getdents64,
	SYS_fchmodat,     SYS_lseek,        SYS_fcntl,      SYS_mmap,
	SYS_munmap,       SYS_mremap,       SYS_mprotect,   SYS_madvise,
	SYS_brk,          SYS_futex,        SYS_getrandom,  SYS_clock_gettime,
	SYS_sysinfo,      SYS_rt_sigaction, SYS_getpid,     SYS_gettid,
	SYS_rt_sigreturn, SYS_tgkill,       SYS_exit_group, SYS_rt_sigprocmask,
	SYS_pread64,      SYS_sched_yield,  SYS_exit,       SYS_readlinkat,
	SYS_flistxattr,   SYS_fgetxattr,
};

static int confine_filter(void)
{
	enum { COUNT = ARRAY_SIZE(allowed) };
	struct sock_filter code[COUNT + 6] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, arch)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, CONFINE_ARCH, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, nr)),
	};
	struct sock_fprog program = { .len = COUNT + 6, .filter = code };

	for (unsigned i = 0; i < COUNT; i++)
		code[4 + i] = (struct sock_filter)BPF_JUMP(
			BPF_JMP | BPF_JEQ | BPF_K, allowed[i],
			(uint8_t)(COUNT - i), 0);
	code[COUNT + 4] = (struct sock_filter)BPF_STMT(
		BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
	code[COUNT + 5] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K,
						       SECCOMP_RET_ALLOW);
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0 ? -errno
									: 0;
}
#else
/* The namespaces and rights hold without it. */
static int confine_filter(void)
{
	return 0;
}
#endif

int confine_enter(const struct confine_input *c, int *in, int *out,
		  bool *ret_userns_refused, struct error *err)
{
	int mount_fd = -1, userns = -1;
	int r = confine_descriptors(c, in, out, &mount_fd, &userns);

	if (r < 0)
		return confine_fail(err, -r, "close its descriptors");
	if (mount_fd < 0 && chdir(c->tree) < 0)
		return confine_fail(err, errno, "enter its tree");
	r = confine_ids(c, userns, ret_userns_refused, err);
	if (r < 0)
		return r;
	if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0)
		return confine_fail(err, errno, "bind it to its parent");
	/* It may have died before. */
	if (getppid() != c->parent)
		return confine_fail(err, ESRCH, "find its parent");
	if (unshare(CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWIPC) < 0)
		return confine_fail(err, errno, "make its namespaces");
	r = confine_root(mount_fd, err);
	if (r < 0)
		return r;
	if (userns >= 0)
		close(userns);
	r = confine_limits();
	if (r == 0)
		r = confine_rights();
	if (r == 0)
		r = confine_filter();
	return r < 0 ? confine_fail(err, -r, "limit its rights") : 0;
}
