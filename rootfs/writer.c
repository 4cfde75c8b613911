/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parent directory of the entry before is kept open: archives list a
 * directory's files together, and looking it up anew would cost three system
 * calls an entry. It is forgotten when a directory or a link gives way, since
 * its name may then mean another place.
 */
#include "rootfs/writer.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/error.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"
#include "rootfs/archive.h"
#include "rootfs/tree.h"
#include "rootfs/writer_state.h"

enum {
	WRITER_ID_MAX = 65535,
	WRITER_SKIPPED_MAX = 4096, /* names of nodes, for links to them */
	WRITER_XATTR_MAX = 65536,  /* XATTR_SIZE_MAX of the kernel */
};

/* ---- names ---- */

int writer_clean(const char *name, char *ret, struct error *err)
{
	size_t len = 0;

	for (const char *p = name; *p;) {
		size_t n = strcspn(p, "/");

		if (n == 2 && p[0] == '.' && p[1] == '.')
			return error_set(err, ERROR_IMAGE, 0,
					 "the name '%s' has a '..'", name);
		if (n && !(n == 1 && p[0] == '.')) {
			if (len + n + 2 > PATH_MAX)
				return error_set(err, ERROR_IMAGE, ENAMETOOLONG,
						 "unpack '%.100s...'", name);
			if (len)
				ret[len++] = '/';
			memcpy(ret + len, p, n);
			len += n;
		}
		p += n + (p[n] == '/');
	}
	ret[len] = '\0';
	return 0;
}

void parent_forget(struct parent *parent)
{
	fd_close(&parent->fd);
	parent->known = false;
}

static void writer_forget(struct writer *w)
{
	parent_forget(&w->parent);
	parent_forget(&w->target);
}

int parent_open(int root_fd, struct parent *parent, const char *path, bool make,
		const char **ret_name)
{
	const char *slash = strrchr(path, '/');
	size_t len = slash ? (size_t)(slash - path) : 0;

	*ret_name = slash ? slash + 1 : path;
	if (parent->known && strncmp(parent->path, path, len) == 0 &&
	    !parent->path[len])
		return 0;
	parent_forget(parent);
	memcpy(parent->path, path, len);
	parent->path[len] = '\0';

	const char *dir = len ? parent->path : ".";
	int fd = path_open_in(root_fd, dir, O_PATH | O_DIRECTORY, 0);

	if (fd == -ENOENT && make)
		fd = path_mkdirs_in(root_fd, dir, 0755);
	if (fd < 0)
		return fd;
	parent->fd = fd;
	parent->known = true;
	return 0;
}

/* ---- what was there ---- */

static bool is_empty_dir(int dirfd, const char *name)
{
	return unlinkat(dirfd, name, AT_REMOVEDIR) == 0;
}

/*
 * Something has the entry's name. 1: it is gone, try again. 0: it stays, and is
 * the directory that the entry wants. Or -errno.
 */
static int writer_make_room(struct writer *w, const struct tar_entry *e,
			    struct place *at)
{
	struct stat st;

