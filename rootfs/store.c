/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trusted: what lies in the store's own directory, which is refused unless it
 * is the caller's alone (dirs_open_private). Not trusted: what lies below a
 * "tree".
 *
 * A crash of the machine within the half minute in which the kernel writes back
 * may leave files of a published tree empty. Waiting for the disk would double
 * the time of a first start, so a tree carries the sticky bit on its directory
 * until it is old enough; one that still has it after a boot is made anew.
 */
#include "rootfs/store.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

#include "base/dirs.h"
#include "base/error.h"
#include "base/fd.h"
#include "base/mem.h"
#include "rootfs/tree.h"

enum {
	STORE_SETTLED = 300, /* seconds; vm.dirty_expire_centisecs is 30 s */
	STORE_SWEEP_MAX = 64,
};

int store_open(struct store *ret, struct error *err)
{
	auto_free char *path = store_path();

	if (!path)
		return error_set(err, ERROR_STATE, 0,
				 "no place for images: neither HOME nor "
				 "XDG_DATA_HOME is set");
	int fd = dirs_open_private(path, err);

	if (fd < 0)
		return fd;
	ret->fd = fd;
	ret->path = mem_take(path);
	return 0;
}

void store_release(struct store *s)
{
	fd_close(&s->fd);
	free(s->path);
	s->path = NULL;
}

static int subdir_open(const struct store *s, const char *name)
{
	int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
	int fd = openat(s->fd, name, flags);

	if (fd < 0 && errno == ENOENT) {
		if (mkdirat(s->fd, name, 0700) < 0 && errno != EEXIST)
			return -errno;
		fd = openat(s->fd, name, flags);
	}
	return fd < 0 ? -errno : fd;
}

int store_subdir(const struct store *s, const char *name, struct error *err)
{
	int fd = subdir_open(s, name);

	return fd < 0 ? error_set(err, ERROR_STATE, -fd, "open %s/%s", s->path,
				  name)
		      : fd;
}

bool store_id_is_valid(const char *id)
{
	return strlen(id) == STORE_ID_MAX - 1 &&
	       strspn(id, "0123456789abcdef") == STORE_ID_MAX - 1;
}

void store_key(const char *id, const struct id_layout *ids,
	       char ret[STORE_KEY_MAX])
{
	if (ids->layout == LAYOUT_SHIFTED)
		snprintf(ret, STORE_KEY_MAX, "%.64s.s%u", id, ids->shift);
	else if (ids->layout == LAYOUT_RANGE)
		snprintf(ret, STORE_KEY_MAX, "%.64s.r%u-%u-%u-%u", id,
			 ids->starts.uid, ids->starts.gid, ids->uid, ids->gid);
	else
		snprintf(ret, STORE_KEY_MAX, "%.64s.%s", id,
			 ids->layout == LAYOUT_ONE ? "one" : "plain");
}

bool store_key_layout(const char *key, struct id_layout *ret)
{
	const char *name = strchr(key, '.');
	struct id_layout l = { .layout = LAYOUT_ONE };

	if (!name)
		return false;
	if (strcmp(name, ".plain") == 0)
		l.layout = LAYOUT_PLAIN;
	else if (sscanf(name, ".s%u", &l.shift) == 1)
		l.layout = LAYOUT_SHIFTED;
	else if (sscanf(name, ".r%u-%u-%u-%u", &l.starts.uid, &l.starts.gid,
			&l.uid, &l.gid) == 4)
		l.layout = LAYOUT_RANGE;
	else if (strcmp(name, ".one") != 0)
		return false;
	*ret = l;
	return true;
}

/* ---- holding ---- */

/* Was this unsettled tree published before the machine was last started? */
static bool is_from_before_boot(const struct stat *st)
{
	struct timespec now, up;

	clock_gettime(CLOCK_REALTIME, &now);
	clock_gettime(CLOCK_BOOTTIME, &up);
	return st->st_ctim.tv_sec < now.tv_sec - up.tv_sec;
}

static bool is_settled(const struct stat *st)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return now.tv_sec - st->st_ctim.tv_sec > STORE_SETTLED;
}

int store_hold(const struct store *s, const char *key, int *ret_lock)
{
	char path[STORE_KEY_MAX + 8];
	struct stat held, named;

	snprintf(path, sizeof(path), "images/%s", key);
	auto_close int fd = openat(
		s->fd, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0 || flock(fd, LOCK_SH) < 0)
		return -errno;
	/* It may have been taken away before the lock was ours. */
	if (fstat(fd, &held) < 0 ||
	    fstatat(s->fd, path, &named, AT_SYMLINK_NOFOLLOW) < 0)
		return -errno;
	if (held.st_ino != named.st_ino || held.st_dev != named.st_dev)
		return -ENOENT;
	if (held.st_mode & S_ISVTX) {
		if (is_from_before_boot(&held)) {
			fd_close(&fd);
			store_tree_remove(s, key);
			return -ENOENT;
		}
		if (is_settled(&held))
			(void)!fchmod(fd, 0700);
	}
	*ret_lock = fd_take(fd);
	return 0;
}

/* ---- making ---- */

static int random_name(char *ret, size_t size)
{
	uint64_t r[2];

	if (getrandom(r, sizeof(r), 0) != (ssize_t)sizeof(r))
		return -EIO;
	snprintf(ret, size, "%016llx%016llx", (unsigned long long)r[0],
		 (unsigned long long)r[1]);
	return 0;
}

