/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names and identities: symbolic links whose target is an image's id, since
 * they are made, replaced and read in one system call each.
 *
 * An identity is device, inode, size, mtime and ctime. The ctime can't be set
 * by anybody, but has the grain of the kernel's clock: a file may be changed
 * twice within a tick and look the same. So an identity counts only when its
 * ctime was two seconds old before the first byte was read.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/fd.h"
#include "base/mem.h"
#include "rootfs/store.h"

enum { NAME_LEN_MAX = 128 };

/* ---- links ---- */

static int link_get(const struct store *s, const char *dir, const char *name,
		    char ret_id[STORE_ID_MAX])
{
	char path[NAME_MAX + 16], id[STORE_ID_MAX + 1];

	if (snprintf(path, sizeof(path), "%s/%s", dir, name) >=
	    (int)sizeof(path))
		return -ENAMETOOLONG;
	ssize_t n = readlinkat(s->fd, path, id, sizeof(id));

	if (n < 0)
		return -errno;
	id[n < (ssize_t)sizeof(id) ? n : 0] = '\0';
	if (!store_id_is_valid(id))
		return -ENOENT;
	memcpy(ret_id, id, STORE_ID_MAX);
	return 0;
}

/* What was there goes in the same moment. */
static int link_put(int dirfd, const char *name, const char *id)
{
	char temporary[32];
	uint64_t r;

	if (symlinkat(id, dirfd, name) == 0)
		return 0;
	if (errno != EEXIST ||
	    getrandom(&r, sizeof(r), 0) != (ssize_t)sizeof(r))
		return -errno;
	snprintf(temporary, sizeof(temporary), ".new-%016llx",
		 (unsigned long long)r);
	if (symlinkat(id, dirfd, temporary) < 0)
		return -errno;
	if (renameat(dirfd, temporary, dirfd, name) == 0)
		return 0;
	int saved = errno;

	unlinkat(dirfd, temporary, 0);
	return -saved;
}

/* ---- names ---- */

int store_name_check(const char *name, struct error *err)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz"
				      "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
	size_t len = strlen(name);

	if (!len || len > NAME_LEN_MAX || !strchr(letters, name[0]) ||
	    len != strspn(name, "abcdefghijklmnopqrstuvwxyz"
				"ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.:")) {
		error_set(err, ERROR_USAGE, 0,
			  "'%.140s' can't be the name of an image", name);
		return error_hint(err, "1 to 128 of letters, digits, '-', "
				       "'_', '.' and ':', a letter or digit "
				       "first");
	}
	if (strcmp(name, "host") == 0 || strncmp(name, "box:", 4) == 0)
		return error_set(err, ERROR_USAGE, 0,
				 "'%s' as a root file system has a meaning of "
				 "its own",
				 name);
	return 0;
}

int store_name_get(const struct store *s, const char *name,
		   char ret_id[STORE_ID_MAX])
{
	return link_get(s, "names", name, ret_id);
}

int store_name_set(const struct store *s, const char *name, const char *id,
		   struct error *err)
{
	auto_close int dir = store_subdir(s, "names", err);

	if (dir < 0)
		return dir;
	int r = link_put(dir, name, id);

	return r < 0 ? error_set(err, ERROR_STATE, -r, "name an image '%s'",
				 name)
		     : 0;
}

/* ---- identities ---- */

static void layout_suffix(const struct id_layout *ids, char *ret, size_t size)
{
	char key[STORE_KEY_MAX];

	store_key("", ids, key);
	snprintf(ret, size, "%s", key);
}

/* The part that an archive keeps when it is written anew in place. */
static int identity_prefix(const struct stat *st, char *ret, size_t size)
{
	return snprintf(ret, size, "%llx-%llx-", (unsigned long long)st->st_dev,
			(unsigned long long)st->st_ino);
}

/* Without a layout; ends in the '.' before it. */
static int identity_stem(const struct stat *st, char *ret, size_t size)
{
	int n = identity_prefix(st, ret, size);

	return n + snprintf(ret + n, size - (size_t)n,
			    "%llx-%llx.%lx-%llx.%lx.",
			    (unsigned long long)st->st_size,
			    (unsigned long long)st->st_mtim.tv_sec,
			    (unsigned long)st->st_mtim.tv_nsec,
			    (unsigned long long)st->st_ctim.tv_sec,
			    (unsigned long)st->st_ctim.tv_nsec);
}

static void identity(const struct stat *st, const struct id_layout *ids,
		     char *ret, size_t size)
{
	char suffix[STORE_KEY_MAX];
	int n = identity_stem(st, ret, size);

	layout_suffix(ids, suffix, sizeof(suffix));
	snprintf(ret + n, size - (size_t)n, "%s", suffix + 1);
}

