/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks of single texts: names, ids, paths. Each makes the owned value that
 * the policy keeps. Paths are folded as text only; whether they exist, and what
 * they are, is looked at when the plan is made.
 */
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/path.h"
#include "policy/field.h"

enum { LABEL_MAX = 63, ACCOUNT_MAX = 255 };

/* The largest id is "no id" to the kernel (chown(2)). */
#define ID_LIMIT UINT64_C(4294967295)

static const char *const guarantee_names[] = {
	"memory",    "cpus",       "pids",    "disk",     "inodes",
	"time",      "lifetime",   "idle",    "cpu_time", "output",
	"file_size", "open_files", "network", "syscalls", "landlock",
	"identity",  "keyring",    "proc",    NULL,
};

static bool has_control(const char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < 0x20 || *text == 0x7f)
			return true;
	return false;
}

static bool has_dot_dot(const char *path)
{
	for (const char *p = path; *p; p += strspn(p, "/")) {
		size_t n = strcspn(p, "/");

		if (n == 2 && p[0] == '.' && p[1] == '.')
			return true;
		p += n;
	}
	return false;
}

/* ---- paths ---- */

int clean_source(const struct source *s, const char *text, char **ret,
		 struct error *err)
{
	if (!*text)
		return error_set(err, ERROR_USAGE, 0, "an empty path");
	if (text[0] == '~' && (!text[1] || text[1] == '/')) {
		error_set(err, ERROR_USAGE, 0, "'~' is not replaced in %s",
			  text);
		return error_hint(err, "write the whole path");
	}
	if (text[0] == '/' || s->base) {
		*ret = path_normalize(s->base ? s->base : "/", text);
		return 0;
	}
	auto_free char *cwd = getcwd(NULL, 0);

	/* "(unreachable)/..." is outside of our root (getcwd(2)). */
	if (!cwd || cwd[0] != '/')
		return error_set(err, ERROR_USAGE, cwd ? ENOENT : errno,
				 "find the working directory, from which %s "
				 "counts",
				 text);
	*ret = path_normalize(cwd, text);
	return 0;
}

/* Inside the box: absolute, without "..", else as it would be resolved. NULL
 * after error_set. */
static char *clean_inside(const char *what, const char *text, struct error *err)
{
	if (text[0] != '/')
		error_set(err, ERROR_USAGE, 0,
			  "%s '%s' is not an absolute path", what, text);
	else if (has_dot_dot(text))
		error_set(err, ERROR_USAGE, 0, "'..' in %s '%s'", what, text);
	else if (strlen(text) >= PATH_MAX)
		error_set(err, ERROR_USAGE, 0, "%s '%.60s...' is too long",
			  what, text);
	else
		return path_normalize("/", text);
	return NULL;
}

int clean_target(const char *text, char **ret, struct error *err)
{
	auto_free char *target = clean_inside("target", text, err);

	if (!target)
		return -EINVAL;
	if (strcmp(target, "/") == 0) {
		error_set(err, ERROR_USAGE, 0, "'/' can't be a target");
		return error_hint(err, "the root is the image's: -r, "
				       "rootfs.image");
	}
	/* What the box's own /proc and /dev promise must not be covered. */
	if (path_is_below(target, "/proc") || path_is_below(target, "/sys") ||
	    strcmp(target, "/dev") == 0)
		return error_set(err, ERROR_USAGE, 0,
				 "target '%s' is the box's own", target);
	*ret = mem_take(target);
	return 0;
}

int clean_workdir(const struct source *s __attribute__((unused)),
		  const char *text, char **ret, struct error *err)
{
	*ret = clean_inside("working directory", text, err);
	return *ret ? 0 : -EINVAL;
}

int clean_image(const struct source *s, const char *text, char **ret,
		struct error *err)
{
	if (strcmp(text, "host") == 0) {
		*ret = NULL;
		return 0;
	}
	if (strchr(text, '/') || path_has_archive_suffix(text) ||
	    strcmp(text, ".") == 0 || strcmp(text, "..") == 0)
		return clean_source(s, text, ret, err);
	if (!*text || text[0] == '-' || has_control(text))
		return error_set(err, ERROR_USAGE, 0,
				 "'%s' is not the name of an image", text);
	*ret = mem_strdup(text);
	return 0;
}

/* ---- names ---- */

static bool is_number(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (!isdigit((unsigned char)text[i]))
			return false;
	return len > 0;
}

/* One part of NAME|UID:GROUP|GID. A name begins with no digit, so that 0x10 or
 * 010 never is one. */
