/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A record is a list of entries, parents before children, each of four strings:
 * kind, device and inode of the source, its path, the path below it. It is
 * written before init makes anything. It trusts its own state directory, which
 * no box can write, and nothing on the volume.
 */
#include "sandbox/placeholder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/dirs.h"
#include "base/error.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"
#include "sandbox/plan.h"
#include "sandbox/volumes.h"

enum {
	RECORD_MAX = 4 << 20,
	LOCK_TRIES = 500, /* of a millisecond each: it is held to remove it */
	FIELDS = 4,
};

enum placeholder_kind { PLACEHOLDER_DIR = 'd', PLACEHOLDER_FILE = 'f' };

/* ---- locks ---- */

/* Takes fd. */
static int lock_shared(int fd)
{
	auto_close int own = fd;
	struct stat st;

	if (own < 0)
		return own;
	if (flock(own, LOCK_SH | LOCK_NB) < 0 || fstat(own, &st) < 0)
		return -errno;
	return st.st_nlink ? fd_take(own) : -ENOENT;
}

static int lock(int dirfd, const char *path, int flags,
		int (*open_path)(int dirfd, const char *path, int flags,
				 mode_t mode))
{
	for (int i = 0; i < LOCK_TRIES; i++) {
		int r = lock_shared(
			open_path(dirfd, path, flags | O_NONBLOCK, 0));

		if (r != -EWOULDBLOCK)
			return r;
		poll(NULL, 0, 1);
	}
	return -EBUSY;
}

int placeholder_lock(int dirfd, const char *path)
{
	return lock(dirfd, path, O_RDONLY | O_DIRECTORY, path_open_nolink);
}

int placeholder_lock_place(int root, const char *path)
{
	return lock(root, path, O_RDONLY, path_open_in);
}

/* ---- removing ---- */

struct entry {
	const char *field[FIELDS];
};

/* False where another box uses it. */
static bool remove_in(int source, const char *path, bool directory)
{
	const char *name = strrchr(path, '/');
	auto_free char *dir = name ? mem_strndup(path, (size_t)(name - path))
				   : mem_strdup(".");
	int kind = directory ? O_DIRECTORY : 0;
	struct stat st, now;

	name = name ? name + 1 : path;
	auto_close int parent =
		path_open_nolink(source, dir, O_PATH | O_DIRECTORY, 0);
	auto_close int fd =
		parent < 0 ? -1
			   : openat(parent, name,
				    O_RDONLY | O_NONBLOCK | O_NOFOLLOW |
					    O_CLOEXEC | kind);

	if (fd < 0 || fstat(fd, &st) < 0)
		return true;
	if (flock(fd, LOCK_EX | LOCK_NB) < 0)
		return errno != EWOULDBLOCK;
	if (fstatat(parent, name, &now, AT_SYMLINK_NOFOLLOW) < 0 ||
	    now.st_dev != st.st_dev || now.st_ino != st.st_ino)
		return true;
	if (directory)
		(void)unlinkat(parent, name, AT_REMOVEDIR);
	else if (S_ISREG(now.st_mode) && now.st_size == 0)
		(void)unlinkat(parent, name, 0);
	return true;
}

static bool remove_entry(const struct entry *e)
{
	auto_close int source =
		open(e->field[2], O_PATH | O_DIRECTORY | O_CLOEXEC);
	uint64_t dev, ino;
	struct stat st;

	/* Not what it was: moved, or another filesystem is mounted there. */
	if (source < 0 || fstat(source, &st) < 0 ||
	    sscanf(e->field[1], "%" SCNu64 ":%" SCNu64, &dev, &ino) != 2 ||
	    st.st_dev != dev || st.st_ino != ino)
		return true;
	return remove_in(source, e->field[3],
			 e->field[0][0] == PLACEHOLDER_DIR);
}

/* Children before parents. False where one is in use. */
static bool remove_entries(const struct buf *record)
{
	struct entry *entries = NULL;
	size_t count = 0;
	bool all = true;

	for (size_t at = 0; at < record->len;) {
		struct entry e;

		for (size_t i = 0; i < FIELDS; i++) {
			e.field[i] = at < record->len ? record->data + at : "";
			at += strlen(e.field[i]) + 1;
		}
		entries = mem_resize(entries, count + 1, sizeof(*entries));
		entries[count++] = e;
	}
	while (count > 0)
		all &= remove_entry(&entries[--count]);
	free(entries);
	return all;
}

/* ---- records ---- */

static char *records_path(void)
{
	auto_free char *state = dirs_state();

	return state ? mem_printf("%s/placeholders", state) : NULL;
}

/* One that a sweeper takes before it is locked is made again. */
static int make_record(int dir, char **ret_name)
{
	struct stat st;
	uint64_t number;

	for (;;) {
		if (getrandom(&number, sizeof(number), 0) != sizeof(number))
			return -errno;
		auto_free char *name = mem_printf("%016" PRIx64, number);
		auto_close int fd = openat(dir, name,
					   O_WRONLY | O_CREAT | O_EXCL |
						   O_NOFOLLOW | O_CLOEXEC,
					   0600);

		if (fd < 0)
			return -errno;
		if (flock(fd, LOCK_EX) < 0 || fstat(fd, &st) < 0)
			return -errno;
		if (st.st_nlink == 0)
			continue;
		*ret_name = mem_take(name);
		return fd_take(fd);
	}
}

static void write_record(struct placeholders *p)
{
	auto_free char *path = records_path();

	if (!path || !p->entries.len)
		return;
	auto_close int dir = dirs_open_private(path, NULL);

	if (dir < 0)
		return;
	p->dir = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (p->dir < 0)
		return;
	p->record = make_record(p->dir, &p->name);
	if (p->record >= 0)
		(void)fd_write_all(p->record, p->entries.data, p->entries.len);
}

