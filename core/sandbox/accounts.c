/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trusts nothing of what it reads: lines, fields and numbers are checked, files
 * are bounded and opened without waiting, no memory is taken.
 */
#include "sandbox/accounts.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "base/fd.h"
#include "base/path.h"
#include "sandbox/hostview.h"
#include "sandbox/seccomp.h"

/* Reads lines of a descriptor with no memory but this. */
struct lines {
	int fd;
	size_t at, len, total;
	char data[4096];
};

enum { ACCOUNTS_FILE_MAX = 1 << 20 };

/* The next line, ended by a NUL; NULL at the end, and at what is too large.
 * A line that does not fit is no account: it is passed over whole. */
static char *lines_next(struct lines *l)
{
	bool skip = false;

	while (l->fd >= 0) {
		char *start = l->data + l->at;
		char *end = memchr(start, '\n', l->len - l->at);

		if (end) {
			l->at = (size_t)(end - l->data) + 1;
			*end = '\0';
			if (!skip)
				return start;
			skip = false;
			continue;
		}
		if (l->at == 0 && l->len == sizeof(l->data)) {
			skip = true;
			l->len = 0;
		} else {
			memmove(l->data, start, l->len - l->at);
			l->len -= l->at;
		}
		l->at = 0;
		ssize_t n =
			read(l->fd, l->data + l->len, sizeof(l->data) - l->len);

		if (n > 0 && (l->total += (size_t)n) > ACCOUNTS_FILE_MAX)
			return NULL;
		if (n > 0) {
			l->len += (size_t)n;
			continue;
		}
		/* The last line may lack its end. */
		if (skip || !l->len || l->len == sizeof(l->data))
			return NULL;
		l->data[l->len++] = '\n';
	}
	return NULL;
}

/* Splits at ':' in place; exactly count fields. */
static bool split(char *line, char **fields, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		fields[i] = line;
		line = strchr(line, ':');
		if (!line)
			return i == count - 1;
		*line++ = '\0';
	}
	return false;
}

/* A decimal id below 4294967295, nothing else. */
static bool parse_id(const char *text, uint32_t *ret)
{
	uint64_t value = 0;

	if (!*text)
		return false;
	for (; *text; text++) {
		if (*text < '0' || *text > '9')
			return false;
		value = value * 10 + (uint64_t)(*text - '0');
		if (value >= UINT32_MAX)
			return false;
	}
	*ret = (uint32_t)value;
	return true;
}

static void copy_text(char *to, const char *from, const char *fallback)
{
	if (from[0] != '/' || strlen(from) >= ACCOUNT_TEXT_MAX)
		from = fallback;
	memcpy(to, from, strlen(from) + 1);
}

/* By name, or by *uid where name is NULL. */
static bool find_user(int fd, const char *name, struct account *a)
{
	struct lines l = { .fd = fd };
	char *line, *f[7];
	uint32_t uid, gid;

	while ((line = lines_next(&l))) {
		if (!split(line, f, 7) || !parse_id(f[2], &uid) ||
		    !parse_id(f[3], &gid) || strlen(f[0]) >= ACCOUNT_TEXT_MAX)
			continue;
		if (name ? strcmp(f[0], name) != 0 : uid != a->uid)
			continue;
		a->uid = uid;
		a->gid = gid;
		memcpy(a->name, f[0], strlen(f[0]) + 1);
		copy_text(a->home, f[5], "/");
		copy_text(a->shell, f[6], "/bin/sh");
		return true;
	}
	return false;
}

static bool find_group(int fd, const char *name, gid_t *ret)
{
	struct lines l = { .fd = fd };
	char *line, *f[4];

	while ((line = lines_next(&l)))
		if (split(line, f, 4) && strcmp(f[0], name) == 0 &&
		    parse_id(f[2], ret))
			return true;
	return false;
}

static bool has_member(char *members, const char *name)
{
	for (char *m = strsep(&members, ","); m; m = strsep(&members, ","))
		if (strcmp(m, name) == 0)
			return true;
	return false;
}

static void find_groups(int fd, struct account *a)
{
	struct lines l = { .fd = fd };
	char *line, *f[4];
	gid_t gid;

	while (a->group_count < ACCOUNT_GROUPS_MAX && (line = lines_next(&l)))
		if (split(line, f, 4) && parse_id(f[2], &gid) &&
		    gid != a->gid && has_member(f[3], a->name))
			a->groups[a->group_count++] = gid;
}

/* A regular file only; takes fd, which may be -1. Opened without waiting, as a
 * FIFO would be for its writer. */
static int only_regular(int fd)
{
	struct stat st;

	if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
		return fd;
	fd_close(&fd);
	return -1;
}

enum { OPEN_FLAGS = O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC };

/* Cuts NAME:GROUP in two; false where it is too long. */
static bool split_user(const char *user, char *name, const char **group)
{
	const char *colon = strchr(user, ':');
	size_t len = colon ? (size_t)(colon - user) : strlen(user);

	if (len >= ACCOUNT_TEXT_MAX)
		return false;
	memcpy(name, user, len);
	name[len] = '\0';
	*group = colon ? colon + 1 : NULL;
	return true;
}

static int find_in(int passwd, int group, const char *user, struct account *a)
{
	char name[ACCOUNT_TEXT_MAX];
	const char *group_name;

	memset(a, 0, sizeof(*a));
	memcpy(a->home, "/", 2);
	memcpy(a->shell, "/bin/sh", 8);
	if (!split_user(user, name, &group_name))
		return -ENOENT;
	bool numeric = parse_id(name, &a->uid);

	if (!find_user(passwd, numeric ? NULL : name, a) && !numeric) {
		if (strcmp(name, "root") != 0)
			return -ENOENT;
		memcpy(a->name, "root", 5);
	}
	if (a->uid == 0 && strcmp(a->home, "/") == 0)
		memcpy(a->home, "/root", 6);
	if (group_name && !parse_id(group_name, &a->gid) &&
	    !find_group(group, group_name, &a->gid))
		return -ENOENT;
	return 0;
}

