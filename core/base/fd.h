/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptors. Every one is close-on-exec from birth. */
#ifndef LLMBOX_FD_H
#define LLMBOX_FD_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct buf;
struct error;

/* Moves a descriptor out of a variable, so that its cleanup finds -1. */
#define fd_take(fd)                \
	({                         \
		int taken_ = (fd); \
		(fd) = -1;         \
		taken_;            \
	})

/* Closes *fd where it is not negative, and leaves -1; errno is kept. */
void fd_close(int *fd);
#define auto_close __attribute__((cleanup(fd_close)))

/*
 * Closes all descriptors from first to last (~0U: all above), or marks them
 * close-on-exec. By close_range(2), and where a filter refuses that, one by
 * one. No allocation: may be called between clone and exec. 0 or -errno.
 */
int fd_close_range(unsigned first, unsigned last, bool only_mark);

/* All of it, in spite of signals and short writes. 0 or -errno. */
int fd_write_all(int fd, const void *data, size_t len);

/*
 * Appends all up to the end of file. -EFBIG when it is more than max bytes,
 * else 0 or -errno.
 */
int fd_read_all(int fd, size_t max, struct buf *ret_data);

/* Opens a file, reads it whole, closes it: as fd_read_all. */
int file_read(int dirfd, const char *path, size_t max, struct buf *ret_data);

/* One write(2) to an existing file, as /proc and cgroup files want it. */
int file_put(int dirfd, const char *path, const char *text);

#endif
