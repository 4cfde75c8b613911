/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernel resolves, in one call, so that nothing can be swapped between a
 * look and a use; only the lexical functions at the end read paths themselves.
 */
#include "base/path.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fd.h"
#include "base/mem.h"

static int path_openat2(int root_fd, const char *path, int flags, mode_t mode,
			__u64 resolve)
{
	struct open_how how = {
		.flags = (__u64)(flags | O_CLOEXEC),
		.mode = flags & (O_CREAT | __O_TMPFILE) ? mode : 0,
		.resolve = resolve,
	};

	/* EAGAIN: a rename went on elsewhere while ".." was looked up
	 * (openat2(2)); bounded, or a box could hold us here. */
	for (int tries = 0; tries < 100; tries++) {
		long fd =
			syscall(SYS_openat2, root_fd, path, &how, sizeof(how));

		if (fd >= 0)
			return (int)fd;
		if (errno != EAGAIN && errno != EINTR)
			return -errno;
	}
	return -EAGAIN;
}

int path_open_in(int root_fd, const char *path, int flags, mode_t mode)
{
	return path_openat2(root_fd, path, flags, mode,
			    RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS);
}

int path_open_nolink(int root_fd, const char *path, int flags, mode_t mode)
{
	return path_openat2(root_fd, path, flags, mode,
			    RESOLVE_IN_ROOT | RESOLVE_NO_SYMLINKS);
}

int path_open_parent_in(int root_fd, const char *path, const char **ret_name)
{
	const char *name = strrchr(path, '/');

	name = name ? name + 1 : path;
	if (!*name || strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
		return -EINVAL;
	auto_free char *parent =
		name == path ? mem_strdup(".")
			     : mem_strndup(path, (size_t)(name - path));
	int fd = path_open_in(root_fd, parent, O_PATH | O_DIRECTORY, 0);

	if (fd >= 0)
		*ret_name = name;
	return fd;
}

enum { LINKS_MAX = 40 };

/*
 * Makes the last component of prefix. Where it is a link to nothing, *ret_other
 * is what it names: the directory is to be made there.
 */
static int mkdir_or_follow(int root_fd, const char *prefix, mode_t mode,
			   char **ret_other)
{
	char link[PATH_MAX];
	const char *name;
	auto_close int parent = path_open_parent_in(root_fd, prefix, &name);

	if (parent == -EINVAL)
		return 0; /* "." and "..": there, or nothing is */
	if (parent < 0)
		return parent;
	if (mkdirat(parent, name, mode) == 0)
		return 0;
	if (errno != EEXIST)
		return -errno;
	auto_close int there = path_open_in(root_fd, prefix, O_PATH, 0);

	if (there != -ENOENT)
		return there < 0 ? there : 0;
	ssize_t len = readlinkat(parent, name, link, sizeof(link) - 1);

	if (len < 0)
		return -errno;
	link[len] = '\0';
	*ret_other = link[0] == '/' ? mem_strdup(link)
				    : mem_printf("%.*s%s", (int)(name - prefix),
						 prefix, link);
	return 0;
}

static int mkdirs(int root_fd, const char *path, mode_t mode, int links)
{
	auto_free char *copy = mem_strdup(path);

	if (links > LINKS_MAX)
		return -ELOOP;
	/* Each prefix is resolved from the root again: a link half-way may
	 * lead anywhere inside, but never out. */
	for (char *p = copy + strspn(copy, "/"); *p;) {
		char *end = p + strcspn(p, "/");
		char was = *end;
		auto_free char *other = NULL;

		*end = '\0';
		int r = mkdir_or_follow(root_fd, copy, mode, &other);

		*end = was;
		if (r < 0)
			return r;
		if (other) {
			auto_free char *rest = mem_printf("%s%s", other, end);

			return mkdirs(root_fd, rest, mode, links + 1);
		}
		p = end + strspn(end, "/");
	}
	return 0;
}

int path_mkdirs_in(int root_fd, const char *path, mode_t mode)
{
	int fd = path_open_in(root_fd, path, O_PATH | O_DIRECTORY, 0);

	if (fd != -ENOENT)
		return fd;
	int r = mkdirs(root_fd, path, mode, 0);

	return r < 0 ? r : path_open_in(root_fd, path, O_PATH | O_DIRECTORY, 0);
}

bool path_is_normal(const char *path)
{
	if (path[0] != '/')
		return false;
	if (!path[1])
		return true;
	for (const char *p = path; *p;) {
		size_t n = strcspn(p + 1, "/");

		if (n == 0 || (n == 1 && p[1] == '.') ||
		    (n == 2 && p[1] == '.' && p[2] == '.'))
			return false;
		p += 1 + n;
	}
	return true;
}

char *path_normalize(const char *base, const char *path)
{
	auto_free char *whole = path[0] == '/'
					? mem_strdup(path)
					: mem_printf("%s/%s", base, path);
	char *out = mem_alloc(strlen(whole) + 2);
	size_t len = 0;

	for (const char *p = whole; *p;) {
		size_t n = strcspn(p, "/");

		if (n == 2 && p[0] == '.' && p[1] == '.') {
			while (len && out[--len] != '/')
				;
		} else if (n && !(n == 1 && p[0] == '.')) {
			out[len++] = '/';
			memcpy(out + len, p, n);
			len += n;
		}
		p += n + (p[n] == '/');
	}
	if (!len)
		out[len++] = '/';
	out[len] = '\0';
	return out;
}

bool path_has_archive_suffix(const char *path)
{
	static const char *const suffixes[] = {
		".tar",     ".tar.gz", ".tgz",      ".tar.xz", ".txz",
		".tar.zst", ".tzst",   ".tar.bz2",  ".tbz2",   ".tbz",
		".tar.lz4", ".tlz4",   ".tar.lzma", ".tlz",
	};
	size_t len = strlen(path);

	for (size_t i = 0; i < ARRAY_SIZE(suffixes); i++) {
		size_t n = strlen(suffixes[i]);

		if (len > n && strcasecmp(path + len - n, suffixes[i]) == 0)
			return true;
	}
	return false;
}

bool path_is_below(const char *path, const char *dir)
{
	size_t n = strlen(dir);

	if (n == 1)
		return true;
	return strncmp(path, dir, n) == 0 && (!path[n] || path[n] == '/');
}
