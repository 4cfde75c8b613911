/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What people and programs see of llmbox itself: lines on stderr, text on
 * stdout, the exit status. Nothing else in the program prints.
 */
#ifndef LLMBOX_CMD_OUTPUT_H
#define LLMBOX_CMD_OUTPUT_H

#include <stddef.h>

struct error;
struct json_writer;

enum {
	STATUS_OK = 0,
	STATUS_CHECK_FAILED = 1, /* policy check: the file has errors; doctor:
				    the default policy can't be held */
	STATUS_LLMBOX = 125,     /* usage, policy, set-up, a broken box */
	STATUS_NOT_EXECUTABLE = 126,
	STATUS_NOT_FOUND = 127,
};

/* The exit status of an error: the one place where kinds become numbers. */
int output_status(const struct error *err);

/* "llmbox: " and the error as one line on stderr. Returns its status, so that
 * a verb can end with "return output_error(&err)". */
int output_error(const struct error *err);

/* "llmbox: " and one line on stderr. Control bytes come escaped. */
void output_line(const char *format, ...) __attribute__((format(printf, 1, 2)));

/*
 * All of it, also to a descriptor that somebody made non-blocking, and without
 * a death by SIGPIPE or SIGXFSZ, which would lose the command's own exit
 * status. 0 or -errno.
 */
int output_write(int fd, const char *data, size_t len);

/* All of it to stdout. STATUS_OK, or STATUS_LLMBOX after a line on stderr. */
int output_text(const char *data, size_t len);

/* Takes the document out of w and prints it, as output_text. */
int output_json(struct json_writer *w);

#endif
