/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who calls: its ids, rights, umask, root and working directory from /proc, the
 * path from its memory; and becoming it, so that the kernel resolves its path
 * and checks its rights as it would have done for the caller itself.
 *
 * It trusts the kernel's texts in /proc. The path is hostile and is bounded by
 * PATH_MAX; it is only handed to the kernel.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fd.h"
#include "base/mem.h"
#include "sandbox/notify.h"
#include "sandbox/setup.h"

/* Of /proc/PID/status; a caller in thousands of groups is refused. */
enum { STATUS_MAX = 64 << 10 };

void notify_caller_release(struct notify_caller *c)
{
	fd_close(&c->process);
	fd_close(&c->root);
	fd_close(&c->base);
	fd_close(&c->descriptor);
	free(c->groups);
	c->groups = NULL;
}

static bool has_one_id(const struct notifier *n)
{
	return n->s->plan->ids.identity == IDENTITY_ONE;
}

/* ---- its ids and rights ---- */

/* What stands behind "NAME:\t"; the kernel escapes newlines in the first line,
 * which has the name that a process may give itself. */
static const char *status_field(const char *text, const char *name)
{
	size_t len = strlen(name);

	for (const char *p = strchr(text, '\n'); p; p = strchr(p + 1, '\n'))
		if (strncmp(p + 1, name, len) == 0 &&
		    strncmp(p + 1 + len, ":\t", 2) == 0)
			return p + 3 + len;
	return NULL;
}

/* In a box of one id nobody can change groups (user_namespaces(7)): the
 * notifier has the same. */
static void parse_groups(const char *text, struct notify_caller *c)
{
	for (;;) {
		while (*text == ' ')
			text++;
		if (!isdigit((unsigned char)*text))
			return;
		c->groups = mem_resize(c->groups, c->group_count + 1,
				       sizeof(*c->groups));
		c->groups[c->group_count++] =
			(gid_t)strtoul(text, (char **)&text, 10);
	}
}

static int look_at_status(const struct notifier *n, struct notify_caller *c)
{
	auto_buf status = { 0 };
	int r = file_read(c->process, "status", STATUS_MAX, &status);

	if (r < 0 || !status.len)
		return -EPERM;
	const char *umask = status_field(status.data, "Umask");
	const char *uid = status_field(status.data, "Uid");
	const char *gid = status_field(status.data, "Gid");
	const char *groups = status_field(status.data, "Groups");
	const char *rights = status_field(status.data, "CapEff");

	/* Real, effective, saved, filesystem. */
	if (!umask || !uid || !gid || !groups || !rights ||
	    sscanf(umask, "%o", &c->umask) != 1 ||
	    sscanf(uid, "%*u %*u %*u %u", &c->uid) != 1 ||
	    sscanf(gid, "%*u %*u %*u %u", &c->gid) != 1 ||
	    sscanf(rights, "%" SCNx64, &c->rights) != 1)
		return -EPERM;
	if (!has_one_id(n))
		parse_groups(groups, c);
	return 0;
}

/* ---- its root, directory and descriptors ---- */

static bool is_same_place(int a, int b)
{
	struct statx x, y;

	return statx(a, "", AT_EMPTY_PATH, STATX_INO | STATX_MNT_ID, &x) == 0 &&
	       statx(b, "", AT_EMPTY_PATH, STATX_INO | STATX_MNT_ID, &y) == 0 &&
	       x.stx_mask & y.stx_mask & STATX_MNT_ID &&
	       x.stx_mnt_id == y.stx_mnt_id && x.stx_ino == y.stx_ino &&
	       x.stx_dev_major == y.stx_dev_major &&
	       x.stx_dev_minor == y.stx_dev_minor;
}

