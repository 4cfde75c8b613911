/* SPDX-License-Identifier: Apache-2.0 */
#include "base/fd.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/buf.h"

void fd_close(int *fd)
{
	int saved = errno;

	if (*fd >= 0)
		close(*fd);
	*fd = -1;
	errno = saved;
}

static void close_one(unsigned fd, bool only_mark)
{
	if (only_mark)
		fcntl((int)fd, F_SETFD, FD_CLOEXEC);
	else
		close((int)fd);
}

/* proc_pid_fd(5) lists by number, so that closing while reading skips none. */
static int close_listed(unsigned first, unsigned last, bool only_mark)
{
	_Alignas(struct dirent64) char data[4096];
	int dir = open("/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	long len = -1;

	while (dir >= 0 &&
	       (len = syscall(SYS_getdents64, dir, data, sizeof(data))) > 0) {
		for (long at = 0; at < len;) {
			const struct dirent64 *e = (void *)(data + at);
			unsigned fd = (unsigned)strtoul(e->d_name, NULL, 10);

			at += e->d_reclen;
			if (e->d_name[0] != '.' && fd >= first && fd <= last &&
			    fd != (unsigned)dir)
				close_one(fd, only_mark);
		}
	}
	int code = len < 0 ? errno : 0;

	if (dir >= 0)
		close(dir);
	return -code;
}

int fd_close_range(unsigned first, unsigned last, bool only_mark)
{
	unsigned flags = only_mark ? CLOSE_RANGE_CLOEXEC : 0;

	if (syscall(SYS_close_range, first, last, flags) == 0)
		return 0;
	return close_listed(first, last, only_mark);
}

int fd_write_all(int fd, const void *data, size_t len)
{
	const char *p = data;

	while (len) {
		ssize_t n = write(fd, p, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		p += n;
		len -= (size_t)n;
	}
	return 0;
}

int fd_read_all(int fd, size_t max, struct buf *ret_data)
{
	char chunk[16384];
	size_t total = 0;

	for (;;) {
		ssize_t n = read(fd, chunk, sizeof(chunk));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			return 0;
		total += (size_t)n;
		if (total > max)
			return -EFBIG;
		buf_add(ret_data, chunk, (size_t)n);
	}
}

int file_read(int dirfd, const char *path, size_t max, struct buf *ret_data)
{
	auto_close int fd = openat(dirfd, path, O_RDONLY | O_CLOEXEC);

	return fd < 0 ? -errno : fd_read_all(fd, max, ret_data);
}

int file_put(int dirfd, const char *path, const char *text)
{
	auto_close int fd = openat(dirfd, path, O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	ssize_t n = write(fd, text, strlen(text));

	if (n < 0)
		return -errno;
	return (size_t)n == strlen(text) ? 0 : -EIO;
}
