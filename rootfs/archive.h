/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading tar archives (ustar, pax, GNU, old Unix; plain or through one of
 * gzip, bzip2, xz, lzma, zstd, lz4) as a stream. The format is told by content,
 * never by a file's name. What ends an archive early or follows its end is an
 * error, and archives one behind the other are all read (libarchive alone would
 * stop silently after the first).
 */
#ifndef LLMBOX_ARCHIVE_H
#define LLMBOX_ARCHIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

struct error;
struct tar;

enum tar_type {
	TAR_FILE,
	TAR_DIRECTORY,
	TAR_SYMLINK,
	TAR_HARDLINK,
	TAR_FIFO,
	TAR_NODE, /* a device or a socket */
};

/* Strings are the archive's bytes, valid until the next tar_next. */
struct tar_entry {
	enum tar_type type;
	const char *path; /* not empty */
	const char *link; /* of symbolic and hard links, else NULL */
	mode_t mode;      /* the lowest twelve bits */
	int64_t uid, gid;
	int64_t size; /* of a file, holes included */
	bool has_mtime;
	struct timespec mtime;
};

/* fd stays the caller's, and must outlive the result. Errors of all functions
 * are ERROR_IMAGE (ERROR_HOST where libarchive lacks a compression). */
int tar_open(int fd, struct tar **ret, struct error *err);
void tar_free(struct tar *tar);
void tar_cleanup(struct tar **tar);
#define auto_tar __attribute__((cleanup(tar_cleanup))) struct tar

/* 1 and the next entry, 0 at the proper end of all there is, or an error. */
int tar_next(struct tar *tar, struct tar_entry *ret, struct error *err);

/* The next extent of the entry's data, in the order of the archive; what lies
 * between extents is a hole. 1, 0 at the entry's end, or an error. */
int tar_read(struct tar *tar, const void **ret_data, size_t *ret_len,
	     int64_t *ret_offset, struct error *err);

/* The entry's extended attributes, one a call. False after the last. */
bool tar_xattr(struct tar *tar, const char **ret_name, const void **ret_value,
	       size_t *ret_size);

/* Begins again with the entry's first attribute. */
void tar_xattr_rewind(struct tar *tar);

/* Bytes of the archive read so far, still compressed. */
uint64_t tar_bytes_read(const struct tar *tar);

#endif