static int look_at_root(const struct notifier *n, struct notify_caller *c)
{
	c->root = openat(c->process, "root", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (c->root < 0)
		return -EPERM;
	if (is_same_place(c->root, n->root))
		fd_close(&c->root);
	return 0;
}

static int open_descriptor(const struct notify_caller *c, int number)
{
	char name[24];

	snprintf(name, sizeof(name), "fd/%d", number);
	int fd = openat(c->process, name, O_PATH | O_CLOEXEC);

	if (fd >= 0)
		return fd;
	return errno == ENOENT ? -EBADF : -EPERM;
}

static int look_at_base(struct notify_request *r)
{
	const struct notify_call *call = r->call;
	struct notify_caller *c = &r->caller;
	int number = call->dirfd < 0 ? AT_FDCWD
				     : (int)notify_argument(r, call->dirfd);

	if (call->path >= 0 && c->path[0] == '/')
		return 0;
	if (call->path >= 0 && number == AT_FDCWD) {
		c->base = openat(c->process, "cwd", O_PATH | O_CLOEXEC);
		return c->base < 0 ? -EPERM : 0;
	}
	if (number < 0)
		return -EBADF;
	c->base = open_descriptor(c, number);
	return c->base < 0 ? c->base : 0;
}

/*
 * "/proc/self/fd/N" means the notifier's own where it is resolved here. It is
 * how C libraries change the mode of what they have opened with O_PATH
 * (fchmodat(3) with AT_SYMLINK_NOFOLLOW), so this one name is understood.
 */
static int look_at_descriptor(struct notify_caller *c)
{
	static const char prefix[] = "/proc/self/fd/";
	const char *name = c->path + sizeof(prefix) - 1;
	size_t len;

	if (strncmp(c->path, prefix, sizeof(prefix) - 1) != 0)
		return 0;
	len = strspn(name, "0123456789");
	if (!len || len > 9 || name[len])
		return 0;
	c->descriptor = open_descriptor(c, (int)strtol(name, NULL, 10));
	return 0;
}

/* ---- its path ---- */

/* process_vm_readv(2) copies whole elements: up to the end of the page and what
 * is behind it are two, for the second may not be mapped. */
static int read_path(pid_t pid, uint64_t address, char ret_path[PATH_MAX])
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	size_t first = (size_t)(page - address % page);

	if (first > PATH_MAX)
		first = PATH_MAX;
	struct iovec to = { ret_path, PATH_MAX };
	struct iovec from[2] = {
		{ (void *)(uintptr_t)address, first },
		{ (void *)(uintptr_t)(address + first), PATH_MAX - first },
	};
	ssize_t n = process_vm_readv(pid, &to, 1, from, 2, 0);

	if (n < 0)
		return errno == EFAULT ? -EFAULT : -EPERM;
	if (memchr(ret_path, '\0', (size_t)n))
		return 0;
	return n == PATH_MAX ? -ENAMETOOLONG : -EFAULT;
}

int notify_look(const struct notifier *n, pid_t pid, struct notify_request *r)
{
	struct notify_caller *c = &r->caller;
	char name[16];
	int result = 0;

	snprintf(name, sizeof(name), "%d", pid);
	c->process = openat(n->proc, name, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (c->process < 0)
		return -EPERM;
	if (r->call->path >= 0)
		result = read_path(pid, r->args[r->call->path], c->path);
	if (result == 0)
		result = look_at_status(n, c);
	if (result == 0)
		result = look_at_root(n, c);
	if (result == 0)
		result = look_at_base(r);
	return result == 0 ? look_at_descriptor(c) : result;
}

/* ---- becoming it ---- */

static int set_effective(uint64_t permitted, uint64_t effective)
{
	struct __user_cap_header_struct head = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct caps[2] = { 0 };

	caps[0].permitted = (__u32)permitted;
	caps[1].permitted = (__u32)(permitted >> 32);
	caps[0].effective = (__u32)effective;
	caps[1].effective = (__u32)(effective >> 32);
	return syscall(SYS_capset, &head, caps) < 0 ? -errno : 0;
}

/* They say nothing of failure but the id that is there now (setfsuid(2)). */
static int set_ids(uid_t uid, gid_t gid)
{
	syscall(SYS_setfsgid, gid);
	syscall(SYS_setfsuid, uid);
	return syscall(SYS_setfsgid, -1) == (long)gid &&
			       syscall(SYS_setfsuid, -1) == (long)uid
		       ? 0
		       : -EPERM;
}

static int enter_root(int root)
{
	return fchdir(root) < 0 || chroot(".") < 0 ? -errno : 0;
}

int notify_become(const struct notifier *n, const struct notify_caller *c)
{
	if (c->root >= 0 && enter_root(c->root) < 0)
		return -EPERM;
	umask(c->umask);
	if (!has_one_id(n) &&
	    syscall(SYS_setgroups, c->group_count, c->groups) < 0)
		return -EPERM;
	if (set_ids(c->uid, c->gid) < 0)
		return -EPERM;
	return set_effective(n->rights, n->rights & c->rights);
}

void notify_leave(const struct notifier *n, const struct notify_caller *c)
{
	if (set_effective(n->rights, n->rights) < 0 ||
	    set_ids(n->uid, n->gid) < 0 ||
	    (c->root >= 0 && enter_root(n->root) < 0))
		_exit(1);
}
