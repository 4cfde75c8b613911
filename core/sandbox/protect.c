/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names are walked one by one beneath the volume, and links are put in place of
 * themselves as text: a link that leads out of the volume needs no more than to
 * stay, for what it leads to is not the box's. The tree may be a box's work, so
 * no call here follows a link, and init looks at every step again before it
 * acts on it.
 *
 * A ".git" that is missing, or has no "config" and so is no repository that git
 * made, is held as a whole: git obeys more files in it than two names can tell.
 */
#include "sandbox/protect.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"

enum { LINKS_MAX = 40 }; /* as path_resolution(7) */

struct walk {
	const char *source;
	int volume;
	char *at;   /* reached, below the source; "" is the source */
	char *todo; /* of the name, from there */
	unsigned links;
	struct protect *to;
};

static void add(struct protect *p, enum protect_action action, bool missing,
		const char *path, const char *link)
{
	for (size_t i = 0; i < p->count; i++)
		if (p->steps[i].action == action &&
		    strcmp(p->steps[i].path, path) == 0)
			return;
	p->steps = mem_resize(p->steps, p->count + 1, sizeof(*p->steps));
	p->steps[p->count++] = (struct protect_step){
		.action = action,
		.missing = missing,
		.path = mem_strdup(path),
		.link = link ? mem_strdup(link) : NULL,
	};
}

static char *below(const char *dir, const char *name)
{
	return mem_printf("%s%s%s", dir, *dir ? "/" : "", name);
}

/* The next component of todo, or NULL at its end. */
static char *next_name(struct walk *w)
{
	const char *p = w->todo + strspn(w->todo, "/");
	size_t len = strcspn(p, "/");
	char *name = len ? mem_strndup(p, len) : NULL;
	char *rest = mem_strdup(p + len);

	free(w->todo);
	w->todo = rest;
	return name;
}

static bool is_last(const struct walk *w)
{
	return !w->todo[strspn(w->todo, "/")];
}

/* Each missing directory down to the name, which is held; all of a ".git". */
static int walk_missing(struct walk *w, char *name)
{
	auto_free char *path = below(w->at, name);
	bool git = strcmp(name, ".git") == 0;

	while (!git && !is_last(w)) {
		auto_free char *next = next_name(w);

		if (!next || strcmp(next, "..") == 0)
			break; /* through nothing leads no way back */
		if (strcmp(next, ".") == 0)
			continue;
		add(w->to, PROTECT_PIN, true, path, NULL);
		char *longer = below(path, next);

		free(path);
		path = longer;
	}
	add(w->to, PROTECT_HOLD, true, path, NULL);
	return 0;
}

/* Below the source, or out of it: then nothing more is to be held. */
static bool enter_absolute(struct walk *w, const char *link)
{
	auto_free char *real = realpath(w->source, NULL);
	auto_free char *path = path_normalize("/", link);
	const char *dirs[] = { w->source, real };

	for (size_t i = 0; i < ARRAY_SIZE(dirs); i++) {
		if (!dirs[i] || !path_is_below(path, dirs[i]))
			continue;
		auto_free char *rest = mem_printf(
			"%s/%s", path + (dirs[i][1] ? strlen(dirs[i]) : 0),
			w->todo);

		w->at[0] = '\0';
		free(w->todo);
		w->todo = mem_take(rest);
		return true;
	}
	return false;
}

/* 1: the walk goes on; 0: it is at its end. */
static int walk_link(struct walk *w, int fd, const char *path)
{
	char link[PATH_MAX];
	ssize_t len = readlinkat(fd, "", link, sizeof(link) - 1);

	if (len < 0)
		return -errno;
	link[len] = '\0';
	add(w->to, PROTECT_LINK, false, path, link);
	if (++w->links > LINKS_MAX)
		return 0;
	if (link[0] == '/')
		return enter_absolute(w, link);
	char *todo = mem_printf("%s/%s", link, w->todo);

	free(w->todo);
	w->todo = todo;
	return 1;
}

static bool is_unmade_git(int fd, const char *name)
{
	struct stat st;

	return strcmp(name, ".git") == 0 &&
	       fstatat(fd, "config", &st, AT_SYMLINK_NOFOLLOW) < 0 &&
	       errno == ENOENT;
}

static int walk_up(struct walk *w)
{
	char *slash = strrchr(w->at, '/');

	if (!w->at[0])
		return 0; /* out of the volume */
	*(slash ? slash : w->at) = '\0';
	return 1;
}

static int walk_name(struct walk *w, char *name)
{
	auto_free char *path = below(w->at, name);
	struct stat st;

	if (strcmp(name, ".") == 0)
		return 1;
	if (strcmp(name, "..") == 0)
		return walk_up(w);
	auto_close int fd =
		path_open_nolink(w->volume, path, O_PATH | O_NOFOLLOW, 0);

	if (fd == -ENOENT)
		return walk_missing(w, name);
	if (fd < 0 || fstat(fd, &st) < 0)
		return fd < 0 ? fd : -errno;
	if (S_ISLNK(st.st_mode))
		return walk_link(w, fd, path);
	if (!S_ISDIR(st.st_mode) || is_last(w) || is_unmade_git(fd, name)) {
		/* A file in the place of a directory leads where it says, as
		 * the ".git" of a worktree does. */
		add(w->to, PROTECT_HOLD, false, path, NULL);
		return 0;
	}
	add(w->to, PROTECT_PIN, false, path, NULL);
	free(w->at);
	w->at = mem_take(path);
	return 1;
}

static int walk_path(struct walk *w)
{
	int r = 1;

	while (r > 0) {
		auto_free char *name = next_name(w);

		if (name) {
			r = walk_name(w, name);
			continue;
		}
		/* A link's "." or "..": a directory that was entered. */
		if (!w->at[0])
			return -EISDIR;
		add(w->to, PROTECT_HOLD, false, w->at, NULL);
		return 0;
	}
	return r;
}

int protect_plan(const char *source, int volume, const char *dir,
		 const struct strv *names, struct protect *ret,
		 struct error *err)
{
	for (size_t i = 0; i < names->count; i++) {
		const char *name = names->items[i];
		struct walk w = { .source = source,
				  .volume = volume,
				  .at = mem_strdup(""),
				  .todo = below(dir, name),
				  .to = ret };
		int r = walk_path(&w);

		free(w.at);
		free(w.todo);
		if (r == -EISDIR)
			return error_set(err, ERROR_POLICY, 0,
					 "volume %s: protect %s: a link makes "
					 "it all of the volume",
					 source, name);
		if (r < 0)
			return error_set(err, ERROR_POLICY, -r,
					 "volume %s: protect %s", source, name);
	}
	return 0;
}

void protect_release(struct protect *p)
{
	for (size_t i = 0; i < p->count; i++) {
		free(p->steps[i].path);
		free(p->steps[i].link);
	}
	free(p->steps);
	*p = (struct protect){ 0 };
}
