/* SPDX-License-Identifier: Apache-2.0 */
#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
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
