/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The only user of libarchive. Nothing read here is trusted; libarchive parses
 * it in the process without rights that unpack.h tells of.
 *
 * Formats and filters are named one by one: "all" would also turn on filters
 * that start outside programs, and nesting (.gz.gz). Names stay bytes: in the
 * "C" locale libarchive can't convert pax's UTF-8, says so by a warning, and
 * hands out the bytes as they are, which is what is wanted.
 */
#include "rootfs/archive.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/mem.h"

enum { TAR_CHUNK = 256 << 10 };

struct tar {
	struct archive *archive;
	struct archive_entry *entry;
	int fd;
	int read_errno;
	uint64_t bytes;  /* handed to libarchive */
	size_t last_len; /* of the chunk handed out last */
	char *last_path; /* of the entry before, for messages */
	char chunk[TAR_CHUNK];
};

static ssize_t tar_fill(struct tar *tar)
{
	ssize_t n;

	do
		n = read(tar->fd, tar->chunk, sizeof(tar->chunk));
	while (n < 0 && errno == EINTR);
	if (n < 0) {
		tar->read_errno = errno;
		return -1;
	}
	/* At the end of file the chunk before is still there, unread. */
	if (n > 0)
		tar->last_len = (size_t)n;
	tar->bytes += (uint64_t)n;
	return n;
}

static la_ssize_t tar_read_callback(struct archive *archive, void *data,
				    const void **ret_buffer)
{
	struct tar *tar = data;
	ssize_t n = tar_fill(tar);

	if (n < 0) {
		archive_set_error(archive, tar->read_errno, "read error");
		return -1;
	}
	*ret_buffer = tar->chunk;
	return n;
}

/* What libarchive said, as a sentence of ours. */
static int tar_fail(struct tar *tar, struct error *err)
{
	const char *text = archive_error_string(tar->archive);

	if (tar->read_errno)
		return error_set(err, ERROR_IMAGE, tar->read_errno,
				 "read the archive");
	if (!text)
		text = "its compressed data ends in the middle";
	if (tar->last_path)
		return error_set(err, ERROR_IMAGE, 0,
				 "the archive is damaged or cut short, in or "
				 "after entry '%s': %s",
				 tar->last_path, text);
	return error_set(err, ERROR_IMAGE, 0,
			 "the archive is damaged or cut short: %s", text);
}

static int tar_not_one(struct tar *tar, struct error *err)
{
	if (tar->read_errno)
		return tar_fail(tar, err);
	if (tar->bytes == 0)
		error_set(err, ERROR_IMAGE, 0,
			  "not a rootfs archive: the file is empty");
	else
		error_set(err, ERROR_IMAGE, 0,
			  "not a rootfs archive: not a tar file, plain or "
			  "compressed with gzip, bzip2, xz, zstd or lz4");
	return error_hint(err, "make one by 'tar -C DIR -c .', 'docker "
			       "export' or mmdebstrap");
}

static const struct tar_filter {
	const char *name;
	int (*enable)(struct archive *archive);
} tar_filters[] = {
	{ "gzip", archive_read_support_filter_gzip },
	{ "bzip2", archive_read_support_filter_bzip2 },
	{ "xz", archive_read_support_filter_xz },
	{ "lzma", archive_read_support_filter_lzma },
	{ "zstd", archive_read_support_filter_zstd },
	{ "lz4", archive_read_support_filter_lz4 },
};

static int tar_set_up(struct tar *tar, struct error *err)
{
	struct archive *a = tar->archive;

	/* ARCHIVE_WARN: it would start an outside program for that. */
	for (size_t i = 0; i < ARRAY_SIZE(tar_filters); i++)
		if (tar_filters[i].enable(a) != ARCHIVE_OK)
			return error_set(err, ERROR_HOST, 0,
					 "libarchive was built without %s",
					 tar_filters[i].name);
	if (archive_read_support_format_tar(a) != ARCHIVE_OK ||
	    archive_read_set_option(a, "tar", "read_concatenated_archives",
				    "1") != ARCHIVE_OK)
		return error_set(err, ERROR_HOST, 0, "set up libarchive: %s",
				 archive_error_string(a));
	if (archive_read_open(a, tar, NULL, tar_read_callback, NULL) !=
	    ARCHIVE_OK)
		return tar_not_one(tar, err);
	/* The last "filter" is our callback. */
	if (archive_filter_count(a) > 2) {
		error_set(err, ERROR_IMAGE, 0,
			  "the archive is compressed more than once (%s in "
			  "%s)",
			  archive_filter_name(a, 0), archive_filter_name(a, 1));
		return error_hint(err, "decompress it once");
	}
	return 0;
}

int tar_open(int fd, struct tar **ret, struct error *err)
{
	auto_tar *tar = mem_alloc(sizeof(*tar));

	tar->fd = fd;
	tar->archive = archive_read_new();
	if (!tar->archive)
		return error_set(err, ERROR_INTERNAL, ENOMEM,
				 "set up libarchive");
	int r = tar_set_up(tar, err);

	if (r < 0)
		return r;
	*ret = mem_take(tar);
	return 0;
}

