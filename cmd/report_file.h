/* SPDX-License-Identifier: Apache-2.0 */
/* --report FILE|fd:N: opened before anything else happens, and never by its
 * name again, so that no box can put another file in its place. */
#ifndef LLMBOX_CMD_REPORT_FILE_H
#define LLMBOX_CMD_REPORT_FILE_H

#include <stddef.h>

struct error;
struct plan;
struct result;

struct report_file {
	const char *name; /* as given */
	int fd;           /* -1: no report */
	size_t size;      /* of a file that was there, blank now */
};

/* ERROR_USAGE. */
int report_file_open(const char *name, struct report_file *ret,
		     struct error *err);

/*
 * Writes and closes. That it can't be written is a line on stderr and nothing
 * more: the command's status stays what it was. plan may be NULL.
 */
void report_file_write(struct report_file *f, const struct result *result,
		       const struct plan *plan);

#endif
