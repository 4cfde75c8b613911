/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Probe: control groups. A group is made below the caller's own, or below the
 * nearest one above it where that may be done; limits are written to it and a
 * process is moved into it. In version 2 the controllers may have to be enabled
 * first (cgroups(7), "no internal processes"), which is taken back; version 1
 * has a tree for each controller.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fd.h"
#include "base/mem.h"
#include "doctor/probe_try.h"

enum { TEXT_MAX = 1 << 20, CONTROLLERS = 3 };

static const struct controller {
	const char *name;
	const char *file, *value;   /* version 2 */
	const char *file1, *value1; /* version 1 */
} controllers[CONTROLLERS] = {
	{ "memory", "memory.max", "67108864", "memory.limit_in_bytes",
	  "67108864" },
	{ "pids", "pids.max", "8", "pids.max", "8" },
	{ "cpu", "cpu.max", "50000 100000", "cpu.cfs_quota_us", "50000" },
};

/* ---- where they are ---- */

/* Is word one of the list's, which has commas between them, or another field
 * behind it? */
static bool list_has(const char *list, size_t len, const char *word)
{
	size_t size = strlen(word);

	for (const char *at = list; at < list + len; at++) {
		size_t n = strcspn(at, ",: \n");

		if (n == size && memcmp(at, word, n) == 0)
			return true;
		at += n;
	}
	return false;
}

/*
 * The directory of the caller's own group in the tree of a controller; NULL:
 * of version 2. NULL where there is no such tree. proc_pid_mountinfo(5): the
 * fourth field is the group that the mount shows as its root.
 */
static char *own_group(const char *controller)
{
	auto_buf mounts = { 0 }, groups = { 0 };
	char root[256] = "", at[256] = "", *line, *rest;
	const char *path = NULL;

	if (file_read(AT_FDCWD, "/proc/self/mountinfo", TEXT_MAX, &mounts) <
		    0 ||
	    file_read(AT_FDCWD, "/proc/self/cgroup", TEXT_MAX, &groups) < 0 ||
	    !mounts.data || !groups.data)
		return NULL;
	for (rest = mounts.data; !at[0] && (line = strsep(&rest, "\n"));) {
		const char *type = strstr(line, " - ");

		if (!type ||
		    (controller
			     ? strncmp(type, " - cgroup ", 10) != 0 ||
				       !list_has(type, strlen(type), controller)
			     : strncmp(type, " - cgroup2 ", 11) != 0))
			continue;
		if (sscanf(line, "%*s %*s %*s %255s %255s", root, at) != 2)
			at[0] = '\0';
	}
	for (rest = groups.data;
	     at[0] && !path && (line = strsep(&rest, "\n"));) {
		char *list = strchr(line, ':');
		char *end = list ? strchr(list + 1, ':') : NULL;

		if (end &&
		    (controller ? list_has(list + 1, (size_t)(end - list - 1),
					   controller)
				: end == list + 1))
			path = end + 1;
	}
	if (!path)
		return NULL;
	/* Of a mount that shows a part only: the part below it. */
	size_t len = strcmp(root, "/") == 0 ? 0 : strlen(root);

	if (strncmp(path, root, len) != 0)
		len = strlen(path);
	path += len;
	return mem_printf("%s%s", at, strcmp(path, "/") == 0 ? "" : path);
}

/* The group above, in place; false at the top of the tree. */
static bool go_up(char *group)
{
	auto_free char *file = mem_printf("%s/../cgroup.procs", group);
	char *slash = strrchr(group, '/');

	if (access(file, F_OK) < 0 || !slash || slash == group)
		return false;
	*slash = '\0';
	return true;
}

/* ---- trying ---- */

static int put(const char *group, const char *file, const char *text)
{
	auto_free char *path = mem_printf("%s/%s", group, file);

	return file_put(AT_FDCWD, path, text);
}

static int join(const char *group)
{
	pid_t pid = fork();

	if (pid < 0)
		return -errno;
	if (pid == 0)
		_exit(put(group, "cgroup.procs", "0") < 0 ? 1 : 0);
	return probe_child_succeeded(pid) ? 0 : -EACCES;
}

/* Version 1, one controller. */
static int try_tree(const struct probe_try *t, const struct controller *c,
		    const char *own)
{
	auto_free char *group = mem_printf("%s/%s", own, t->mark);

	if (mkdir(group, 0755) < 0)
		return -errno;
	int r = put(group, c->file1, c->value1);

	if (r == 0)
		r = join(group);
	rmdir(group);
	return r;
}