void tar_free(struct tar *tar)
{
	if (!tar)
		return;
	if (tar->archive)
		archive_read_free(tar->archive);
	free(tar->last_path);
	free(tar);
}

void tar_cleanup(struct tar **tar)
{
	tar_free(*tar);
}

/*
 * libarchive's gzip and bzip2 readers leave what follows their last member
 * unread and say nothing. Padding by zeros is usual (tapes, blocked devices).
 */
static int tar_check_rest(struct tar *tar, struct error *err)
{
	int count = archive_filter_count(tar->archive);
	uint64_t used = (uint64_t)archive_filter_bytes(tar->archive, count - 1);
	uint64_t rest = tar->bytes - used;
	bool zeros = rest <= tar->last_len;
	ssize_t n = zeros ? (ssize_t)rest : -1;
	const char *p = tar->chunk + tar->last_len - (zeros ? rest : 0);

	while (zeros && n >= 0) {
		for (ssize_t i = 0; zeros && i < n; i++)
			zeros = p[i] == 0;
		n = zeros ? tar_fill(tar) : -1;
		p = tar->chunk;
		if (n == 0)
			return 0;
	}
	if (tar->read_errno)
		return tar_fail(tar, err);
	error_set(err, ERROR_IMAGE, 0,
		  "something that is not an archive follows the end of the "
		  "archive, at byte %llu",
		  (unsigned long long)used);
	return error_hint(err, "cut the file there, or make it anew");
}

static enum tar_type tar_type_of(struct archive_entry *entry)
{
	if (archive_entry_hardlink(entry))
		return TAR_HARDLINK;
	switch (archive_entry_filetype(entry)) {
	case AE_IFREG:
		return TAR_FILE;
	case AE_IFDIR:
		return TAR_DIRECTORY;
	case AE_IFLNK:
		return TAR_SYMLINK;
	case AE_IFIFO:
		return TAR_FIFO;
	default:
		return TAR_NODE;
	}
}

static void tar_fill_entry(struct archive_entry *entry, struct tar_entry *ret)
{
	*ret = (struct tar_entry){
		.type = tar_type_of(entry),
		.path = archive_entry_pathname(entry),
		.mode = archive_entry_mode(entry) & 07777,
		.uid = archive_entry_uid(entry),
		.gid = archive_entry_gid(entry),
		.size = archive_entry_size(entry),
		.has_mtime = archive_entry_mtime_is_set(entry),
		.mtime = { .tv_sec = archive_entry_mtime(entry),
			   .tv_nsec = archive_entry_mtime_nsec(entry) },
	};
	if (ret->type == TAR_HARDLINK)
		ret->link = archive_entry_hardlink(entry);
	else if (ret->type == TAR_SYMLINK)
		ret->link = archive_entry_symlink(entry);
	/* utimensat(2) refuses what is not below a second. */
	if (ret->mtime.tv_nsec < 0 || ret->mtime.tv_nsec > 999999999)
		ret->mtime.tv_nsec = 0;
}

int tar_next(struct tar *tar, struct tar_entry *ret, struct error *err)
{
	int r = archive_read_next_header(tar->archive, &tar->entry);

	if (r == ARCHIVE_EOF)
		return tar_check_rest(tar, err);
	/* ARCHIVE_RETRY is a header whose checksum is wrong. */
	if (r != ARCHIVE_OK && r != ARCHIVE_WARN)
		return tar_fail(tar, err);
	tar_fill_entry(tar->entry, ret);
	if (!ret->path || !*ret->path)
		return error_set(err, ERROR_IMAGE, 0,
				 "an entry after '%s' has no name",
				 tar->last_path ? tar->last_path : "");
	if (!ret->link &&
	    (ret->type == TAR_SYMLINK || ret->type == TAR_HARDLINK))
		return error_set(err, ERROR_IMAGE, 0,
				 "entry '%s' is a link to nothing", ret->path);
	free(tar->last_path);
	tar->last_path = mem_strdup(ret->path);
	tar_xattr_rewind(tar);
	return 1;
}

int tar_read(struct tar *tar, const void **ret_data, size_t *ret_len,
	     int64_t *ret_offset, struct error *err)
{
	la_int64_t offset;
	int r = archive_read_data_block(tar->archive, ret_data, ret_len,
					&offset);

	if (r == ARCHIVE_EOF)
		return 0;
	if (r != ARCHIVE_OK)
		return tar_fail(tar, err);
	*ret_offset = offset;
	return 1;
}

bool tar_xattr(struct tar *tar, const char **ret_name, const void **ret_value,
	       size_t *ret_size)
{
	return archive_entry_xattr_next(tar->entry, ret_name, ret_value,
					ret_size) == ARCHIVE_OK;
}

void tar_xattr_rewind(struct tar *tar)
{
	archive_entry_xattr_reset(tar->entry);
}

uint64_t tar_bytes_read(const struct tar *tar)
{
	return tar->bytes;
}
