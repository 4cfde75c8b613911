/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fixed buffers, so that an error can be made anywhere, also where no memory
 * may be taken (between clone and exec). A text that is too long is cut.
 */
#include "base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"

static int error_result(const struct error *err)
{
	return err && err->code ? -err->code : -EINVAL;
}

int error_set(struct error *err, enum error_kind kind, int code,
	      const char *format, ...)
{
	va_list args;

	if (!err)
		return code ? -code : -EINVAL;
	/* The arguments may point into *err, as its old message does. */
	char message[sizeof(err->message)];

	va_start(args, format);
	vsnprintf(message, sizeof(message), format, args);
	va_end(args);
	memset(err, 0, sizeof(*err));
	err->kind = kind;
	err->code = code;
	memcpy(err->message, message, sizeof(message));
	return error_result(err);
}

int error_hint(struct error *err, const char *format, ...)
{
	va_list args;

	if (!err)
		return -EINVAL;
	va_start(args, format);
	vsnprintf(err->hint, sizeof(err->hint), format, args);
	va_end(args);
	return error_result(err);
}

int error_at(struct error *err, const char *file, unsigned line,
	     unsigned column)
{
	if (!err)
		return -EINVAL;
	snprintf(err->file, sizeof(err->file), "%s", file);
	err->line = line;
	err->column = column;
	return error_result(err);
}

int error_prefix(struct error *err, const char *format, ...)
{
	char old[sizeof(err->message)], prefix[sizeof(err->message)];
	va_list args;

	if (!err)
		return -EINVAL;
	memcpy(old, err->message, sizeof(old));
	va_start(args, format);
	vsnprintf(prefix, sizeof(prefix), format, args);
	va_end(args);
	int used = snprintf(err->message, sizeof(err->message), "%s: ", prefix);

	if (used > 0 && (size_t)used < sizeof(err->message))
		snprintf(err->message + used,
			 sizeof(err->message) - (size_t)used, "%s", old);
	return error_result(err);
}

void error_format(const struct error *err, struct buf *out)
{
	if (err->file[0]) {
		buf_add_escaped(out, err->file, strlen(err->file));
		if (err->line)
			buf_addf(out, ":%u", err->line);
		if (err->line && err->column)
			buf_addf(out, ":%u", err->column);
		buf_adds(out, ": ");
	}
	buf_add_escaped(out, err->message, strlen(err->message));
	/* An exec's message says more than its errno, which picks the status.
	 */
	if (err->code && err->kind != ERROR_EXEC)
		buf_addf(out, ": %s", strerror(err->code));
	if (err->hint[0]) {
		buf_adds(out, " (");
		buf_add_escaped(out, err->hint, strlen(err->hint));
		buf_adds(out, ")");
	}
}

void error_list_add(struct error_list *list, const struct error *err)
{
	if (list->count == ERROR_LIST_MAX) {
		list->dropped++;
		return;
	}
	list->items =
		mem_resize(list->items, list->count + 1, sizeof(*list->items));
	list->items[list->count++] = *err;
}

void error_list_release(struct error_list *list)
{
	free(list->items);
	memset(list, 0, sizeof(*list));
}