static void sweep_record(int dir, const char *name)
{
	auto_close int fd = openat(
		dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	auto_buf record = { 0 };

	if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) < 0 ||
	    fd_read_all(fd, RECORD_MAX, &record) < 0)
		return;
	if (remove_entries(&record))
		unlinkat(dir, name, 0);
}

void placeholders_sweep(void)
{
	auto_free char *path = records_path();
	int fd = path ? open(path,
			     O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
		      : -1;
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *e;

	while (dir && (e = readdir(dir)))
		if (e->d_name[0] != '.')
			sweep_record(fd, e->d_name);
	if (dir)
		closedir(dir);
	else
		fd_close(&fd);
}

/* ---- holding ---- */

struct holder {
	struct placeholders *to;
	const struct plan_mount *mount; /* the volume */
	int source;
	struct error *err;
};

static void record(struct holder *h, enum placeholder_kind kind,
		   const char *path)
{
	struct buf *b = &h->to->entries;

	buf_addf(b, "%c", kind);
	buf_add(b, "", 1);
	buf_addf(b, "%" PRIu64 ":%" PRIu64, (uint64_t)h->mount->dev,
		 (uint64_t)h->mount->ino);
	buf_add(b, "", 1);
	buf_add(b, h->mount->mount->source,
		strlen(h->mount->mount->source) + 1);
	buf_add(b, path, strlen(path) + 1);
}

static void keep(struct placeholders *p, int fd)
{
	p->locks = mem_resize(p->locks, p->lock_count + 1, sizeof(*p->locks));
	p->locks[p->lock_count++] = fd;
}

/* An empty directory may be another box's. What can't be opened as one is not
 * a placeholder. */
static int hold_step(struct holder *h, struct protect_step *step)
{
	if (!step->missing && step->action != PROTECT_LINK) {
		int fd = placeholder_lock(h->source, step->path);

		if (fd >= 0)
			keep(h->to, fd);
		if (fd == -EBUSY)
			return error_set(h->err, ERROR_HOST, EBUSY,
					 "protect %s/%s",
					 h->mount->mount->source, step->path);
		step->missing = fd == -ENOENT;
	}
	if (step->missing)
		record(h, PLACEHOLDER_DIR, step->path);
	return 0;
}

/* What is missing of the place of a mount in the volume, path below it. */
static void hold_place(struct holder *h, const char *path, bool directory)
{
	auto_free char *copy = mem_strdup(path);
	bool missing = false;

	for (char *p = copy; p;) {
		p = strchr(p, '/');
		if (p)
			*p = '\0';
		if (!missing) {
			auto_close int fd = path_open_nolink(
				h->source, copy, O_PATH | O_NOFOLLOW, 0);

			missing = fd == -ENOENT;
		}
		if (missing)
			record(h,
			       p || directory ? PLACEHOLDER_DIR
					      : PLACEHOLDER_FILE,
			       copy);
		if (p)
			*p++ = '/';
	}
}

/* The mounts whose nearest mount above them is this one. */
static void hold_places(struct holder *h, struct plan *plan, size_t volume)
{
	const char *above = plan->mounts[volume].mount->target;

	for (size_t i = volume + 1; i < plan->mount_count; i++) {
		struct plan_mount *m = &plan->mounts[i];
		const char *target = m->mount->target;

		if (!path_is_below(target, above))
			continue;
		size_t nearest = volume;

		for (size_t j = volume + 1; j < i; j++)
			if (path_is_below(target,
					  plan->mounts[j].mount->target))
				nearest = j;
		if (nearest != volume)
			continue;
		m->on_volume = true;
		hold_place(h, target + strlen(above) + 1, m->directory);
	}
}

static int hold_volume(struct holder *h, struct plan *plan, size_t index)
{
	struct plan_mount *m = &plan->mounts[index];
	struct stat st;
	int r = 0;

	h->mount = m;
	h->source = open(m->mount->source, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (h->source < 0 || fstat(h->source, &st) < 0 || st.st_dev != m->dev ||
	    st.st_ino != m->ino)
		r = error_set(h->err, ERROR_HOST, ESTALE, "volume %s",
			      m->mount->source);
	for (size_t i = 0; r == 0 && i < m->protect.count; i++)
		r = hold_step(h, &m->protect.steps[i]);
	if (r == 0)
		hold_places(h, plan, index);
	fd_close(&h->source);
	return r;
}

int placeholders_hold(struct plan *plan, struct placeholders *ret,
		      struct error *err)
{
	struct holder h = { .to = ret, .source = -1, .err = err };

	for (size_t i = 0; i < plan->mount_count; i++) {
		if (!volume_is_writable_dir(&plan->mounts[i]))
			continue;
		int r = hold_volume(&h, plan, i);

		if (r < 0)
			return r;
	}
	write_record(ret);
	return 0;
}

void placeholders_release(struct placeholders *p)
{
	bool used = p->lock_count || p->entries.len;

	for (size_t i = 0; i < p->lock_count; i++)
		close(p->locks[i]);
	free(p->locks);
	/* A record stays for the last box that uses what it names. */
	if (remove_entries(&p->entries) && p->name)
		unlinkat(p->dir, p->name, 0);
	buf_release(&p->entries);
	free(p->name);
	fd_close(&p->record);
	fd_close(&p->dir);
	*p = (struct placeholders)PLACEHOLDERS_INIT;
	if (used)
		placeholders_sweep();
}
