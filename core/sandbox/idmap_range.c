/* SPDX-License-Identifier: Apache-2.0 */
/*
 * First what can be known by looking (the programs and their rights, the
 * user's entries), then the two programs, both at once.
 *
 * Trusted: /etc/passwd, /etc/subuid and /etc/subgid, and the programs at the
 * paths below, never one that $PATH names. They check by themselves what they
 * are asked for, so that a wrong guess here is an error and no hole.
 */
#include "sandbox/idmap_range.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/capability.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/error.h"
#include "base/fd.h"
#include "base/mem.h"
#include "sandbox/idmap.h"

enum {
	/* usermod(8) hands out ranges from here on. */
	SUBID_FIRST = 100000,
	/* A directory service that does not answer holds the programs. */
	HELPER_MS = 30000,
};

static const struct kind {
	const char *file, *helper, *map;
	int capability;
} kinds[] = {
	{ "/etc/subuid", "newuidmap", "/proc/self/uid_map", CAP_SETUID },
	{ "/etc/subgid", "newgidmap", "/proc/self/gid_map", CAP_SETGID },
};

/* ---- the files ---- */

struct subid {
	char owner[64];
	uint64_t start, count;
};

static bool parse_number(const char *text, char end, uint64_t *ret)
{
	char *rest;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	*ret = strtoull(text, &rest, 10);
	return !errno && *ret <= UINT32_MAX && *rest == end;
}

/* The next well-formed line. */
static bool subid_next(FILE *f, struct subid *ret)
{
	char line[256];

	while (fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = '\0';
		char *start = strchr(line, ':');
		char *count = start ? strchr(start + 1, ':') : NULL;

		if (!count || start - line >= (ptrdiff_t)sizeof(ret->owner) ||
		    !parse_number(start + 1, ':', &ret->start) ||
		    !parse_number(count + 1, '\0', &ret->count))
			continue;
		*start = '\0';
		memcpy(ret->owner, line, (size_t)(start - line) + 1);
		return true;
	}
	return false;
}

static bool is_usable(const struct subid *s, uint32_t count, uint32_t own)
{
	/* Id 4294967295 means "none" to every call. */
	return s->count >= count && s->start > 0 &&
	       s->start + count <= UINT32_MAX &&
	       (own < s->start || own - s->start >= count);
}

bool idmap_range_find(const char *path, const char *name, uid_t uid,
		      uint32_t count, uint32_t own, uint32_t *ret_start)
{
	FILE *f = fopen(path, "re");
	char digits[16];
	struct subid s;
	bool found = false;

	if (!f)
		return false;
	snprintf(digits, sizeof(digits), "%u", uid);
	while (!found && subid_next(f, &s))
		found = ((name && strcmp(s.owner, name) == 0) ||
			 strcmp(s.owner, digits) == 0) &&
			is_usable(&s, count, own);
	fclose(f);
	if (found)
		*ret_start = (uint32_t)s.start;
	return found;
}

/* Where a range may be added: behind all of both files. */
static uint64_t subid_end(void)
{
	uint64_t end = SUBID_FIRST;
	struct subid s;

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		FILE *f = fopen(kinds[i].file, "re");

		while (f && subid_next(f, &s))
			if (s.start + s.count > end)
				end = s.start + s.count;
		if (f)
			fclose(f);
	}
	return end;
}

/* ---- can they be mapped? ---- */

/* The caller's account, from /etc/passwd alone: getpwuid(3) would load
 * libraries. Elsewhere kept accounts go by $USER, which the programs check. */
struct caller {
	char name[64];
	bool known;
	gid_t gid;
};

static void caller_find(struct caller *ret)
{
	FILE *f = fopen("/etc/passwd", "re");
	const char *user = getenv("USER");
	const struct passwd *pw = NULL;

	*ret = (struct caller){ 0 };
	while (f && (pw = fgetpwent(f)) && pw->pw_uid != getuid())
		;
	if (pw) {
		ret->known = true;
		ret->gid = pw->pw_gid;
		user = pw->pw_name;
	}
	if (user && strlen(user) < sizeof(ret->name))
		memcpy(ret->name, user, strlen(user) + 1);
	if (f)
		fclose(f);
}

static const char *const helper_dirs[] = { "/usr/bin", "/usr/local/bin",
					   "/run/wrappers/bin" };
enum { HELPER_PATH_MAX = 40 };

static bool helper_find(const char *name, char path[HELPER_PATH_MAX])
{
	for (size_t i = 0; i < ARRAY_SIZE(helper_dirs); i++) {
		snprintf(path, HELPER_PATH_MAX, "%s/%s", helper_dirs[i], name);
		if (access(path, X_OK) == 0)
			return true;
	}
	return false;
}

static bool helper_has_rights(const char *path)
{
	struct statvfs fs;
	struct stat st;

	if (stat(path, &st) < 0 || statvfs(path, &fs) < 0 ||
	    (fs.f_flag & ST_NOSUID))
		return false;
	return (st.st_uid == 0 && (st.st_mode & S_ISUID)) ||
	       getxattr(path, "security.capability", NULL, 0) > 0;
}

