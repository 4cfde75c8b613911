/* SPDX-License-Identifier: Apache-2.0 */
#include "base/dirs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/fd.h"
#include "base/mem.h"

/* XDG: a value that is not absolute is to be ignored. */
static char *dirs_xdg(const char *variable, const char *below_home)
{
	const char *dir = getenv(variable);

	if (dir && dir[0] == '/')
		return mem_printf("%s/llmbox", dir);
	const char *home = getenv("HOME");

	if (!below_home || !home || home[0] != '/')
		return NULL;
	return mem_printf("%s/%s/llmbox", home, below_home);
}

char *dirs_data(void)
{
	if (geteuid() == 0 && !getenv("XDG_DATA_HOME"))
		return mem_strdup("/var/lib/llmbox");
	return dirs_xdg("XDG_DATA_HOME", ".local/share");
}

char *dirs_state(void)
{
	if (geteuid() == 0 && !getenv("XDG_STATE_HOME"))
		return mem_strdup("/var/lib/llmbox/state");
	return dirs_xdg("XDG_STATE_HOME", ".local/state");
}

char *dirs_config(void)
{
	return dirs_xdg("XDG_CONFIG_HOME", ".config");
}

char *dirs_runtime(void)
{
	if (geteuid() == 0 && !getenv("XDG_RUNTIME_DIR"))
		return mem_strdup("/run/llmbox");
	return dirs_xdg("XDG_RUNTIME_DIR", NULL);
}

/* One that can't be made may be there all the same (EROFS, EACCES): only who
 * then misses it has failed. Returns what the first of them failed of. */
static int dirs_make_parents(const char *path)
{
	auto_free char *copy = mem_strdup(path);
	int r = 0;

	for (char *p = strchr(copy + 1, '/'); p; p = strchr(p + 1, '/')) {
		*p = '\0';
		if (r == 0 && mkdir(copy, 0700) < 0 && errno != EEXIST)
			r = -errno;
		*p = '/';
	}
	return r;
}

static int dirs_make(const char *path)
{
	int r = dirs_make_parents(path);

	if (mkdir(path, 0700) == 0 || errno == EEXIST)
		return 0;
	return errno == ENOENT && r < 0 ? r : -errno;
}

static int dirs_elsewhere(struct error *err)
{
	return error_hint(err, "set HOME, or XDG_DATA_HOME and XDG_STATE_HOME, "
			       "to directories of your own");
}

int dirs_open_private(const char *path, struct error *err)
{
	int flags = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
	auto_close int fd = open(path, flags);
	struct stat st;

	if (fd < 0 && errno == ENOENT) {
		int r = dirs_make(path);

		if (r < 0) {
			error_set(err, ERROR_STATE, -r, "make directory %s",
				  path);
			return dirs_elsewhere(err);
		}
		fd = open(path, flags);
	}
	if (fd < 0) {
		error_set(err, ERROR_STATE, errno, "open directory %s", path);
		return dirs_elsewhere(err);
	}
	if (fstat(fd, &st) < 0)
		return error_set(err, ERROR_STATE, errno, "stat %s", path);
	if (st.st_uid != geteuid()) {
		error_set(err, ERROR_STATE, EPERM,
			  "directory %s belongs to uid %u, not to you", path,
			  st.st_uid);
		return dirs_elsewhere(err);
	}
	if (st.st_mode & 077) {
		error_set(err, ERROR_STATE, EPERM,
			  "others may enter directory %s (mode %04o)", path,
			  st.st_mode & 07777);
		return error_hint(err, "chmod 700 %s", path);
	}
	return fd_take(fd);
}