static int account_check(const char *text, size_t len, const char *what,
			 struct error *err)
{
	if (is_number(text, len)) {
		if (len > 10 || strtoull(text, NULL, 10) >= ID_LIMIT)
			return error_set(err, ERROR_USAGE, 0,
					 "%s '%.*s' is not in the range of 0 "
					 "to 4294967294",
					 what, (int)len, text);
		if (len == 1 || text[0] != '0')
			return 0;
	}
	bool name = len > 0 && len <= ACCOUNT_MAX &&
		    !isdigit((unsigned char)text[0]) && text[0] != '-' &&
		    text[0] != '+' && text[0] != '.';

	for (size_t i = 0; i < len && name; i++)
		name = isalnum((unsigned char)text[i]) ||
		       strchr("_-.$@\\", text[i]) ||
		       (unsigned char)text[i] > 127;
	if (name)
		return 0;
	return error_set(err, ERROR_USAGE, 0, "'%.*s' is not a %s",
			 len > 60 ? 60 : (int)len, text, what);
}

int clean_user(const struct source *s __attribute__((unused)), const char *text,
	       char **ret, struct error *err)
{
	size_t len = strcspn(text, ":");
	int r = account_check(text, len, "user name or id", err);

	if (r == 0 && text[len])
		r = account_check(text + len + 1, strlen(text + len + 1),
				  "group name or id", err);
	if (r < 0)
		return r;
	*ret = mem_strdup(text);
	return 0;
}

/* RFC 1123, section 2.1. */
static bool is_host_label(const char *text, size_t len)
{
	if (len == 0 || len > LABEL_MAX || text[0] == '-' ||
	    text[len - 1] == '-')
		return false;
	for (size_t i = 0; i < len; i++)
		if (!isalnum((unsigned char)text[i]) && text[i] != '-')
			return false;
	return true;
}

bool is_host_name(const char *text, size_t len)
{
	while (len) {
		const char *dot = memchr(text, '.', len);
		size_t n = dot ? (size_t)(dot - text) : len;

		if (!is_host_label(text, n))
			return false;
		if (!dot)
			return true;
		text += n + 1;
		len -= n + 1;
	}
	return false;
}

int clean_hostname(const struct source *s __attribute__((unused)),
		   const char *text, char **ret, struct error *err)
{
	size_t len = strlen(text);

	if (len > HOST_NAME_MAX)
		return error_set(err, ERROR_USAGE, 0,
				 "host name '%.80s' is longer than %d bytes",
				 text, HOST_NAME_MAX);
	if (!is_host_name(text, len)) {
		error_set(err, ERROR_USAGE, 0, "'%s' is not a host name", text);
		return error_hint(err, "letters, digits and '-', in parts "
				       "joined by '.'");
	}
	*ret = mem_strdup(text);
	return 0;
}

int clean_env_name(const struct source *s __attribute__((unused)),
		   const char *text, char **ret, struct error *err)
{
	if (!*text || strchr(text, '=') || has_control(text))
		return error_set(err, ERROR_USAGE, 0,
				 "'%s' can't name an environment variable",
				 text);
	*ret = mem_strdup(text);
	return 0;
}

int clean_syscall(const struct source *s __attribute__((unused)),
		  const char *text, char **ret, struct error *err)
{
	/* A call, or a group with '@' in front. */
	const char *name = text + (*text == '@');

	for (const char *p = name; *p || p == name; p++)
		if (!islower((unsigned char)*p) &&
		    !isdigit((unsigned char)*p) &&
		    *p != (*text == '@' ? '-' : '_'))
			return error_set(err, ERROR_USAGE, 0,
					 "'%s' can't name a system call", text);
	*ret = mem_strdup(text);
	return 0;
}

int clean_guarantee(const struct source *s __attribute__((unused)),
		    const char *text, char **ret, struct error *err)
{
	if (choice_parse(guarantee_names, text, err) < 0) {
		const char *near = nearest_name(text, guarantee_names);

		error_set(err, ERROR_USAGE, 0,
			  "'%.60s' is not a limit or guarantee", text);
		if (near)
			return error_hint(err, "did you mean '%s'?", near);
		auto_buf all = { 0 };

		for (size_t i = 0; guarantee_names[i]; i++)
			buf_addf(&all, "%s%s", i ? ", " : "",
				 guarantee_names[i]);
		return error_hint(err, "there are %s", all.data);
	}
	*ret = mem_strdup(text);
	return 0;
}