static int check_helper(const struct kind *k, struct error *err)
{
	char path[HELPER_PATH_MAX];

	if (!helper_find(k->helper, path)) {
		error_set(err, ERROR_POLICY, 0, "%s is not installed",
			  k->helper);
		return error_hint(err, "as root: apt-get install uidmap, or "
				       "your distribution's package of "
				       "newuidmap");
	}
	if (!helper_has_rights(path)) {
		error_set(err, ERROR_POLICY, 0,
			  "%s has no rights: neither set-user-ID nor a file "
			  "capability, or its filesystem is mounted nosuid",
			  path);
		return error_hint(err, "as root: chmod u+s %s", path);
	}
	if (prctl(PR_CAPBSET_READ, k->capability) == 0) {
		error_set(err, ERROR_POLICY, 0,
			  "%s can't get its rights: they are not in the "
			  "capability bounding set",
			  path);
		return error_hint(err, "allow the container that llmbox runs "
				       "in CAP_SETUID and CAP_SETGID");
	}
	return 0;
}

static int check_process(const struct caller *c, struct error *err)
{
	if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1) {
		error_set(err, ERROR_POLICY, 0,
			  "llmbox was started with no_new_privs, under which "
			  "newuidmap gets no rights");
		return error_hint(err, "start it without (of a service: "
				       "NoNewPrivileges=no)");
	}
	/* Both programs refuse such a caller. */
	if (getuid() != geteuid() || getgid() != getegid() ||
	    (c->known && c->gid != getgid())) {
		error_set(err, ERROR_POLICY, 0,
			  "the caller's group %u is not that of its account",
			  getgid());
		return error_hint(err, "start llmbox without newgrp(1) or "
				       "sg(1)");
	}
	return 0;
}

/* In a container not all ids are there. */
static bool is_mapped(const char *map, uint32_t start)
{
	FILE *f = fopen(map, "re");
	uint64_t inside, count;
	bool found = false;

	while (f && !found &&
	       fscanf(f, "%" SCNu64 " %*u %" SCNu64, &inside, &count) == 2)
		found = inside <= start &&
			start + (uint64_t)IDMAP_SUBORDINATE <= inside + count;
	if (f)
		fclose(f);
	return found;
}

static int no_range(const struct kind *k, const struct caller *c,
		    struct error *err)
{
	uint64_t first = subid_end();
	char uid[16];
	const char *name = c->name;

	snprintf(uid, sizeof(uid), "%u", getuid());
	if (!*name)
		name = uid;
	error_set(err, ERROR_POLICY, 0, "no range of %d ids in %s for %s",
		  IDMAP_SUBORDINATE, k->file, name);
	return error_hint(err,
			  "as root: usermod --add-subuids %" PRIu64 "-%" PRIu64
			  " --add-subgids %" PRIu64 "-%" PRIu64 " %s",
			  first, first + IDMAP_SUBORDINATE - 1, first,
			  first + IDMAP_SUBORDINATE - 1, name);
}

static int find_range(const struct kind *k, const struct caller *c,
		      uint32_t own, uint32_t *ret_start, struct error *err)
{
	if (!idmap_range_find(k->file, *c->name ? c->name : NULL, getuid(),
			      IDMAP_SUBORDINATE, own, ret_start))
		return no_range(k, c, err);
	if (!is_mapped(k->map, *ret_start)) {
		error_set(err, ERROR_POLICY, 0,
			  "ids %" PRIu32 " to %" PRIu32 " of %s are not there "
			  "in this container",
			  *ret_start, *ret_start + IDMAP_SUBORDINATE - 1,
			  k->file);
		return error_hint(err, "give it a range of ids that %s has",
				  k->map);
	}
	return 0;
}

int idmap_range_choose(struct idmap_starts *ret, struct error *err)
{
	struct caller c;
	int r = check_helper(&kinds[0], err);

	if (r == 0)
		r = check_helper(&kinds[1], err);
	if (r < 0)
		return r;
	caller_find(&c);
	r = check_process(&c, err);
	if (r == 0)
		r = find_range(&kinds[0], &c, getuid(), &ret->uid, err);
	if (r == 0)
		r = find_range(&kinds[1], &c, getgid(), &ret->gid, err);
	return r;
}

/* ---- the map ---- */

static unsigned fill(uint32_t start, uint32_t place, uint32_t own,
		     struct idmap_range *ret)
{
	const uint32_t last = IDMAP_RANGE_LEN - 1;
	unsigned n = 0;

	if (place)
		ret[n++] = (struct idmap_range){ 0, start, place };
	ret[n++] = (struct idmap_range){ place, own, 1 };
	if (place < last)
		ret[n++] = (struct idmap_range){ place + 1, start + place + 1,
						 last - place };
	return n;
}

void idmap_range_fill(const struct idmap_starts *starts, uid_t uid, gid_t gid,
		      struct idmap *ret)
{
	*ret = (struct idmap){ .identity = IDENTITY_RANGE,
			       .starts = *starts,
			       .own_uid = uid,
			       .own_gid = gid };
	ret->uid_count = fill(starts->uid, uid, getuid(), ret->uid);
	ret->gid_count = fill(starts->gid, gid, getgid(), ret->gid);
}

