/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each message is one write(2), so that lines of several processes do not mix,
 * and none is buffered: what was said is out before anything else happens.
 */
#include "cmd/output.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/json.h"
#include "base/mem.h"

int output_status(const struct error *err)
{
	if (err->kind == ERROR_NONE)
		return STATUS_OK;
	if (err->kind != ERROR_EXEC)
		return STATUS_LLMBOX;
	return err->code == ENOENT ? STATUS_NOT_FOUND : STATUS_NOT_EXECUTABLE;
}

static void output_stderr(struct buf *line)
{
	buf_adds(line, "\n");
	/* There is nobody left to tell that stderr can't be written. */
	(void)output_write(STDERR_FILENO, line->data, line->len);
}

int output_error(const struct error *err)
{
	auto_buf line = { 0 };

	buf_adds(&line, "llmbox: ");
	error_format(err, &line);
	output_stderr(&line);
	return output_status(err);
}

void output_line(const char *format, ...)
{
	auto_buf line = { 0 };
	auto_free char *text = NULL;
	va_list args;

	va_start(args, format);
	int len = vasprintf(&text, format, args);

	va_end(args);
	if (len < 0)
		abort();
	buf_adds(&line, "llmbox: ");
	buf_add_escaped(&line, text, (size_t)len);
	output_stderr(&line);
}

int output_write(int fd, const char *data, size_t len)
{
	struct pollfd writable = { .fd = fd, .events = POLLOUT };
	struct sigaction ignore = { .sa_handler = SIG_IGN }, pipe, size;
	int r = 0;

	sigaction(SIGPIPE, &ignore, &pipe);
	sigaction(SIGXFSZ, &ignore, &size);
	while (len && r == 0) {
		ssize_t n = write(fd, data, len);

		if (n >= 0) {
			data += n;
			len -= (size_t)n;
		} else if (errno == EAGAIN) {
			poll(&writable, 1, -1);
		} else if (errno != EINTR) {
			r = -errno;
		}
	}
	sigaction(SIGPIPE, &pipe, NULL);
	sigaction(SIGXFSZ, &size, NULL);
	return r;
}

int output_text(const char *data, size_t len)
{
	int r = output_write(STDOUT_FILENO, data, len);

	/* A reader that has seen enough ("| head -1") is nobody's error. */
	if (r < 0 && r != -EPIPE)
		output_line("write to standard output: %s", strerror(-r));
	return r < 0 ? STATUS_LLMBOX : STATUS_OK;
}

int output_json(struct json_writer *w)
{
	size_t len;
	auto_free char *text = json_writer_take(w, &len);

	return output_text(text, len);
}