	if (fstatat(at->dirfd, at->name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return -errno;
	if (e->type == TAR_DIRECTORY && S_ISDIR(st.st_mode))
		return 0;
	if (e->type == TAR_DIRECTORY && S_ISLNK(st.st_mode)) {
		auto_close int fd = path_open_in(w->root_fd, at->path,
						 O_PATH | O_DIRECTORY, 0);

		at->through_link = fd >= 0;
		if (fd >= 0)
			return 0;
	}
	if (!S_ISDIR(st.st_mode)) {
		if (unlinkat(at->dirfd, at->name, 0) < 0)
			return -errno;
	} else if (!is_empty_dir(at->dirfd, at->name)) {
		int r = tree_remove(at->dirfd, at->name);

		if (r < 0)
			return r;
		w->counts->replaced += !w->upper;
	}
	if (S_ISDIR(st.st_mode) || S_ISLNK(st.st_mode)) {
		int r;

		/* at points into the parent that is forgotten. */
		writer_forget(w);
		r = parent_open(w->root_fd, &w->parent, at->path, true,
				&at->name);
		if (r < 0)
			return r;
		at->dirfd = w->parent.fd;
	}
	return 1;
}

static int remove_content(int dirfd)
{
	int fd = openat(dirfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *e;
	int r = 0;

	if (!dir) {
		fd_close(&fd);
		return -errno;
	}
	for (bool again = true; r == 0 && again; rewinddir(dir)) {
		again = false;
		while (r == 0 && (e = readdir(dir))) {
			if (strcmp(e->d_name, ".") == 0 ||
			    strcmp(e->d_name, "..") == 0)
				continue;
			/* The directory changes as it is read. */
			again = true;
			r = tree_remove(dirfd, e->d_name);
		}
	}
	closedir(dir);
	return r;
}

int writer_whiteout(struct writer *w, const char *path, const char *name,
		    struct error *err)
{
	char clean[PATH_MAX];
	int r = writer_clean(path, clean, err);

	if (r < 0)
		return r;
	auto_close int fd = path_open_in(w->root_fd, *clean ? clean : ".",
					 O_PATH | O_DIRECTORY, 0);

	/* Nothing below has it. */
	if (fd == -ENOENT || fd == -ENOTDIR)
		return 0;
	r = fd;
	if (r >= 0)
		r = name ? tree_remove(fd, name) : remove_content(fd);
	return r < 0 ? error_set(err, ERROR_IMAGE, -r,
				 "carry out a whiteout in '%s'", path)
		     : 0;
}

/* ---- attributes ---- */

static bool xattr_is_kept(const char *name)
{
	/* user.overlay.* would be read by the overlay mounted over the tree:
	 * opaque directories, redirects (overlayfs.rst, "userxattr"). */
	if (strncmp(name, "user.overlay.", 13) == 0)
		return false;
	return strncmp(name, "user.", 5) == 0 ||
	       strcmp(name, "security.capability") == 0;
}

static void writer_xattrs(struct writer *w, struct tar *tar, int fd)
{
	const char *name;
	const void *value;
	size_t size;

	while (tar_xattr(tar, &name, &value, &size)) {
		/* A file without them works; which filesystem holds which is
		 * not the archive's fault. */
		if (!xattr_is_kept(name) || size > WRITER_XATTR_MAX ||
		    fsetxattr(fd, name, value, size, 0) < 0)
			w->counts->xattrs++;
	}
}

static uint32_t writer_id(const struct writer *w, int64_t id)
{
	return w->owners && id >= 0 && id <= WRITER_ID_MAX ? (uint32_t)id : 0;
}

/* Everything made here belongs to the caller's 0:0 already. */
static int writer_own(struct writer *w, const struct tar_entry *e, int dirfd,
		      const char *name)
{
	uint32_t uid = writer_id(w, e->uid), gid = writer_id(w, e->gid);

	if (uid != e->uid || gid != e->gid)
		w->counts->owners++;
	if (!w->owners || (!uid && !gid && !w->kept && !w->upper))
		return 0;
	return fchownat(dirfd, name, uid, gid,
			AT_SYMLINK_NOFOLLOW | (*name ? 0 : AT_EMPTY_PATH)) < 0
		       ? -errno
		       : 0;
}

/* A NULL name: of the descriptor itself. */
static int writer_time(const struct tar_entry *e, int dirfd, const char *name)
{
	struct timespec times[2] = { { .tv_nsec = UTIME_OMIT }, e->mtime };

	if (!e->has_mtime)
		return 0;
	int r = name ? utimensat(dirfd, name, times, AT_SYMLINK_NOFOLLOW)
		     : futimens(dirfd, times);

	return r < 0 ? -errno : 0;
}

/* ---- one function for each type; -EEXIST: the name is taken ---- */

static int write_extent(int fd, const char *data, size_t len, int64_t offset)
{
	while (len) {
		ssize_t n = pwrite(fd, data, len, offset);

		if (n < 0 && errno != EINTR)
			return -errno;
		if (n <= 0)
			continue;
		data += n;
		len -= (size_t)n;
		offset += n;
	}
	return 0;
}

static int file_fill(struct writer *w, int fd, const struct tar_entry *e,
		     struct error *err)
{
	int64_t end = 0;

	for (;;) {
		const void *data;
		size_t len;
		int64_t offset;
		int r = tar_read(w->tar, &data, &len, &offset, err);

		if (r < 0)
			return r;
		if (r == 0)
			break;
		if (offset < 0 || len > (uint64_t)(INT64_MAX - offset))
			return -EFBIG;
		r = w->check(w->check_arg, len, err);
		if (r < 0)
			return r;
		r = write_extent(fd, data, len, offset);
		if (r < 0)
			return r;
		w->counts->bytes += len;
		if (len)
			end = offset + (int64_t)len;
	}
	/* A hole at the end. */
	if (e->size > end && ftruncate(fd, e->size) < 0)
		return -errno;
	return 0;
}

static int make_file(struct writer *w, const struct tar_entry *e,
		     struct place *at, struct error *err)
{
	auto_close int fd =
		openat(at->dirfd, at->name,
		       O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
		       e->mode & 01777);

	if (fd < 0)
		return -errno;
	int r = file_fill(w, fd, e, err);

	if (r < 0)
		return r;
	/* Writing and a change of owner take set-id bits and capabilities away,
	 * so they come last (chown(2), capabilities(7)). */
	r = writer_own(w, e, fd, "");
	if (r == 0 && e->mode & 06000 && fchmod(fd, e->mode) < 0)
		r = -errno;
	writer_xattrs(w, w->tar, fd);
	return r < 0 ? r : writer_time(e, fd, NULL);
}

static int make_directory(struct writer *w, const struct tar_entry *e,
			  struct place *at, struct error *err)
{
	const char *name;
	const void *value;
	size_t size;

	(void)err;
	/* With all rights until it is filled. */
	if (mkdirat(at->dirfd, at->name, (e->mode & 0777) | 0700) < 0)
		return -errno;
	if (tar_xattr(w->tar, &name, &value, &size)) {
		auto_close int fd =
			openat(at->dirfd, at->name,
			       O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

		if (fd >= 0) {
			tar_xattr_rewind(w->tar);
			writer_xattrs(w, w->tar, fd);
		}
	}
	return 0;
}

static int make_symlink(struct writer *w, const struct tar_entry *e,
			struct place *at, struct error *err)
{
	(void)err;
	if (symlinkat(e->link, at->dirfd, at->name) < 0)
		return -errno;
	int r = writer_own(w, e, at->dirfd, at->name);

	return r < 0 ? r : writer_time(e, at->dirfd, at->name);
}

static int make_fifo(struct writer *w, const struct tar_entry *e,
		     struct place *at, struct error *err)
{
	(void)err;
	if (mknodat(at->dirfd, at->name, S_IFIFO | (e->mode & 0777), 0) < 0)
		return -errno;
	int r = writer_own(w, e, at->dirfd, at->name);

	return r < 0 ? r : writer_time(e, at->dirfd, at->name);
}

static int make_node(struct writer *w, const struct tar_entry *e,
		     struct place *at, struct error *err)
{
	(void)e;
	(void)err;
	w->counts->nodes++;
	if (w->skipped.count < WRITER_SKIPPED_MAX)
		strv_add(&w->skipped, at->path);
	return 0;
}

static bool is_same_inode(const struct place *at, int dirfd, const char *name)
{
	struct stat a, b;

	return fstatat(at->dirfd, at->name, &a, AT_SYMLINK_NOFOLLOW) == 0 &&
	       fstatat(dirfd, name, &b, AT_SYMLINK_NOFOLLOW) == 0 &&
	       a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

static int make_hardlink(struct writer *w, const struct tar_entry *e,
			 struct place *at, struct error *err)
{
	char target[PATH_MAX];
	const char *name;
	int r = writer_clean(e->link, target, err);

	if (r < 0)
		return r;
	r = parent_open(w->root_fd, &w->target, target, false, &name);
	/* link(2) and linkat without AT_SYMLINK_FOLLOW take a symbolic link
	 * itself. */
	if (r == 0 && linkat(w->target.fd, name, at->dirfd, at->name, 0) < 0)
		r = -errno;
	if (r == -EEXIST && is_same_inode(at, w->target.fd, name))
		return 0;
	if (r != -ENOENT && r != -ENOTDIR)
		return r;
	/* What comes later may be its target; what is there is outdated. */
	if (strcmp(target, at->path) != 0) {
		struct stat st;

		r = fstatat(at->dirfd, at->name, &st, AT_SYMLINK_NOFOLLOW);
		if (r == 0)
			return -EEXIST;
	}
	return links_add(w, at->path, target);
}

static int (*const make[])(struct writer *w, const struct tar_entry *e,
			   struct place *at, struct error *err) = {
	[TAR_FILE] = make_file,       [TAR_DIRECTORY] = make_directory,
	[TAR_SYMLINK] = make_symlink, [TAR_HARDLINK] = make_hardlink,
	[TAR_FIFO] = make_fifo,       [TAR_NODE] = make_node,
};

static int writer_make(struct writer *w, const struct tar_entry *e,
		       struct place *at, struct error *err)
{
	int r = make[e->type](w, e, at, err);

	if (r == -EEXIST) {
		r = writer_make_room(w, e, at);
		if (r == 1)
			r = make[e->type](w, e, at, err);
		else
			w->kept = r == 0;
	}
	if (r == 0 && e->type == TAR_DIRECTORY && !at->through_link) {
		r = writer_own(w, e, at->dirfd, at->name);
		if (r == 0)
			r = dirs_add(w, at->path, e);
	}
	return r;
}

/* An errno of a function that did not fill *err itself. */
static int writer_fail(const struct tar_entry *e, int code, struct error *err)
{
	if (err->kind != ERROR_NONE)
		return code;
	if (code == -ENOSPC || code == -EDQUOT) {
		error_set(err, ERROR_STATE, -code, "unpack '%s'", e->path);
		return error_hint(err, "make room, by 'llmbox image prune' "
				       "perhaps, or set XDG_DATA_HOME");
	}
	if (code == -ENOMEM)
		return error_set(err, ERROR_IMAGE, 0,
				 "the archive has too many directories and "
				 "links to later entries");
	if (e->type == TAR_HARDLINK)
		return error_set(err, ERROR_IMAGE, -code, "link '%s' to '%s'",
				 e->path, e->link);
	return error_set(err, ERROR_IMAGE, -code, "unpack '%s'", e->path);
}

int writer_add(struct writer *w, struct tar *tar, const struct tar_entry *e,
	       writer_check check, void *arg, struct error *err)
{
	char path[PATH_MAX] = "";
	struct place at = { .path = path };
	int r = writer_clean(e->path, path, err);

	if (r < 0)
		return r;
	err->kind = ERROR_NONE;
	w->tar = tar;
	w->check = check;
	w->check_arg = arg;
	w->kept = false;
	w->counts->entries++;
	if (!*path) {
		if (e->type != TAR_DIRECTORY)
			return error_set(err, ERROR_IMAGE, 0,
					 "entry '%s' would replace the root "
					 "directory",
					 e->path);
		w->kept = true;
		r = writer_own(w, e, w->root_fd, ".");
		return r < 0 ? writer_fail(e, r, err) : dirs_add(w, ".", e);
	}
	r = parent_open(w->root_fd, &w->parent, path, true, &at.name);
	if (r < 0)
		return error_set(err, ERROR_IMAGE, -r,
				 "unpack '%s': its directory is a file, or a "
				 "link that leads nowhere",
				 e->path);
	at.dirfd = w->parent.fd;
	r = writer_make(w, e, &at, err);
	return r < 0 ? writer_fail(e, r, err) : 0;
}
