/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/progress.h"

#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "cmd/output.h"

static void progress_tell(void *arg, const char *what, uint64_t entries,
			  uint64_t bytes)
{
	struct progress *p = arg;
	auto_buf line = { 0 };

	if (!isatty(STDERR_FILENO))
		return;
	p->shown = true;
	buf_adds(&line, "\r\033[Kllmbox: ");
	buf_add_escaped(&line, what, strlen(what));
	buf_addf(&line, ": %llu entries, %llu MiB", (unsigned long long)entries,
		 (unsigned long long)(bytes >> 20));
	(void)output_write(STDERR_FILENO, line.data, line.len);
}

void progress_init(struct progress *p)
{
	*p = (struct progress){ .to = { .tell = progress_tell, .arg = p } };
}

void progress_end(struct progress *p)
{
	static const char clear[] = "\r\033[K";

	if (p->shown)
		(void)output_write(STDERR_FILENO, clear, sizeof(clear) - 1);
	p->shown = false;
}
