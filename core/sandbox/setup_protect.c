/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Set-up: the protected names of volumes, as the plan has them (protect.h).
 * Each is held by a mount of its own: what is a mount point can't be renamed,
 * removed or linked elsewhere. Directories above are mount points too, for a
 * mount goes by the file: under a renamed parent the name could be made again.
 *
 * The volume may have changed since the plan was made, so that every step looks
 * at the kind of what it finds, and follows no link. Placeholders are made with
 * the rights of the box's user over the volume: what these don't allow the box
 * can't make either.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"
#include "sandbox/placeholder.h"
#include "sandbox/setup.h"

enum { MAKE_TRIES = 100 }; /* against another box that removes it */

struct holding {
	struct setup *s;
	int volume;
	const char *refused; /* could not be made, nor what is below it */
};

/* ---- placeholders ---- */

/*
 * In a process of its own where the user is another: root in a shifted box may
 * own nothing on the volume, and a change of ids would cost init its
 * PDEATHSIG (prctl(2)).
 */
static int mkdir_of_user(const struct plan *plan, int parent, const char *name)
{
	int status;

	if (plan->user_uid == geteuid() && plan->user_gid == getegid())
		return mkdirat(parent, name, 0755) < 0 ? -errno : 0;
	pid_t pid = fork();

	if (pid == 0) {
		setfsgid(plan->user_gid);
		setfsuid(plan->user_uid);
		_exit(mkdirat(parent, name, 0755) < 0 ? errno : 0);
	}
	while (pid > 0 && waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	if (pid < 0 || !WIFEXITED(status))
		return -EAGAIN;
	return -WEXITSTATUS(status);
}

static int make_placeholder(struct holding *h, const char *path)
{
	const char *name;
	auto_close int parent = path_open_parent_in(h->volume, path, &name);

	if (parent < 0)
		return parent;
	for (int i = 0; i < MAKE_TRIES; i++) {
		int r = mkdir_of_user(h->s->plan, parent, name);

		if (r < 0 && r != -EEXIST)
			return r;
		int fd = placeholder_lock(h->volume, path);

		if (fd >= 0)
			setup_keep(h->s, fd);
		if (fd != -ENOENT)
			return fd < 0 ? fd : 0;
	}
	return -EBUSY;
}

static bool is_refused(const struct holding *h, const char *path)
{
	size_t n = h->refused ? strlen(h->refused) : 0;

	return n && strncmp(path, h->refused, n) == 0 &&
	       (!path[n] || path[n] == '/');
}

/* ---- steps ---- */

static int hold_link(int fd, const char *link)
{
	char now[PATH_MAX];
	ssize_t len = readlinkat(fd, "", now, sizeof(now) - 1);

	if (len < 0)
		return errno == ENOENT ? -ESTALE : -errno; /* no link */
	now[len] = '\0';
	/* The plan followed this one and no other. */
	if (strcmp(now, link) != 0)
		return -ESTALE;
	return setup_cover_with_itself(fd, MOUNT_ATTR_RDONLY);
}

static int hold_step(struct holding *h, const struct protect_step *step)
{
	struct stat st;
	int r = 0;

	if (step->missing && is_refused(h, step->path))
		return 0;
	if (step->missing)
		r = make_placeholder(h, step->path);
	if (step->missing && (r == -EACCES || r == -EPERM || r == -EROFS)) {
		h->refused = step->path;
		return 0;
	}
	auto_close int fd = r < 0 ? r
				  : path_open_nolink(h->volume, step->path,
						     O_PATH | O_NOFOLLOW, 0);

	if (fd < 0 || fstat(fd, &st) < 0)
		return fd < 0 ? fd : -errno;
	if (step->action == PROTECT_LINK)
		return hold_link(fd, step->link);
	if (S_ISLNK(st.st_mode))
		return -ESTALE;
	if (step->action == PROTECT_HOLD)
		return setup_cover_with_itself(fd, MOUNT_ATTR_RDONLY);
	if (!S_ISDIR(st.st_mode))
		return -ESTALE;
	return setup_is_mount_point(fd) ? 0 : setup_cover_with_itself(fd, 0);
}

static int protect_volume(struct setup *s, const struct plan_mount *m,
			  int volume)
{
	struct holding h = { .s = s, .volume = volume };

	for (size_t i = 0; i < m->protect.count; i++) {
		const struct protect_step *step = &m->protect.steps[i];
		int r = hold_step(&h, step);

		if (r < 0) {
			errno = -r;
			return setup_fail(s, "protect %s on %s", step->path,
					  m->mount->target);
		}
	}
	return 0;
}

int setup_protect(struct setup *s)
{
	for (size_t i = 0; i < s->plan->mount_count; i++) {
		const struct plan_mount *m = &s->plan->mounts[i];

		if (!m->mount->source || !m->directory)
			continue;
		auto_close int volume = path_open_in(s->root, m->mount->target,
						     O_PATH | O_DIRECTORY, 0);
		int r = volume < 0 ? volume : protect_volume(s, m, volume);

		if (r == 0)
			r = setup_search(s, m, volume);
		if (r < 0)
			return r;
	}
	return 0;
}
