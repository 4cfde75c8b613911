/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trusts the policy for what is asked, and the host's files for what is there;
 * what can't be looked at has not passed. Sources are opened again when they
 * are mounted, and their device and inode compared with what was checked here.
 */
#include "sandbox/volumes.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/dirs.h"
#include "base/error.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"
#include "sandbox/plan.h"
#include "sandbox/setup.h"

static bool same_file(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

enum { DEPTH_MAX = 4096 };

/* Is dir the directory of above, or does it lie in it? What can't be walked up
 * counts as inside: a check that can't be made has not been passed. */
static bool lies_in(int dir, const struct stat *above)
{
	auto_close int at = openat(dir, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct stat st, up;

	for (int depth = 0; depth < DEPTH_MAX; depth++) {
		if (at < 0 || fstat(at, &st) < 0)
			return true;
		if (same_file(&st, above))
			return true;
		int next = openat(at, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);

		fd_close(&at);
		at = next;
		if (at < 0 || fstat(at, &up) < 0)
			return true;
		if (same_file(&st, &up))
			return false; /* "/" is its own parent */
	}
	return true;
}

/* The directory path, or the nearest one above it that exists: what is missing
 * can be made there. */
static int open_nearest_dir(const char *path)
{
	auto_free char *copy = mem_strdup(path);

	for (;;) {
		int fd = open(copy, O_PATH | O_DIRECTORY | O_CLOEXEC);
		char *slash = strrchr(copy, '/');

		if (fd >= 0 || (errno != ENOENT && errno != ENOTDIR))
			return fd;
		if (!slash)
			return open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
		if (slash == copy)
			return open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
		*slash = '\0';
	}
}

static int refuse(const struct policy_mount *m, const char *why,
		  const char *hint, struct error *err)
{
	error_set(err, ERROR_POLICY, 0, "volume %s: %s", m->source, why);
	if (m->origin.kind == ORIGIN_FILE)
		error_at(err, m->origin.name, m->origin.line, m->origin.column);
	return hint ? error_hint(err, "%s", hint) : -EINVAL;
}

/* Neither may the volume be, hold or lie in a directory of llmbox's own, nor
 * hold the place where it would be made. */
static int check_own_dir(const struct policy_mount *m, int source,
			 const struct stat *source_st, const char *own,
			 struct error *err)
{
	struct stat st;

	if (!own)
		return 0;
	auto_close int fd = open_nearest_dir(own);

	/* Where even its place may not be looked at, the caller can't use it.
	 */
	if (fd < 0 && errno == EACCES)
		return 0;
	if (fd < 0 || fstat(fd, &st) < 0 || lies_in(fd, source_st) ||
	    (access(own, F_OK) == 0 && lies_in(source, &st)))
		return refuse(m, "would let the box write llmbox's own files",
			      "use overlay: writes go to a layer of the box",
			      err);
	return 0;
}

/* By the name that was given and by the one that links lead to. */
static int check_named_file(const struct policy_mount *m,
			    const struct stat *source_st, const char *path,
			    struct error *err)
{
	auto_free char *real = realpath(path, NULL);
	auto_close int dir = open_nearest_dir(path);
	auto_close int real_dir = real ? open_nearest_dir(real) : -1;
	struct stat st;

	if (stat(path, &st) == 0 && same_file(&st, source_st))
		return refuse(m, "is a file that this run uses itself", NULL,
			      err);
	if (!lies_in(dir, source_st) &&
	    (!real || !lies_in(real_dir, source_st)))
		return 0;
	error_set(err, ERROR_POLICY, 0,
		  "volume %s would let the box write %s, which this run uses",
		  m->source, path);
	return error_hint(err, "use overlay: writes go to a layer of the box");
}

static int check_writable(const struct plan_input *in,
			  const struct policy_mount *m, int source,
			  const struct stat *st, struct error *err)
{
	char *own[] = { dirs_data(), dirs_state(), dirs_config(),
			dirs_runtime(), mem_strdup("/etc/llmbox") };
	int r = 0;

	for (size_t i = 0; i < ARRAY_SIZE(own); i++) {
		if (r == 0 && S_ISDIR(st->st_mode))
			r = check_own_dir(m, source, st, own[i], err);
		free(own[i]);
	}
	for (size_t i = 0;
	     r == 0 && in->named_files && i < in->named_files->count; i++)
		r = check_named_file(m, st, in->named_files->items[i], err);
	if (r == 0 && geteuid() == 0 && st->st_uid == 0 &&
	    !in->allow_root_volume)
		r = refuse(m, "belongs to root and would be writable",
			   "use overlay or ro, or --allow-root-volume", err);
	return r;
}

/* The whole home directory or all of the host is no project. */
static int check_project(const struct policy_mount *m, const struct stat *st,
			 struct error *err)
{
	const char *home = getenv("HOME");
	struct stat other;

	if (stat("/", &other) == 0 && same_file(st, &other))
		return refuse(m, "is all of the host, not a project", NULL,
			      err);
	if (home && stat(home, &other) == 0 && same_file(st, &other))
		return refuse(m, "is the home directory itself",
			      "use the project's own directory below it", err);
	return 0;
}

static bool is_proc(int fd)
{
	struct statfs st;

	return fstatfs(fd, &st) < 0 || st.f_type == PROC_SUPER_MAGIC;
}

static int check_source(const struct plan_input *in, struct plan_mount *ret,
			struct error *err)
{
	struct policy_mount *m = ret->mount;
	auto_close int fd = open(m->source, O_PATH | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return error_set(err, ERROR_POLICY, errno, "volume %s",
				 m->source);
	ret->directory = S_ISDIR(st.st_mode);
	ret->dev = st.st_dev;
	ret->ino = st.st_ino;
	ret->owner = st.st_uid;
	ret->group = st.st_gid;
	if (is_proc(fd))
		return refuse(m, "would show the host's processes", NULL, err);
	if (S_ISSOCK(st.st_mode))
		return refuse(m,
			      "is a socket, and who answers there is outside",
			      "no box can use a socket of the host", err);
	if (!ret->directory && !S_ISREG(st.st_mode))
		return refuse(m, "is neither a directory nor a regular file",
			      NULL, err);
	if (!ret->directory && m->access == ACCESS_OVERLAY)
		return refuse(m,
			      "is a file, and only directories can be overlay",
			      "use ro or rw", err);
	if (m->project) {
		int r = check_project(m, &st, err);

		if (r < 0)
			return r;
	}
	if (m->access != ACCESS_RW)
		return 0;
	int r = check_writable(in, m, fd, &st, err);

	if (r == 0 && ret->directory)
		r = protect_plan(m->source, fd, "", &m->protect, &ret->protect,
				 err);
	return r;
}

/*
 * Of two writable volumes one may hold the other: what is protected in that is
 * reached by way of this one too.
 */
static int protect_inner(struct plan_mount *outer,
			 const struct plan_mount *inner, struct error *err)
{
	const struct policy_mount *o = outer->mount, *i = inner->mount;

	if (outer == inner || !volume_is_writable_dir(outer) ||
	    !volume_is_writable_dir(inner))
		return 0;
	auto_free char *above = realpath(o->source, NULL);
	auto_free char *below = realpath(i->source, NULL);
	auto_close int fd = open(o->source, O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (!above || !below || fd < 0)
		return error_set(err, ERROR_POLICY, errno, "volume %s",
				 o->source);
	if (strcmp(above, below) == 0 || !path_is_below(below, above))
		return 0;
	return protect_plan(o->source, fd,
			    below + (above[1] ? strlen(above) + 1 : 1),
			    &i->protect, &outer->protect, err);
}

/* A parent before what is mounted in it, whatever the policy's order. */
static int compare_targets(const void *a, const void *b)
{
	const struct plan_mount *x = a, *y = b;

	return strcmp(x->mount->target, y->mount->target);
}

bool volume_is_writable_dir(const struct plan_mount *m)
{
	return m->mount->source && m->directory &&
	       m->mount->access == ACCESS_RW;
}

int volumes_plan(const struct plan_input *in, struct plan *plan,
		 struct error *err)
{
	const struct policy *p = in->policy;

	if (p->mount_count > SETUP_MOUNTS_MAX)
		return error_set(err, ERROR_POLICY, 0,
				 "%zu mounts are more than %d", p->mount_count,
				 SETUP_MOUNTS_MAX);
	plan->mounts = mem_resize(NULL, p->mount_count, sizeof(*plan->mounts));
	for (size_t i = 0; i < p->mount_count; i++) {
		struct plan_mount *m = &plan->mounts[plan->mount_count++];

		*m = (struct plan_mount){ .mount = &p->mounts[i],
					  .directory = true };
		int r = m->mount->source ? check_source(in, m, err) : 0;

		if (r < 0)
			return r;
	}
	for (size_t i = 0; i < plan->mount_count; i++)
		for (size_t j = 0; j < plan->mount_count; j++) {
			int r = protect_inner(&plan->mounts[i],
					      &plan->mounts[j], err);

			if (r < 0)
				return r;
		}
	for (size_t i = 0; i < plan->mount_count; i++)
		if (plan->mounts[i].mount->source &&
		    plan->mounts[i].mount->access == ACCESS_RW)
			plan->writable_volumes = true;
	if (plan->mount_count)
		qsort(plan->mounts, plan->mount_count, sizeof(*plan->mounts),
		      compare_targets);
	return 0;
}