/* In the box: its root is the only one there is, so links lead nowhere else,
 * and openat2(2) may be refused already (seccomp_rules.c). */
int accounts_find(int etc, const char *user, struct account *ret)
{
	auto_close int passwd =
		etc < 0 ? -1 : only_regular(openat(etc, "passwd", OPEN_FLAGS));
	auto_close int group =
		etc < 0 ? -1 : only_regular(openat(etc, "group", OPEN_FLAGS));
	int r = find_in(passwd, group, user, ret);

	if (r == 0 && ret->name[0] && group >= 0 &&
	    lseek(group, 0, SEEK_SET) == 0)
		find_groups(group, ret);
	return r;
}

/* ---- before the box ---- */

struct ids_answer {
	int result;
	uid_t uid;
	gid_t gid;
};

/*
 * read, write and exit are all that is left: strict mode, or where llmbox was
 * started under a filter, as in a container, which can't be left for it
 * (seccomp(2)), the same as one more filter. By numbers alone: what these are
 * on the 32-bit side of the same processors does nothing either.
 */
static bool only_compute(void)
{
	static struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_read, 3, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct filter f = { code, sizeof(code) / sizeof(code[0]), NULL };

	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) == 0)
		return true;
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
	       filter_load(&f) == 0;
}

static void ids_child(int passwd, int group, const char *user, int answer_fd)
{
	struct ids_answer answer = { 0 };
	struct account a;

	if (only_compute()) {
		answer.result = find_in(passwd, group, user, &a);
		answer.uid = a.uid;
		answer.gid = a.gid;
		if (write(answer_fd, &answer, sizeof(answer)) < 0)
			syscall(SYS_exit, 1);
	}
	syscall(SYS_exit, 0);
}

static int ids_from_tree(const char *user, const char *tree,
			 struct ids_answer *answer)
{
	auto_close int root = open(tree, O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (root < 0)
		return -ENOENT;
	/* Links of the tree are resolved in the tree. */
	auto_close int passwd =
		only_regular(path_open_in(root, "etc/passwd", OPEN_FLAGS, 0));
	auto_close int group =
		only_regular(path_open_in(root, "etc/group", OPEN_FLAGS, 0));
	int pipe_fds[2];

	if (passwd < 0)
		return -ENOENT;
	if (pipe2(pipe_fds, O_CLOEXEC) < 0)
		return -errno;
	pid_t pid = fork();

	if (pid == 0)
		ids_child(passwd, group, user, pipe_fds[1]);
	close(pipe_fds[1]);
	ssize_t n = pid < 0 ? -1 : read(pipe_fds[0], answer, sizeof(*answer));

	close(pipe_fds[0]);
	if (pid > 0)
		kill(pid, SIGKILL);
	while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	return n == sizeof(*answer) ? answer->result : -EIO;
}

/* A descriptor to read text from; -errno. */
static int text_fd(const char *text)
{
	auto_close int fd = memfd_create("accounts", MFD_CLOEXEC);

	if (fd < 0 || fd_write_all(fd, text, strlen(text)) < 0 ||
	    lseek(fd, 0, SEEK_SET) < 0)
		return -EIO;
	return fd_take(fd);
}

/* The made-up files are our own: no child is needed to read them. */
static int ids_from_host_view(const char *user, struct ids_answer *answer)
{
	auto_close int passwd = text_fd(hostview_passwd);
	auto_close int group = text_fd(hostview_group);
	struct account a;

	if (passwd < 0 || group < 0)
		return -EIO;
	int r = find_in(passwd, group, user, &a);

	answer->uid = a.uid;
	answer->gid = a.gid;
	return r;
}

/* Without files: root, and numbers as they are. True where nothing that a file
 * says would change it. */
static bool ids_without_files(const char *user, int *ret_result,
			      struct ids_answer *ret)
{
	struct account a;

	*ret_result = find_in(-1, -1, user, &a);
	ret->uid = a.uid;
	ret->gid = a.gid;
	return *ret_result == 0 && (a.uid == 0 || strchr(user, ':'));
}

bool accounts_ids_known(const char *user, uid_t *ret_uid, gid_t *ret_gid)
{
	struct ids_answer answer = { 0 };
	int result;

	if (!ids_without_files(user, &result, &answer))
		return false;
	*ret_uid = answer.uid;
	*ret_gid = answer.gid;
	return true;
}

int accounts_ids(const char *user, const char *tree, uid_t *ret_uid,
		 gid_t *ret_gid, struct error *err)
{
	struct ids_answer answer = { 0 };
	int r;

	if (!ids_without_files(user, &r, &answer)) {
		struct ids_answer entry = { 0 };
		int r2 = tree ? ids_from_tree(user, tree, &entry)
			      : ids_from_host_view(user, &entry);

		if (r2 == 0)
			answer = entry;
		/* A number needs no entry, and then no group but 0. */
		if (r2 != -ENOENT || r < 0)
			r = r2;
	}
	if (r == -ENOENT) {
		error_set(err, ERROR_POLICY, 0, "user %s is not in the box",
			  user);
		return error_hint(err, "use a number, as in -u 1000:1000");
	}
	if (r < 0)
		return error_set(err, ERROR_INTERNAL, -r, "look up user %s",
				 user);
	*ret_uid = answer.uid;
	*ret_gid = answer.gid;
	return 0;
}
