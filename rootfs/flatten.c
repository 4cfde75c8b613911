/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Layers are unpacked lowest first into a new directory beside the image's own
 * files, which then go, and its content moves up.
 *
 * Whiteouts (image-spec, layer.md) hide what is below their layer, not what
 * comes in it, and may come behind it. So a layer is read twice: first its
 * whiteouts are carried out, then its entries. The lowest hides nothing and is
 * read once.
 */
#include "rootfs/flatten.h"

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
#include "rootfs/manifest.h"
#include "rootfs/tree.h"
#include "rootfs/unpack.h"
#include "rootfs/writer.h"

#define FLATTEN_NAME ".llmbox-root"

struct flattening {
	int new_root;
	bool owners;
	const struct unpack_bounds *bounds;
	volatile struct writer_counts *counts;
};

/* ---- one layer ---- */

/* The last component begins at the result and is *ret_len long. */
static const char *base_of(const char *path, size_t *ret_len)
{
	const char *end = path + strlen(path);

	while (end > path && end[-1] == '/')
		end--;
	const char *base = end;

	while (base > path && base[-1] != '/')
		base--;
	*ret_len = (size_t)(end - base);
	return base;
}

static bool is_whiteout(const char *path)
{
	size_t len;
	const char *base = base_of(path, &len);

	return len >= 4 && strncmp(base, ".wh.", 4) == 0;
}

