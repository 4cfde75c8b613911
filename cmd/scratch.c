/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What lies in such a directory was written by a box: tree_remove() follows no
 * link and bounds its depth. The lock is a flock(2) on the directory itself: it
 * ends with the process that holds it, and needs no second file that could be
 * left over.
 */
#include "cmd/scratch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
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
#include "rootfs/image.h"
#include "rootfs/tree.h"

enum { OPEN_DIR = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC };

static char *scratch_parent(void)
{
	auto_free char *state = store_state_path();

	return state ? mem_printf("%s/scratch", state) : NULL;
}

/* Locks it, unless another has it; -ENOENT when it went meanwhile. */
static int lock_dir(int parent, const char *name)
{
	auto_close int fd = openat(parent, name, OPEN_DIR);
	struct stat st;

	if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) < 0 || fstat(fd, &st) < 0)
		return -errno;
	return st.st_nlink ? fd_take(fd) : -ENOENT;
}

static int make_locked(struct scratch *s, const char *parent_path)
{
	uint64_t number;

	if (getrandom(&number, sizeof(number), 0) != sizeof(number))
		return -errno;
	auto_free char *name =
		mem_printf("%016llx", (unsigned long long)number);

	if (mkdirat(s->parent, name, 0700) < 0)
		return -errno;
	s->lock = lock_dir(s->parent, name);
	if (s->lock >= 0)
		s->path = mem_printf("%s/%s", parent_path, name);
	return s->lock;
}

int scratch_make(struct scratch *ret, struct error *err)
{
	auto_free char *parent = scratch_parent();
	struct scratch s = SCRATCH_INIT;
	int r;

	if (!parent) {
		error_set(err, ERROR_STATE, 0,
			  "no directory for writes on disk");
		return error_hint(err, "set HOME or XDG_STATE_HOME");
	}
	s.parent = dirs_open_private(parent, err);
	if (s.parent < 0)
		return s.parent;
	/* A sweeper may take a new one between its making and its lock. */
	do {
		r = make_locked(&s, parent);
	} while (r == -ENOENT || r == -EWOULDBLOCK || r == -EEXIST);
	if (r < 0) {
		fd_close(&s.parent);
		return error_set(err, ERROR_STATE, -r, "make a directory in %s",
				 parent);
	}
	*ret = s;
	return 0;
}

void scratch_release(struct scratch *s)
{
	if (s->path)
		(void)tree_remove_owned(s->parent, strrchr(s->path, '/') + 1,
					NULL);
	free(s->path);
	s->path = NULL;
	fd_close(&s->lock);
	fd_close(&s->parent);
}

void scratch_sweep(void)
{
	auto_free char *path = scratch_parent();
	int fd = path ? open(path, OPEN_DIR) : -1;
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		auto_close int lock = lock_dir(fd, entry->d_name);

		if (lock >= 0)
			(void)tree_remove_owned(fd, entry->d_name, NULL);
	}
	if (dir)
		closedir(dir);
	else
		fd_close(&fd);
}
