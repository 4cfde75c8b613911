/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls that set setuid and setgid bits, done as the caller: root, ids and
 * rights are the caller's when these run. The object, or the directory that a
 * new one comes into, is opened first; where it lies is told by the mount of
 * that descriptor, never by a name, and that descriptor is what is changed. On
 * mounts of the box's own the bits are set; on all others, so on volumes and
 * whatever is mounted on them, the call is done without them.
 *
 * The caller may change names and links meanwhile: a descriptor stays what it
 * is, and no file gets from one mount to another (rename(2), link(2): EXDEV).
 *
 * Nothing in /proc is touched: "/proc/self" is the notifier here.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/fd.h"
#include "sandbox/notify.h"
#include "sandbox/setup.h"

enum {
	SET_ID_BITS = S_ISUID | S_ISGID,
	MODE_BITS = 07777,
};

/* ---- finding the object ---- */

static bool is_in_proc(int fd)
{
	struct statfs st;

	return fstatfs(fd, &st) < 0 || st.f_type == PROC_SUPER_MAGIC;
}

/* O_PATH; links are followed as flags say, but none of /proc's magic ones. */
static int resolve(int base, const char *path, int flags)
{
	struct open_how how = {
		.flags = (unsigned)flags | O_PATH | O_CLOEXEC,
		.resolve = RESOLVE_NO_MAGICLINKS,
	};
	auto_close int fd =
		(int)syscall(SYS_openat2, base, path, &how, sizeof(how));

	if (fd < 0)
		return -errno;
	return is_in_proc(fd) ? -EPERM : fd_take(fd);
}

/* Is the caller's /proc, in its own root, one? */
static bool has_proc(void)
{
	struct open_how how = {
		.flags = O_PATH | O_DIRECTORY | O_CLOEXEC,
		.resolve = RESOLVE_NO_MAGICLINKS,
	};
	auto_close int fd = (int)syscall(SYS_openat2, AT_FDCWD, "/proc/self/fd",
					 &how, sizeof(how));
	struct statfs st;

	return fd >= 0 && fstatfs(fd, &st) == 0 &&
	       st.f_type == PROC_SUPER_MAGIC;
}

static int find_object(struct notify_caller *c, bool follow)
{
	int fd = resolve(c->base, c->path, follow ? 0 : O_NOFOLLOW);

	if (fd != -ELOOP || !follow || c->descriptor < 0 || !has_proc())
		return fd;
	return is_in_proc(c->descriptor) ? -EPERM : fd_take(c->descriptor);
}

/* The directory of the last component, which may have slashes behind it. */
static int find_parent(struct notify_caller *c, const char **ret_name)
{
	size_t end = strlen(c->path), start;

	while (end && c->path[end - 1] == '/')
		end--;
	if (!end)
		return c->path[0] ? -EEXIST : -ENOENT;
	for (start = end; start && c->path[start - 1] != '/';)
		start--;
	*ret_name = c->path + start;
	char first = c->path[start];

	c->path[start] = '\0';
	int fd = resolve(c->base, start ? c->path : ".", O_DIRECTORY);

	c->path[start] = first;
	return fd;
}

/* ---- changing and making ---- */

/* By the descriptor's link in the box's /proc, which all kernels have: the
 * fchmodat2(2) that could do it is there from Linux 6.6 on. */
static void own_link(int fd, char ret_name[32])
{
	snprintf(ret_name, 32, "self/fd/%d", fd);
}

static mode_t allowed_mode(const struct notifier *n, int fd, mode_t mode)
{
	return setup_is_own_mount(n->s, fd) ? mode
					    : mode & ~(mode_t)SET_ID_BITS;
}

static int change_mode(const struct notifier *n, int fd, mode_t mode)
{
	mode_t allowed = allowed_mode(n, fd, mode);
	char name[32];
	struct stat st;

	if (fstat(fd, &st) < 0)
		return -errno;
	/* Before Linux 6.6 some filesystems would do it. */
	if (S_ISLNK(st.st_mode))
		return -EOPNOTSUPP;
	/* A directory's says which group its new files have: no right to
	 * anything, and what a shared repository of git has. */
	if (S_ISDIR(st.st_mode))
		allowed |= mode & S_ISGID;
	own_link(fd, name);
	return syscall(SYS_fchmodat, n->proc, name, allowed) < 0 ? -errno : 0;
}

