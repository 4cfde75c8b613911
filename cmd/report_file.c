/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/report_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
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

int report_file_open(const char *name, struct report_file *ret,
		     struct error *err)
{
	int fd = -1;

	if (strncmp(name, "fd:", 3) == 0) {
		int r = open_number(name, name + 3, &fd, err);

		if (r < 0)
			return r;
	} else {
		fd = open(name,
			  O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY,
			  0666);
		if (fd < 0)
			return error_set(err, ERROR_USAGE, errno, "--report %s",
					 name);
	}
	*ret = (struct report_file){ .name = name, .fd = fd };
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

	if (r < 0)
		output_line("write the report to %s: %s", f->name,
			    strerror(-r));
	fd_close(&f->fd);
}
