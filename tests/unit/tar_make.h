/* SPDX-License-Identifier: Apache-2.0 */
/* Tar archives by hand, so that a test can make what no tar program would. */
#ifndef LLMBOX_TAR_MAKE_H
#define LLMBOX_TAR_MAKE_H

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fd.h"

enum { TAR_MAKE_TIME = 1700000000 };

struct tar_member {
	char type; /* '0' file, '1' hard link, '2' symbolic link, ... */
	const char *name, *link;
	unsigned mode, uid, gid;
	const char *data; /* or NULL */
	size_t len;       /* of data; 0: it is a string */
};

static inline void tar_make_pad(struct buf *tar)
{
	static const char zeros[512];

	buf_add(tar, zeros, (512 - tar->len % 512) % 512);
}

static inline void tar_make_header(struct buf *tar, const struct tar_member *m,
				   size_t size)
{
	char h[512] = "";
	unsigned sum = 0;

	memcpy(h, m->name, strnlen(m->name, 99));
	snprintf(h + 100, 8, "%07o", m->mode);
	snprintf(h + 108, 8, "%07o", m->uid);
	snprintf(h + 116, 8, "%07o", m->gid);
	snprintf(h + 124, 12, "%011o", (unsigned)size);
	snprintf(h + 136, 12, "%011o", (unsigned)TAR_MAKE_TIME);
	memset(h + 148, ' ', 8);
	h[156] = m->type;
	if (m->link)
		memcpy(h + 157, m->link, strnlen(m->link, 99));
	memcpy(h + 257, "ustar\00000", 8);
	for (size_t i = 0; i < sizeof(h); i++)
		sum += (unsigned char)h[i];
	snprintf(h + 148, 8, "%06o", sum);
	buf_add(tar, h, sizeof(h));
}

static inline void tar_make(struct buf *tar, struct tar_member m)
{
	size_t size = m.data && !m.len ? strlen(m.data) : m.len;

	tar_make_header(tar, &m, size);
	buf_add(tar, m.data ? m.data : "", size);
	tar_make_pad(tar);
}

/* One pax record for the next member; len below 90. */
static inline void tar_make_pax(struct buf *tar, const char *key,
				const char *value)
{
	char record[128];
	size_t len = strlen(key) + strlen(value) + 5;
	struct tar_member m = { .type = 'x', .name = "pax", .mode = 0644 };

	snprintf(record, sizeof(record), "%02zu %s=%s\n", len, key, value);
	m.data = record;
	tar_make(tar, m);
}

static inline void tar_make_end(struct buf *tar)
{
	static const char zeros[1024];

	buf_add(tar, zeros, sizeof(zeros));
}

/* gzip of stored blocks: one member. */
static inline void tar_make_gzip(struct buf *out, const struct buf *tar)
{
	static const char header[] = "\x1f\x8b\x08\0\0\0\0\0\0\xff";

	buf_add(out, header, 10);
	for (size_t at = 0; at < tar->len;) {
		size_t n = tar->len - at < 32768 ? tar->len - at : 32768;
		char block[5] = { at + n == tar->len, (char)(n & 0xff),
				  (char)(n >> 8), (char)(~n & 0xff),
				  (char)(~n >> 8 & 0xff) };

		buf_add(out, block, sizeof(block));
		buf_add(out, tar->data + at, n);
		at += n;
	}
	buf_add(out, "\0\0\0\0\0\0\0\0", 8);
}

/* A file without a name, at its beginning. */
static inline int tar_make_fd(const struct buf *data)
{
	int fd = memfd_create("archive", MFD_CLOEXEC);

	if (fd >= 0 &&
	    (fd_write_all(fd, data->data ? data->data : "", data->len) < 0 ||
	     lseek(fd, 0, SEEK_SET) < 0))
		fd_close(&fd);
	return fd;
}

#endif