int notify_change_mode(struct notifier *n, struct notify_request *r)
{
	struct notify_caller *c = &r->caller;
	uint32_t flags = notify_argument(r, r->call->flags);
	bool by_descriptor =
		r->call->path < 0 || (!c->path[0] && (flags & AT_EMPTY_PATH));

	if (flags & ~(uint32_t)(AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH))
		return -EINVAL;
	auto_close int fd =
		by_descriptor ? fd_take(c->base)
			      : find_object(c, !(flags & AT_SYMLINK_NOFOLLOW));

	if (fd < 0)
		return fd;
	return change_mode(n, fd,
			   notify_argument(r, r->call->mode) & MODE_BITS);
}

int notify_make_node(struct notifier *n, struct notify_request *r)
{
	mode_t mode = notify_argument(r, r->call->mode);
	const char *name;

	if (n->restricted)
		return -EPERM;
	auto_close int dir = find_parent(&r->caller, &name);

	if (dir < 0)
		return dir;
	/* Raw: the C library's has another form of device number. */
	return syscall(SYS_mknodat, dir, name, allowed_mode(n, dir, mode),
		       notify_argument(r, r->call->dev)) < 0
		       ? -errno
		       : 0;
}

/* ---- opening ---- */

/*
 * A file that exists: its mode stays. Regular ones only, since others may make
 * the one who opens them wait, or are something else for the notifier. Not
 * blocking, for a file can have a lease (fcntl(2)).
 */
static int open_existing(const struct notifier *n, struct notify_caller *c,
			 int flags)
{
	auto_close int found = find_object(c, !(flags & O_NOFOLLOW));
	char name[32];
	struct stat st;

	if (found < 0)
		return found;
	if (fstat(found, &st) < 0)
		return -errno;
	if (S_ISDIR(st.st_mode))
		return -EISDIR;
	if (S_ISLNK(st.st_mode))
		return -ELOOP;
	if (!S_ISREG(st.st_mode))
		return -EPERM;
	own_link(found, name);
	int fd = (int)syscall(SYS_openat, n->proc, name,
			      (flags & ~(O_CREAT | O_NOFOLLOW)) | O_NONBLOCK |
				      O_CLOEXEC);

	if (fd < 0)
		return -errno;
	if (!(flags & O_NONBLOCK))
		fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
	return fd;
}

/* O_EXCL: what is opened is what was made, in the directory that was looked at.
 */
static int open_new(const struct notifier *n, struct notify_caller *c,
		    int flags, mode_t mode)
{
	const char *name;
	auto_close int dir = find_parent(c, &name);

	if (dir < 0)
		return dir;
	int fd = (int)syscall(SYS_openat, dir, name,
			      flags | O_CREAT | O_EXCL | O_CLOEXEC,
			      allowed_mode(n, dir, mode));

	return fd < 0 ? -errno : fd;
}

static int open_unnamed(const struct notifier *n, struct notify_caller *c,
			int flags, mode_t mode)
{
	auto_close int dir = find_object(c, true);

	if (dir < 0)
		return dir;
	int fd = (int)syscall(SYS_openat, dir, ".", flags | O_CLOEXEC,
			      allowed_mode(n, dir, mode));

	return fd < 0 ? -errno : fd;
}

static int open_as_caller(const struct notifier *n, struct notify_caller *c,
			  int flags, mode_t mode)
{
	if (flags & __O_TMPFILE)
		return open_unnamed(n, c, flags, mode);
	int fd = open_new(n, c, flags, mode);

	if (fd != -EEXIST || (flags & O_EXCL))
		return fd;
	fd = open_existing(n, c, flags);
	/* A link that leads to nothing, where the file would be made. */
	return fd == -ENOENT ? -EPERM : fd;
}

int notify_open(struct notifier *n, struct notify_request *r)
{
	int flags = r->call->flags < 0
			    ? O_CREAT | O_WRONLY | O_TRUNC /* creat(2) */
			    : (int)notify_argument(r, r->call->flags);

	/* There is nothing of this kind that makes a file. */
	if (flags & O_PATH)
		return -EINVAL;
	if (n->restricted)
		return -EPERM;
	auto_close int fd =
		open_as_caller(n, &r->caller, flags,
			       notify_argument(r, r->call->mode) & MODE_BITS);

	if (fd < 0)
		return fd;
	struct seccomp_notif_addfd give = {
		.id = r->id,
		.flags = SECCOMP_ADDFD_FLAG_SEND,
		.srcfd = (uint32_t)fd,
		.newfd_flags = (uint32_t)(flags & O_CLOEXEC),
	};

	return ioctl(n->listener, SECCOMP_IOCTL_NOTIF_ADDFD, &give) < 0
		       ? -errno
		       : NOTIFY_ANSWERED;
}