void idmap_range_fill_all(const struct idmap_starts *starts, struct idmap *ret)
{
	*ret = (struct idmap){
		.identity = IDENTITY_RANGE,
		.uid = { { 0, getuid(), 1 },
			 { 1, starts->uid, IDMAP_SUBORDINATE } },
		.gid = { { 0, getgid(), 1 },
			 { 1, starts->gid, IDMAP_SUBORDINATE } },
		.uid_count = 2,
		.gid_count = 2,
		.starts = *starts,
	};
}

/* ---- the programs ---- */

/* newuidmap PID INSIDE OUTSIDE COUNT... */
struct helper_line {
	char words[1 + 3 * IDMAP_RANGES_MAX][12];
	char *argv[1 + 1 + 3 * IDMAP_RANGES_MAX + 1];
};

static void helper_line_fill(struct helper_line *l, const char *name, pid_t pid,
			     const struct idmap_range *ranges, unsigned count)
{
	unsigned n = 0;

	snprintf(l->words[n++], sizeof(*l->words), "%d", pid);
	for (unsigned i = 0; i < count; i++) {
		const uint32_t numbers[] = { ranges[i].inside,
					     ranges[i].outside,
					     ranges[i].count };

		for (size_t j = 0; j < ARRAY_SIZE(numbers); j++)
			snprintf(l->words[n++], sizeof(*l->words), "%" PRIu32,
				 numbers[j]);
	}
	l->argv[0] = (char *)(uintptr_t)name;
	for (unsigned i = 0; i < n; i++)
		l->argv[i + 1] = l->words[i];
	l->argv[n + 1] = NULL;
}

/* It has rights: nothing of the environment, and no descriptor but the pipe
 * for what it says. */
static pid_t helper_start(const char *name, pid_t pid,
			  const struct idmap_range *ranges, unsigned count,
			  int says)
{
	char path[HELPER_PATH_MAX], *env[] = { NULL };
	struct helper_line line = { 0 };
	posix_spawn_file_actions_t actions;
	pid_t helper;

	if (!helper_find(name, path))
		return -ENOENT;
	helper_line_fill(&line, name, pid, ranges, count);
	int r = posix_spawn_file_actions_init(&actions);

	if (r)
		return -r;
	r = posix_spawn_file_actions_adddup2(&actions, says, 2);
	if (r == 0)
		r = posix_spawn_file_actions_addopen(&actions, 0, "/dev/null",
						     O_RDONLY, 0);
	if (r == 0)
		r = posix_spawn_file_actions_addopen(&actions, 1, "/dev/null",
						     O_WRONLY, 0);
	if (r == 0)
		r = posix_spawn_file_actions_addclosefrom_np(&actions, 3);
	if (r == 0)
		r = posix_spawn(&helper, path, &actions, NULL, line.argv, env);
	posix_spawn_file_actions_destroy(&actions);
	return r ? -r : helper;
}

/* All that the programs say, up to their end; false where they hang. */
static bool helpers_listen(int fd, char *text, size_t size)
{
	size_t len = 0;
	char rest[256] = "";

	for (;;) {
		struct pollfd p = { .fd = fd, .events = POLLIN };
		bool full = len == size - 1;

		if (poll(&p, 1, HELPER_MS) == 0)
			return false;
		ssize_t n = read(fd, full ? rest : text + len,
				 full ? sizeof(rest) : size - 1 - len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		len += full ? 0 : (size_t)n;
	}
	text[len] = '\0';
	text[strcspn(text, "\n")] = '\0';
	return true;
}

static int helper_wait(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -1;
	return status;
}

static int helpers_failed(const char *name, const char *text, bool answered,
			  struct error *err)
{
	if (!answered)
		error_set(err, ERROR_HOST, ETIMEDOUT, "map ids by %s", name);
	else if (*text)
		error_set(err, ERROR_HOST, 0, "map ids: %s", text);
	else
		error_set(err, ERROR_HOST, 0,
			  "map ids: %s failed without a "
			  "word",
			  name);
	return error_hint(err, "--identity one does without it");
}

int idmap_range_write(pid_t pid, const struct idmap *map, struct error *err)
{
	const char *failed = NULL;
	char text[256] = "";
	pid_t helpers[2];
	int says[2];

	if (pipe2(says, O_CLOEXEC) < 0)
		return error_set(err, ERROR_HOST, errno, "make a pipe");
	helpers[0] = helper_start(kinds[0].helper, pid, map->uid,
				  map->uid_count, says[1]);
	helpers[1] = helper_start(kinds[1].helper, pid, map->gid,
				  map->gid_count, says[1]);
	close(says[1]);
	bool answered = helpers_listen(says[0], text, sizeof(text));

	close(says[0]);
	for (size_t i = 0; i < ARRAY_SIZE(helpers); i++) {
		if (helpers[i] > 0 && !answered)
			kill(helpers[i], SIGKILL);
		if (helpers[i] < 0 || helper_wait(helpers[i]) != 0)
			failed = kinds[i].helper;
	}
	return failed ? helpers_failed(failed, text, answered, err) : 0;
}
