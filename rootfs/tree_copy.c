/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Directory by directory, each opened from the top by its path, so that depth
 * takes neither stack nor descriptors. Directories get their modes and times at
 * the end, the deepest first, since they are filled until then.
 *
 * The tree is a stranger's: no link is followed, and nothing but directories,
 * regular files, links and FIFOs is copied.
 */
#include "rootfs/tree_copy.h"

#include <dirent.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"

enum { COPY_CHUNK = 64 << 10, COPY_XATTRS = 64 << 10 };

/* A file with several names, by the first of them. */
struct link {
	dev_t dev;
	ino_t ino;
	char *path;
};

struct copy {
	int from, to;
	const struct tree_copy_ids *ids;
	volatile struct writer_counts *counts;
	struct strv dirs; /* paths, parents before children */
	struct link *links;
	size_t link_count;
	char chunk[COPY_CHUNK];
	char xattrs[COPY_XATTRS], value[COPY_XATTRS];
};

/* ---- owners ---- */

/* In the namespace the caller is 0 and the subordinate ids come behind, of
 * which the one with its number in the box is not used. */
static uint32_t id_in_box(uint32_t id, uint32_t own)
{
	return id ? id - 1 : own;
}

static uint32_t id_on_disk(uint32_t id, uint32_t own)
{
	return id == own ? 0 : id + 1;
}

static int copy_owner(const struct copy *c, int dirfd, const char *name,
		      const struct stat *st)
{
	const struct tree_copy_ids *i = c->ids;

	if (!i->owners)
		return 0;
	uid_t uid = id_on_disk(id_in_box(st->st_uid, i->from_uid), i->to_uid);
	gid_t gid = id_on_disk(id_in_box(st->st_gid, i->from_gid), i->to_gid);

	return fchownat(dirfd, name, uid, gid,
			AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH) < 0
		       ? -errno
		       : 0;
}

/* ---- attributes ---- */

/* capabilities(7), "Namespaced file capabilities": they count where the box's
 * root is the one that they name. */
static size_t capability_for(const struct copy *c, char *value, size_t len)
{
	struct vfs_ns_cap_data cap = { 0 };

	if (len != XATTR_CAPS_SZ_2 && len != XATTR_CAPS_SZ_3)
		return 0;
	memcpy(&cap, value, len);
	cap.magic_etc = htole32(VFS_CAP_REVISION_3 | (le32toh(cap.magic_etc) &
						      VFS_CAP_FLAGS_EFFECTIVE));
	cap.rootid =
		htole32(c->ids->owners ? id_on_disk(0, c->ids->to_uid) : 0);
	memcpy(value, &cap, sizeof(cap));
	return sizeof(cap);
}

static int copy_xattr(struct copy *c, int from, int to, const char *name)
{
	bool capability = strcmp(name, "security.capability") == 0;
	size_t len;

	if (!capability && strncmp(name, "user.", 5) != 0)
		return 0;
	ssize_t n = fgetxattr(from, name, c->value, sizeof(c->value));

	if (n < 0)
		return -errno;
	len = (size_t)n;
	if (capability)
		len = capability_for(c, c->value, len);
	if (capability && !len)
		return 0;
	return fsetxattr(to, name, c->value, len, 0) < 0 ? -errno : 0;
}

static int copy_xattrs(struct copy *c, int from, int to)
{
	ssize_t n = flistxattr(from, c->xattrs, sizeof(c->xattrs));
	int r = 0;

	if (n < 0)
		return errno == EOPNOTSUPP ? 0 : -errno;
	for (ssize_t at = 0; r == 0 && at < n;
	     at += (ssize_t)strlen(c->xattrs + at) + 1)
		r = copy_xattr(c, from, to, c->xattrs + at);
	return r;
}

/* Owner, then what a change of owner takes away, then times. */
static int copy_attributes(struct copy *c, int from, int to,
			   const struct stat *st)
{
	struct timespec times[2] = { { .tv_nsec = UTIME_OMIT }, st->st_mtim };
	int r = copy_owner(c, to, "", st);

	if (r == 0)
		r = copy_xattrs(c, from, to);
	if (r == 0 &&
	    (fchmod(to, st->st_mode & 07777) < 0 || futimens(to, times) < 0))
		r = -errno;
	return r;
}

/* ---- files ---- */