static void size_name(const struct stat *st, const struct id_layout *ids,
		      char *ret, size_t size)
{
	char suffix[STORE_KEY_MAX];

	layout_suffix(ids, suffix, sizeof(suffix));
	snprintf(ret, size, "size-%llu%s", (unsigned long long)st->st_size,
		 suffix);
}

int store_index_get(const struct store *s, const struct stat *archive,
		    const struct id_layout *ids, char ret_id[STORE_ID_MAX])
{
	char name[NAME_MAX];

	identity(archive, ids, name, sizeof(name));
	return link_get(s, "index", name, ret_id);
}

bool store_index_has_size(const struct store *s, const struct stat *archive,
			  const struct id_layout *ids)
{
	char name[NAME_MAX], id[STORE_ID_MAX];

	size_name(archive, ids, name, sizeof(name));
	return link_get(s, "index", name, id) == 0;
}

/* Entries for which drop is true. */
static void index_filter(const struct store *s,
			 bool (*drop)(const struct store *s, const char *name,
				      const void *arg),
			 const void *arg)
{
	auto_close int fd = store_subdir(s, "index", NULL);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *e;

	if (!dir)
		return;
	int dfd = fd_take(fd);

	while ((e = readdir(dir)))
		if (e->d_type == DT_LNK || e->d_type == DT_UNKNOWN)
			if (drop(s, e->d_name, arg))
				unlinkat(dfd, e->d_name, 0);
	closedir(dir);
}

/* What the same file was before; its trees in other layouts stay. */
static bool is_outdated(const struct store *s, const char *name,
			const void *arg)
{
	const struct stat *st = arg;
	char prefix[64], stem[NAME_MAX];

	(void)s;
	identity_prefix(st, prefix, sizeof(prefix));
	identity_stem(st, stem, sizeof(stem));
	return strncmp(name, prefix, strlen(prefix)) == 0 &&
	       strncmp(name, stem, strlen(stem)) != 0;
}

struct stem_search {
	const char *stem;
	char *id;
};

/* Nothing is dropped: the walk over the index is what is wanted. */
static bool take_id(const struct store *s, const char *name, const void *arg)
{
	const struct stem_search *search = arg;

	if (!search->id[0] &&
	    strncmp(name, search->stem, strlen(search->stem)) == 0)
		(void)link_get(s, "index", name, search->id);
	return false;
}

int store_index_find(const struct store *s, const struct stat *archive,
		     char ret_id[STORE_ID_MAX])
{
	char stem[NAME_MAX];
	struct stem_search search = { .stem = stem, .id = ret_id };

	ret_id[0] = '\0';
	identity_stem(archive, stem, sizeof(stem));
	index_filter(s, take_id, &search);
	return ret_id[0] ? 0 : -ENOENT;
}

void store_index_put(const struct store *s, const struct stat *archive,
		     const struct id_layout *ids, const char *id, bool trusted)
{
	char name[NAME_MAX];
	auto_close int dir = store_subdir(s, "index", NULL);

	/* Without an entry the next start is slower, and that is all. */
	if (dir < 0)
		return;
	size_name(archive, ids, name, sizeof(name));
	(void)link_put(dir, name, id);
	if (!trusted)
		return;
	index_filter(s, is_outdated, archive);
	identity(archive, ids, name, sizeof(name));
	(void)link_put(dir, name, id);
}

static bool is_gone(const struct store *s, const char *name, const void *arg)
{
	const char *layout = strrchr(name, '.');
	char id[STORE_ID_MAX], path[STORE_KEY_MAX + 8];
	struct stat st;

	(void)arg;
	if (!layout || link_get(s, "index", name, id) < 0)
		return true;
	snprintf(path, sizeof(path), "images/%s%.47s", id, layout);
	return fstatat(s->fd, path, &st, AT_SYMLINK_NOFOLLOW) < 0 &&
	       errno == ENOENT;
}

void store_index_clean(const struct store *s)
{
	index_filter(s, is_gone, NULL);
}

int store_import_lock(const struct store *s, const struct stat *archive,
		      struct error *err)
{
	auto_close int fd = openat(
		s->fd, "lock", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	/* Open file description locks (fcntl_locking(2)) end with the process
	 * and need no file of their own; two archives that share a byte wait
	 * for each other, which does no harm. */
	struct flock lock = {
		.l_type = F_WRLCK,
		.l_whence = SEEK_SET,
		.l_start = (off_t)((archive->st_ino ^ archive->st_dev << 20) &
				   0x3fffffff),
		.l_len = 1,
	};

	if (fd < 0)
		return error_set(err, ERROR_STATE, errno, "open %s/lock",
				 s->path);
	while (fcntl(fd, F_OFD_SETLKW, &lock) < 0)
		if (errno != EINTR)
			return error_set(err, ERROR_STATE, errno,
					 "lock %s/lock", s->path);
	return fd_take(fd);
}
