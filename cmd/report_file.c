/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/report_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/fd.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/units.h"
#include "cmd/output.h"
#include "super/report.h"

static int open_number(const char *name, const char *digits, int *ret_fd,
		       struct error *err)
{
	int64_t number;

	if (units_parse_count(digits, STDERR_FILENO + 1, INT_MAX, &number,
			      NULL) < 0) {
		error_set(err, ERROR_USAGE, 0, "--report %s", name);
		return error_hint(err, "fd:N with a number above 2");
	}
	int fd = (int)number, flags = fcntl(fd, F_GETFL);

	if (flags < 0)
		return error_set(err, ERROR_USAGE, errno, "--report %s", name);
	if ((flags & O_PATH) || (flags & O_ACCMODE) == O_RDONLY)
		return error_set(err, ERROR_USAGE, 0,
				 "--report %s: not open for writing", name);
	if (fcntl(fd, F_SETFD, FD_CLOEXEC) < 0)
		return error_set(err, ERROR_USAGE, errno, "--report %s", name);
	*ret_fd = fd;
	return 0;
}

enum { BLANK_MAX = 64 << 10 };

/*
 * Until the end the file says nothing, so that a report of before is not taken
 * for this one should llmbox be killed. Blanked rather than cut: to free a
 * file's blocks and take new ones costs a file system more than all else that
 * llmbox does with files.
 */
static int open_file(const char *name, struct report_file *ret)
{
	static const char blank[512] = { [0 ... 511] = '\n' };
	auto_close int fd =
		open(name, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY, 0666);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		st.st_size = 0;
	if (st.st_size > BLANK_MAX) {
		if (ftruncate(fd, 0) < 0)
			return -errno;
		st.st_size = 0;
	}
	for (off_t at = 0; at < st.st_size; at += (off_t)sizeof(blank)) {
		size_t rest = (size_t)(st.st_size - at);

		if (pwrite(fd, blank,
			   rest < sizeof(blank) ? rest : sizeof(blank), at) < 0)
			return -errno;
	}
	ret->size = (size_t)st.st_size;
	ret->fd = fd_take(fd);
	return 0;
}

int report_file_open(const char *name, struct report_file *ret,
		     struct error *err)
{
	struct report_file f = { .name = name, .fd = -1 };
	int r = 0;

	if (strncmp(name, "fd:", 3) == 0) {
		r = open_number(name, name + 3, &f.fd, err);
		if (r < 0)
			return r;
	} else {
		r = open_file(name, &f);
		if (r < 0)
			return error_set(err, ERROR_USAGE, -r, "--report %s",
					 name);
	}
	*ret = f;
	return 0;
}

void report_file_write(struct report_file *f, const struct result *result,
		       const struct plan *plan)
{
	auto_json_writer *w = json_writer_new(false);
	size_t len;

	if (f->fd < 0)
		return;
	report_write(result, plan, false, w);
	auto_free char *text = json_writer_take(w, &len);
	int r = output_write(f->fd, text, len);

	if (r == 0 && f->size > len && ftruncate(f->fd, (off_t)len) < 0)
		r = -errno;
	if (r < 0)
		output_line("write the report to %s: %s", f->name,
			    strerror(-r));
	fd_close(&f->fd);
}
