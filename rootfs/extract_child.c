/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gives up everything, then unpacks. A fork without exec: it keeps a copy of
 * the parent's memory, so the environment, which may hold tokens, is wiped
 * before the archive is looked at.
 */
#include "rootfs/extract_child.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "rootfs/confine.h"
#include "rootfs/tree_copy.h"
#include "rootfs/unpack.h"

static void wipe_environment(void)
{
	for (char **e = environ; e && *e; e++)
		explicit_bzero(*e, strlen(*e));
}

static int fill_tree(const struct extract_job *job, int from,
		     volatile struct writer_counts *counts, struct error *err)
{
	auto_close int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (root < 0)
		return error_set(err, ERROR_INTERNAL, errno,
				 "open the tree to be filled");
	if (job->copy)
		return tree_copy(from, root, job->copy, counts, err);
	/* Of an archive that says nothing of its root directory. */
	if (job->owners && fchownat(root, "", 0, 0, AT_EMPTY_PATH) < 0)
		return error_set(err, ERROR_HOST, errno,
				 "change the owner of the tree");
	return unpack(from, root, job->owners, &unpack_bounds_default, counts,
		      err);
}

void extract_child(const struct confine_input *c, const struct extract_job *job,
		   int result_fd, volatile struct writer_counts *counts)
{
	struct extract_answer answer;
	int from = job->fd;

	_Static_assert(sizeof(answer) <= 4096, "fits into PIPE_BUF");
	memset(&answer, 0, sizeof(answer));
	answer.magic = EXTRACT_MAGIC;
	umask(0);
	int r = confine_enter(c, &from, &result_fd, &answer.userns_refused,
			      &answer.error);

	if (r == 0) {
		wipe_environment();
		r = fill_tree(job, from, counts, &answer.error);
	}
	answer.failed = r < 0;
	answer.counts = *counts;
	_exit(fd_write_all(result_fd, &answer, sizeof(answer)) < 0);
}
