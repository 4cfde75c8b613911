/* SPDX-License-Identifier: Apache-2.0 */
/* Between json_read.c and json_explain.c only. */
#ifndef LLMBOX_JSON_INTERNAL_H
#define LLMBOX_JSON_INTERNAL_H

#include "base/json.h"

struct json_reader {
	const char *text; /* len bytes; a NUL need not follow */
	size_t len;
	const char *file;
	struct error *err;
	bool failed; /* *err is filled */

	size_t token; /* where the last token begins */
	size_t pos;   /* behind it: the cursor */

	size_t placed; /* up to here, lines were counted */
	size_t line_begin;
	unsigned line;

	struct json *root;
	struct json *open[JSON_DEPTH_MAX]; /* not closed yet */
	size_t depth;
	struct json *key; /* its value is still to come */
	size_t nodes;
};

/* The error of r, at an offset of the text. Always false. */
bool json_fail(struct json_reader *r, size_t offset, const char *format, ...)
	__attribute__((format(printf, 3, 4), cold));
void json_place(const struct json_reader *r, size_t offset, unsigned *ret_line,
		unsigned *ret_column);
size_t json_skip_blanks(const struct json_reader *r, size_t offset);

/* yajl refused what follows the cursor: says why. Always fills the error. */
void json_explain(struct json_reader *r) __attribute__((cold));

#endif
