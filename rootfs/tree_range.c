/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a box with a range leaves belongs to subordinate ids, over which the
 * caller has rights only as the root of a user namespace that maps them. That
 * costs two programs and two processes: only where plain removal was refused.
 */
#include <errno.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "rootfs/tree.h"
#include "sandbox/idmap.h"

static int remove_joined(int userns, int dirfd, const char *name)
{
	int status;
	pid_t pid = fork();

	if (pid < 0)
		return -errno;
	if (pid == 0) {
		int r = idmap_join(userns);

		_exit(r < 0 ? -r : -tree_remove(dirfd, name));
	}
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	return WIFEXITED(status) ? -WEXITSTATUS(status) : -EINTR;
}

int tree_remove_owned(int dirfd, const char *name,
		      const struct idmap_starts *starts)
{
	struct idmap_starts own;
	struct idmap map;
	int r = tree_remove(dirfd, name);

	if ((r != -EACCES && r != -EPERM) || geteuid() == 0)
		return r;
	if (!starts && idmap_range_choose(&own, NULL) < 0)
		return r;
	idmap_range_fill_all(starts ? starts : &own, &map);
	auto_close int userns = idmap_userns(&map, NULL);

	return userns < 0 ? r : remove_joined(userns, dirfd, name);
}