static int enable(const char *group, const struct controller *c, char sign)
{
	char text[32];

	snprintf(text, sizeof(text), "%c%s", sign, c->name);
	return put(group, "cgroup.subtree_control", text);
}

static bool has_limit(const char *group, const struct controller *c)
{
	auto_free char *file = mem_printf("%s/%s", group, c->file);

	return access(file, F_OK) == 0;
}

/* Version 2: what can be limited in a group below parent. */
static int try_below(const struct probe_try *t, const char *parent,
		     int codes[CONTROLLERS])
{
	auto_free char *group = mem_printf("%s/%s", parent, t->mark);
	bool enabled[CONTROLLERS] = { false };
	int held = 0;

	if (mkdir(group, 0755) < 0)
		return -errno;
	for (size_t i = 0; i < CONTROLLERS; i++) {
		const struct controller *c = &controllers[i];

		codes[i] = 0;
		if (!has_limit(group, c)) {
			codes[i] = enable(parent, c, '+');
			enabled[i] = codes[i] == 0;
		}
		if (codes[i] == 0)
			codes[i] = put(group, c->file, c->value);
		held += codes[i] == 0;
	}
	int r = held ? join(group) : 0;

	rmdir(group);
	for (size_t i = 0; i < CONTROLLERS; i++) {
		if (enabled[i])
			enable(parent, &controllers[i], '-');
		if (r < 0)
			codes[i] = r;
	}
	return r < 0 ? r : held;
}

/* From the caller's own group upwards, until one holds a limit. */
static void try_unified(const struct probe_try *t, char *group,
			int codes[CONTROLLERS])
{
	int last[CONTROLLERS];

	do {
		int r = try_below(t, group, last);

		if (r > 0) {
			memcpy(codes, last, sizeof(last));
			return;
		}
		for (size_t i = 0; i < CONTROLLERS; i++)
			if (codes[i] == -ENOENT)
				codes[i] = r < 0 ? r : last[i];
	} while (go_up(group));
}

/* ---- telling ---- */

static void tell(struct probe_try *t, const char *mode, enum cure cure,
		 const int codes[CONTROLLERS])
{
	auto_buf held = { 0 }, missing = { 0 };

	for (size_t i = 0; i < CONTROLLERS; i++) {
		struct buf *b = codes[i] == 0 ? &held : &missing;

		buf_addf(b, "%s%s", b->len ? ", " : "", controllers[i].name);
		if (codes[i] < 0)
			buf_addf(b, " (%s)", strerror(-codes[i]));
	}
	if (!missing.len)
		probe_yes(t, "%s: %s", mode, held.data);
	else if (held.len)
		probe_soft(t, cure, "%s: %s; not %s", mode, held.data,
			   missing.data);
	else
		probe_no(t, cure, "%s: not %s", mode, missing.data);
}

void probe_cgroup(struct probe_try *t)
{
	int codes[CONTROLLERS] = { -ENOENT, -ENOENT, -ENOENT };
	auto_free char *unified = own_group(NULL);
	bool version1 = false;

	if (unified)
		try_unified(t, unified, codes);
	for (size_t i = 0; i < CONTROLLERS; i++) {
		auto_free char *own = own_group(controllers[i].name);

		version1 = version1 || own;
		if (own && codes[i] < 0)
			codes[i] = try_tree(t, &controllers[i], own);
	}
	if (!unified && !version1)
		probe_no(t, CURE_CGROUP, "none is mounted");
	else if (version1)
		tell(t, unified ? "hybrid" : "version 1", CURE_CGROUP1, codes);
	else
		tell(t, "version 2", CURE_CGROUP, codes);
}

static void remove_mark(const struct probe_try *t, const char *group)
{
	auto_free char *path = mem_printf("%s/%s", group, t->mark);

	rmdir(path);
}

void probe_cgroup_clean(const struct probe_try *t)
{
	auto_free char *unified = own_group(NULL);

	if (unified)
		do
			remove_mark(t, unified);
		while (go_up(unified));
	for (size_t i = 0; i < CONTROLLERS; i++) {
		auto_free char *own = own_group(controllers[i].name);

		if (own)
			remove_mark(t, own);
	}
}