static int whiteout(struct writer *w, const char *path, struct error *err)
{
	size_t len;
	const char *base = base_of(path, &len);
	auto_free char *name = mem_strndup(base + 4, len - 4);
	auto_free char *dir = mem_strndup(path, (size_t)(base - path));

	if (strcmp(name, ".wh..opq") == 0)
		return writer_whiteout(w, dir, NULL, err);
	/* Others of aufs's own: .wh..wh.aufs, .wh..wh.plnk. */
	if (strncmp(name, ".wh.", 4) == 0)
		return 0;
	if (!*name || strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
		return error_set(err, ERROR_IMAGE, 0,
				 "the whiteout '%s' names nothing", path);
	return writer_whiteout(w, dir, name, err);
}

static int layer_whiteouts(const struct flattening *f, int fd,
			   struct error *err)
{
	auto_tar *tar = NULL;
	struct tar_entry entry;
	uint64_t count = 0;
	int r = tar_open(fd, &tar, err);

	if (r < 0)
		return r;
	auto_writer *w = writer_new(f->new_root, f->owners, f->counts);

	while ((r = tar_next(tar, &entry, err)) > 0) {
		if (++count > f->bounds->entries)
			return error_set(err, ERROR_IMAGE, 0,
					 "the layer has too many entries");
		if (is_whiteout(entry.path))
			r = whiteout(w, entry.path, err);
		if (r < 0)
			return r;
	}
	return r;
}

static int layer_entries(const struct flattening *f, int fd, bool upper,
			 struct error *err)
{
	auto_tar *tar = NULL;
	int r = tar_open(fd, &tar, err);

	if (r < 0)
		return r;
	auto_writer *w = writer_new(f->new_root, f->owners, f->counts);

	if (upper)
		writer_is_upper(w);
	r = unpack_entries(tar, w, f->bounds, f->counts, is_whiteout, err);
	return r < 0 ? r : writer_finish(w, err);
}

/* diff_ids are of the archive before compression. */
static bool is_compressed(int fd)
{
	char magic[6] = "";

	return pread(fd, magic, sizeof(magic), 257) < 5 ||
	       memcmp(magic, "ustar", 5) != 0;
}

static int layer_apply(const struct flattening *f, int root_fd,
		       const struct manifest_layer *layer, bool upper,
		       struct error *err)
{
	auto_close int fd = manifest_open(root_fd, layer->path, err);

	if (fd < 0)
		return fd;
	const char *digest = layer->digest;
	int r = 0;

	if (!digest && !is_compressed(fd))
		digest = layer->diff;
	if (digest)
		r = manifest_verify(fd, layer->path, digest, err);
	if (r < 0)
		return r;
	if (upper)
		r = layer_whiteouts(f, fd, err);
	if (r == 0 && lseek(fd, 0, SEEK_SET) < 0)
		r = error_set(err, ERROR_IMAGE, errno, "rewind");
	if (r == 0)
		r = layer_entries(f, fd, upper, err);
	return r < 0 ? error_prefix(err, "layer '%.100s'", layer->path) : 0;
}

/* ---- the image's files give way ---- */

typedef int (*each_name)(int from, int to, const char *name);

/* Again until nothing is left but what is to be kept, since the directory
 * changes as it is read. */
static int for_each(int dirfd, int to, const char *keep, each_name act)
{
	int fd = openat(dirfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *e;
	bool again = true;
	int r = 0;

	if (!dir) {
		fd_close(&fd);
		return -errno;
	}
	while (r == 0 && again) {
		again = false;
		rewinddir(dir);
		while (r == 0 && (e = readdir(dir))) {
			if (strcmp(e->d_name, ".") == 0 ||
			    strcmp(e->d_name, "..") == 0 ||
			    strcmp(e->d_name, keep) == 0)
				continue;
			again = true;
			r = act(dirfd, to, e->d_name);
		}
	}
	closedir(dir);
	return r;
}

static int remove_name(int from, int to, const char *name)
{
	(void)to;
	return tree_remove(from, name);
}

static int move_name(int from, int to, const char *name)
{
	return renameat2(from, name, to, name, RENAME_NOREPLACE) < 0 ? -errno
								     : 0;
}

static int move_up(int root_fd, int new_root, bool owners)
{
	struct stat st;
	int r = for_each(root_fd, -1, FLATTEN_NAME, remove_name);

	if (r == 0)
		r = for_each(new_root, root_fd, FLATTEN_NAME, move_name);
	if (r < 0)
		return r;
	if (fstat(new_root, &st) < 0 ||
	    unlinkat(root_fd, FLATTEN_NAME, AT_REMOVEDIR) < 0)
		return -errno;
	/* The root's own mode, owner and time, as the layers had them. */
	struct timespec times[2] = { st.st_atim, st.st_mtim };
	auto_close int fd =
		openat(root_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0 ||
	    (owners &&
	     fchownat(fd, "", st.st_uid, st.st_gid, AT_EMPTY_PATH) < 0) ||
	    fchmod(fd, st.st_mode & 07777) < 0 || futimens(fd, times) < 0)
		return -errno;
	return 0;
}

int flatten(int root_fd, bool owners, const struct unpack_bounds *bounds,
	    volatile struct writer_counts *counts, struct error *err)
{
	auto_manifest m = { 0 };
	int r = manifest_read(root_fd, &m, err);

	if (r < 0)
		return r;
	if (mkdirat(root_fd, FLATTEN_NAME, 0755) < 0)
		return error_set(err, ERROR_IMAGE, errno,
				 "make a directory for the image's layers");
	auto_close int new_root =
		openat(root_fd, FLATTEN_NAME,
		       O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (new_root < 0)
		return error_set(err, ERROR_IMAGE, errno,
				 "open the directory for the image's layers");
	/* From here on they tell of the tree that comes out. */
	*(struct writer_counts *)(uintptr_t)counts =
		(struct writer_counts){ 0 };
	struct flattening f = {
		.new_root = new_root,
		.owners = owners,
		.bounds = bounds,
		.counts = counts,
	};

	for (size_t i = 0; r == 0 && i < m.count; i++)
		r = layer_apply(&f, root_fd, &m.layers[i], i > 0, err);
	if (r < 0)
		return r;
	r = move_up(root_fd, new_root, owners);
	return r < 0 ? error_set(err, ERROR_IMAGE, -r,
				 "move the image's tree into place")
		     : 0;
}