/* tmp/, locked: nobody sweeps while a directory is made but not yet locked. */
static int tmp_lock(const struct store *s)
{
	auto_close int tmp = subdir_open(s, "tmp");

	if (tmp < 0)
		return tmp;
	return flock(tmp, LOCK_EX) < 0 ? -errno : fd_take(tmp);
}

static int tree_make(const struct store *s, struct store_tree *t)
{
	auto_close int tmp = tmp_lock(s);

	if (tmp < 0)
		return tmp;
	int r = random_name(t->name, sizeof(t->name));

	if (r < 0)
		return r;
	if (mkdirat(tmp, t->name, 0700) < 0)
		return -errno;
	t->lock = openat(tmp, t->name,
			 O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (t->lock < 0 || flock(t->lock, LOCK_EX | LOCK_NB) < 0 ||
	    mkdirat(t->lock, "tree", 0700) < 0)
		return -errno;
	return 0;
}

int store_tree_make(const struct store *s, struct store_tree *ret,
		    struct error *err)
{
	int r = tree_make(s, ret);

	if (r < 0) {
		store_tree_discard(s, ret);
		return error_set(err, ERROR_STATE, -r,
				 "make a directory in %s/tmp", s->path);
	}
	ret->path = mem_printf("%s/tmp/%s/tree", s->path, ret->name);
	/* A default ACL of the store's parent would give modes and entries of
	 * its own to everything that is unpacked (acl(5)). */
	(void)!removexattr(ret->path, "system.posix_acl_default");
	if (chmod(ret->path, 0755) < 0)
		return error_set(err, ERROR_STATE, errno, "set the mode of %s",
				 ret->path);
	return 0;
}

int store_tree_publish(const struct store *s, struct store_tree *t,
		       const char *key, bool durable, struct error *err)
{
	auto_close int images = store_subdir(s, "images", err);
	char from[sizeof(t->name) + 8];

	if (images < 0)
		return images;
	if (durable ? syncfs(t->lock) < 0 : fchmod(t->lock, 01700) < 0)
		return error_set(err, ERROR_STATE, errno,
				 durable ? "write %s to the disk"
					 : "set the mode of %s",
				 t->path);
	snprintf(from, sizeof(from), "tmp/%s", t->name);
	if (renameat2(s->fd, from, images, key, RENAME_NOREPLACE) == 0) {
		t->name[0] = '\0';
		return 0;
	}
	if (errno != EEXIST)
		return error_set(err, ERROR_STATE, errno,
				 "rename %s/%s into place", s->path, from);
	store_tree_discard(s, t);
	return 0;
}

void store_tree_discard(const struct store *s, struct store_tree *t)
{
	auto_close int tmp = t->name[0] ? subdir_open(s, "tmp") : -1;

	if (tmp >= 0)
		tree_remove_owned(tmp, t->name, NULL);
	t->name[0] = '\0';
	fd_close(&t->lock);
	free(t->path);
	t->path = NULL;
}

/* ---- removing ---- */

int store_tree_remove(const struct store *s, const char *key)
{
	char path[STORE_KEY_MAX + 8], to[48] = "tmp/";
	struct id_layout ids = { 0 };

	snprintf(path, sizeof(path), "images/%s", key);
	auto_close int fd = openat(
		s->fd, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	auto_close int tmp = subdir_open(s, "tmp");

	if (fd < 0)
		return -errno;
	if (tmp < 0)
		return tmp;
	if (flock(fd, LOCK_EX | LOCK_NB) < 0)
		return errno == EWOULDBLOCK ? -EBUSY : -errno;
	/* At once from the view of others; ours through the lock until gone. */
	if (random_name(to + 4, sizeof(to) - 4) < 0 ||
	    renameat2(s->fd, path, s->fd, to, RENAME_NOREPLACE) < 0)
		return -errno;
	return tree_remove_owned(tmp, to + 4,
				 store_key_layout(key, &ids) &&
						 ids.layout == LAYOUT_RANGE
					 ? &ids.starts
					 : NULL);
}

/* Those that nobody holds, up to STORE_SWEEP_MAX; they are ours then. */
static unsigned sweep_collect(int tmp, char names[][40], int fds[])
{
	int copy = fcntl(tmp, F_DUPFD_CLOEXEC, 3);
	DIR *dir = copy < 0 ? NULL : fdopendir(copy);
	const struct dirent *e;
	unsigned count = 0;

	if (!dir) {
		fd_close(&copy);
		return 0;
	}
	while (count < STORE_SWEEP_MAX && (e = readdir(dir))) {
		if (e->d_name[0] == '.' || strlen(e->d_name) >= 40)
			continue;
		auto_close int fd =
			openat(tmp, e->d_name,
			       O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

		if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) < 0)
			continue;
		memcpy(names[count], e->d_name, strlen(e->d_name) + 1);
		fds[count++] = fd_take(fd);
	}
	closedir(dir);
	return count;
}

unsigned store_sweep(const struct store *s, unsigned *ret_left)
{
	char names[STORE_SWEEP_MAX][40];
	int fds[STORE_SWEEP_MAX];
	auto_close int locked = tmp_lock(s);
	unsigned swept = 0, left = 0;

	if (ret_left)
		*ret_left = 0;
	if (locked < 0)
		return 0;
	unsigned count = sweep_collect(locked, names, fds);

	flock(locked, LOCK_UN);
	for (unsigned i = 0; i < count; i++) {
		int r = tree_remove_owned(locked, names[i], NULL);

		swept += r == 0;
		left += r == -EACCES || r == -EPERM;
		fd_close(&fds[i]);
	}
	if (ret_left)
		*ret_left = left;
	return swept;
}
