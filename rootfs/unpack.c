/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Entry by entry, with the bounds looked at before anything is written; if it
 * was an image of layers, these are unpacked in turn (flatten.c); then a look
 * at whether what came out can be a root file system at all, since "sh not
 * found" in the box would tell nobody that the archive was of another kind.
 */
#include "rootfs/unpack.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/fd.h"
#include "base/mem.h"
#include "rootfs/archive.h"
#include "rootfs/flatten.h"

const struct unpack_bounds unpack_bounds_default = {
	.bytes = 64ULL << 30,
	.entries = 4 << 20,
	.ratio = 1000,
	.ratio_from = 1 << 30,
};

struct unpacking {
	const struct unpack_bounds *bounds;
	const struct tar *tar;
	volatile struct writer_counts *counts;
	uint64_t before; /* bytes of archives before this one */
};

static int unpack_check(void *arg, size_t len, struct error *err)
{
	const struct unpacking *u = arg;
	uint64_t bytes = u->counts->bytes + len;

	if (bytes > u->bounds->bytes)
		return error_set(err, ERROR_IMAGE, 0,
				 "the archive holds more than %llu bytes",
				 (unsigned long long)u->bounds->bytes);
	bytes -= u->before;
	if (bytes > u->bounds->ratio_from &&
	    bytes / u->bounds->ratio > tar_bytes_read(u->tar))
		return error_set(err, ERROR_IMAGE, 0,
				 "the archive expands to more than %llu times "
				 "its size",
				 (unsigned long long)u->bounds->ratio);
	return 0;
}

int unpack_entries(struct tar *tar, struct writer *writer,
		   const struct unpack_bounds *bounds,
		   volatile struct writer_counts *counts,
		   bool (*skip)(const char *path), struct error *err)
{
	struct unpacking u = {
		.bounds = bounds,
		.tar = tar,
		.counts = counts,
		.before = counts->bytes,
	};
	struct tar_entry entry;
	int r;

	while ((r = tar_next(tar, &entry, err)) > 0) {
		if (counts->entries >= bounds->entries)
			return error_set(err, ERROR_IMAGE, 0,
					 "the archive has more than %llu "
					 "entries",
					 (unsigned long long)bounds->entries);
		if (skip && skip(entry.path))
			continue;
		r = writer_add(writer, tar, &entry, unpack_check, &u, err);
		if (r < 0)
			return r;
	}
	return r;
}

/* ---- what came out ---- */

static bool has(int dirfd, const char *name)
{
	struct stat st;

	return fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

/* Any of the names that only a root has, at its top. */
static bool looks_like_root(int dirfd)
{
	static const char *const names[] = { "bin", "usr", "etc", "sbin",
					     "lib", "nix", "gnu" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (has(dirfd, names[i]))
			return true;
	return false;
}

/* The number of names in the directory, at most two, and the last of them. */
static int count_names(int root_fd, char name[NAME_MAX + 1])
{
	int fd = openat(root_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *e;
	int count = 0;

	if (!dir) {
		fd_close(&fd);
		return -errno;
	}
	while (count < 2 && (e = readdir(dir))) {
		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		snprintf(name, NAME_MAX + 1, "%s", e->d_name);
		count++;
	}
	closedir(dir);
	return count;
}

static bool is_layers(int root_fd)
{
	return (has(root_fd, "manifest.json") || has(root_fd, "oci-layout")) &&
	       !looks_like_root(root_fd);
}

static int refuse_deeper(const char *name, int root_fd, struct error *err)
{
	auto_close int fd = openat(
		root_fd, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0 || looks_like_root(root_fd) || !looks_like_root(fd))
		return 0;
	error_set(err, ERROR_IMAGE, 0,
		  "the root file system lies one directory deeper, in '%s/'",
		  name);
	return error_hint(err,
			  "pack it by 'tar -C %.64s -c .', or unpack the "
			  "archive and use -r ./%.64s",
			  name, name);
}

static int unpack_look(int root_fd, struct error *err)
{
	char name[NAME_MAX + 1] = "";
	int count = count_names(root_fd, name);

	if (count < 0)
		return error_set(err, ERROR_IMAGE, -count,
				 "read the unpacked directory");
	if (count == 0)
		return error_set(err, ERROR_IMAGE, 0,
				 "not a rootfs archive: nothing came out of "
				 "it");
	return count == 1 ? refuse_deeper(name, root_fd, err) : 0;
}

static int unpack_plain(int archive_fd, int root_fd, bool owners,
			const struct unpack_bounds *bounds,
			volatile struct writer_counts *counts,
			struct error *err)
{
	auto_tar *tar = NULL;
	int r = tar_open(archive_fd, &tar, err);

	if (r < 0)
		return r;
	auto_writer *writer = writer_new(root_fd, owners, counts);

	r = unpack_entries(tar, writer, bounds, counts, NULL, err);
	if (r == 0 && counts->entries == 0) {
		error_set(err, ERROR_IMAGE, 0,
			  "not a rootfs archive: it has no entries");
		return error_hint(err, "make one by 'tar -C DIR -c .', "
				       "'docker export' or mmdebstrap");
	}
	return r < 0 ? r : writer_finish(writer, err);
}

int unpack(int archive_fd, int root_fd, bool owners,
	   const struct unpack_bounds *bounds,
	   volatile struct writer_counts *counts, struct error *err)
{
	int r = unpack_plain(archive_fd, root_fd, owners, bounds, counts, err);

	if (r == 0 && is_layers(root_fd))
		r = flatten(root_fd, owners, bounds, counts, err);
	return r < 0 ? r : unpack_look(root_fd, err);
}