static int copy_extent(struct copy *c, int from, int to, off_t at, off_t end)
{
	while (at < end) {
		size_t want = sizeof(c->chunk);

		if ((off_t)want > end - at)
			want = (size_t)(end - at);
		ssize_t n = pread(from, c->chunk, want, at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		ssize_t written = pwrite(to, c->chunk, (size_t)n, at);

		if (written != n)
			return written < 0 ? -errno : -ENOSPC;
		at += n;
		c->counts->bytes += (uint64_t)n;
	}
	return 0;
}

/* Holes stay holes. */
static int copy_content(struct copy *c, int from, int to, off_t size)
{
	off_t at = 0;
	int r = 0;

	while (r == 0 && at < size) {
		off_t data = lseek(from, at, SEEK_DATA);

		if (data < 0)
			break;
		at = lseek(from, data, SEEK_HOLE);
		if (at < 0)
			return -errno;
		r = copy_extent(c, from, to, data, at);
	}
	return r == 0 && ftruncate(to, size) < 0 ? -errno : r;
}

static int copy_file(struct copy *c, int from_dir, int to_dir, const char *name,
		     const struct stat *st)
{
	auto_close int from =
		openat(from_dir, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	auto_close int to = openat(
		to_dir, name,
		O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (from < 0 || to < 0)
		return -errno;
	int r = copy_content(c, from, to, st->st_size);

	return r < 0 ? r : copy_attributes(c, from, to, st);
}

static int copy_symlink(struct copy *c, int from_dir, int to_dir,
			const char *name, const struct stat *st)
{
	struct timespec times[2] = { { .tv_nsec = UTIME_OMIT }, st->st_mtim };
	char target[PATH_MAX];
	ssize_t n = readlinkat(from_dir, name, target, sizeof(target) - 1);

	if (n < 0)
		return -errno;
	target[n] = '\0';
	if (symlinkat(target, to_dir, name) < 0)
		return -errno;
	int r = copy_owner(c, to_dir, name, st);

	if (r == 0 && utimensat(to_dir, name, times, AT_SYMLINK_NOFOLLOW) < 0)
		r = -errno;
	return r;
}

static int copy_fifo(struct copy *c, int to_dir, const char *name,
		     const struct stat *st)
{
	struct timespec times[2] = { { .tv_nsec = UTIME_OMIT }, st->st_mtim };

	if (mknodat(to_dir, name, S_IFIFO | 0600, 0) < 0)
		return -errno;
	int r = copy_owner(c, to_dir, name, st);

	if (r == 0 && (fchmodat(to_dir, name, st->st_mode & 07777, 0) < 0 ||
		       utimensat(to_dir, name, times, AT_SYMLINK_NOFOLLOW) < 0))
		r = -errno;
	return r;
}

/* 1: a name of a file that is there already, now here too. */
static int copy_link(struct copy *c, int to_dir, const char *name,
		     const char *path, const struct stat *st)
{
	if (S_ISDIR(st->st_mode) || st->st_nlink < 2)
		return 0;
	for (size_t i = 0; i < c->link_count; i++) {
		const struct link *l = &c->links[i];

		if (l->ino == st->st_ino && l->dev == st->st_dev)
			return linkat(c->to, l->path, to_dir, name, 0) < 0
				       ? -errno
				       : 1;
	}
	c->links = mem_resize(c->links, c->link_count + 1, sizeof(*c->links));
	c->links[c->link_count++] = (struct link){
		.dev = st->st_dev,
		.ino = st->st_ino,
		.path = mem_strdup(path),
	};
	return 0;
}

/* ---- directories ---- */

static int copy_entry(struct copy *c, int from_dir, int to_dir,
		      const char *dir_path, const char *name)
{
	auto_free char *path =
		mem_printf("%s%s%s", dir_path, *dir_path ? "/" : "", name);
	struct stat st;

	if (fstatat(from_dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return -errno;
	int r = copy_link(c, to_dir, name, path, &st);

	c->counts->entries++;
	if (r != 0)
		return r < 0 ? r : 0;
	switch (st.st_mode & S_IFMT) {
	case S_IFREG:
		return copy_file(c, from_dir, to_dir, name, &st);
	case S_IFLNK:
		return copy_symlink(c, from_dir, to_dir, name, &st);
	case S_IFIFO:
		return copy_fifo(c, to_dir, name, &st);
	case S_IFDIR:
		strv_add(&c->dirs, path);
		return mkdirat(to_dir, name, 0700) < 0 ? -errno : 0;
	default:
		return 0;
	}
}

static int dir_open(int root, const char *path)
{
	if (!*path)
		path = ".";
	return path_open_nolink(root, path, O_RDONLY | O_DIRECTORY, 0);
}

static int copy_dir(struct copy *c, const char *path)
{
	auto_close int to = dir_open(c->to, path);
	int from = dir_open(c->from, path), r = 0;
	DIR *dir = from < 0 ? NULL : fdopendir(from);
	const struct dirent *e;

	if (!dir) {
		r = from < 0 ? from : -errno;
		fd_close(&from);
		return r;
	}
	if (to < 0)
		r = to;
	while (r == 0 && (e = readdir(dir)))
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			r = copy_entry(c, from, to, path, e->d_name);
	closedir(dir);
	return r;
}

static int finish_dir(struct copy *c, const char *path)
{
	auto_close int from = dir_open(c->from, path);
	auto_close int to = dir_open(c->to, path);
	struct stat st;

	if (from < 0 || to < 0)
		return from < 0 ? from : to;
	if (fstat(from, &st) < 0)
		return -errno;
	return copy_attributes(c, from, to, &st);
}

static void copy_free(struct copy *c)
{
	for (size_t i = 0; i < c->link_count; i++)
		free(c->links[i].path);
	free(c->links);
	strv_release(&c->dirs);
	free(c);
}

int tree_copy(int from, int to, const struct tree_copy_ids *ids,
	      volatile struct writer_counts *counts, struct error *err)
{
	struct copy *c = mem_alloc(sizeof(*c));
	int r = 0;

	c->from = from;
	c->to = to;
	c->ids = ids;
	c->counts = counts;
	strv_add(&c->dirs, "");
	/* Grows meanwhile; items may move, the strings don't. */
	for (size_t i = 0; r == 0 && i < c->dirs.count; i++) {
		const char *path = c->dirs.items[i];

		r = copy_dir(c, path);
		if (r < 0)
			error_set(err, ERROR_STATE, -r, "copy directory '%s'",
				  path);
	}
	for (size_t i = c->dirs.count; r == 0 && i > 0; i--) {
		const char *path = c->dirs.items[i - 1];

		r = finish_dir(c, path);
		if (r < 0)
			error_set(err, ERROR_STATE, -r,
				  "set attributes of directory '%s'", path);
	}
	copy_free(c);
	return r;
}
