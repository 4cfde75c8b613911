/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Errors that travel. Every function that can fail returns 0 or more for
 * success and a negative errno for failure, and says in a struct error what
 * was attempted on which object. Only cmd/ prints one, once.
 */
#ifndef LLMBOX_ERROR_H
#define LLMBOX_ERROR_H

#include <stddef.h>

struct buf;

/* What went wrong decides the exit status (cmd) and the report's outcome. */
enum error_kind {
	ERROR_NONE,
	ERROR_USAGE,    /* the command line */
	ERROR_POLICY,   /* a policy file, or what it asks for */
	ERROR_IMAGE,    /* an archive or an image in the store */
	ERROR_HOST,     /* this host can't do or doesn't allow it */
	ERROR_LIMIT,    /* a limit or guarantee that can't be held */
	ERROR_EXEC,     /* the command can't be executed */
	ERROR_STATE,    /* files of the store, caches, named boxes */
	ERROR_INTERNAL, /* a fault of llmbox itself */
};

struct error {
	enum error_kind kind;
	int code;          /* errno, or 0 where it would say nothing */
	char message[768]; /* one lower-case clause, without a full stop */
	char hint[512];    /* the next action, or "" */
	char file[256];    /* with line and column: where in a file, or "" */
	unsigned line;     /* from 1; 0: none */
	unsigned column;   /* from 1, in bytes; 0: none */
};

/*
 * Fills *err (which may be NULL) and forgets what it held. code is a positive
 * errno, or 0. Returns -code, or -EINVAL where code is 0, so that a function
 * can end with "return error_set(...)".
 */
int error_set(struct error *err, enum error_kind kind, int code,
	      const char *format, ...)
	__attribute__((format(printf, 4, 5), cold));

/* Adds the next action. Returns what error_set returned for *err. */
int error_hint(struct error *err, const char *format, ...)
	__attribute__((format(printf, 2, 3), cold));

/* Adds the place. Returns what error_set returned for *err. */
int error_at(struct error *err, const char *file, unsigned line,
	     unsigned column) __attribute__((cold));

/*
 * Puts "context: " before the message, for a caller that knows more of what
 * was attempted. Returns what error_set returned for *err.
 */
int error_prefix(struct error *err, const char *format, ...)
	__attribute__((format(printf, 2, 3), cold));

/*
 * Appends the error as one line without a newline: "file:line:column: message:
 * errno's text (hint)". Control bytes and what is not UTF-8 come escaped.
 */
void error_format(const struct error *err, struct buf *out);

/* Several errors of one file: policy check tells up to ERROR_LIST_MAX. */
enum { ERROR_LIST_MAX = 20 };

struct error_list {
	struct error *items; /* owned */
	size_t count;        /* at most ERROR_LIST_MAX */
	size_t dropped;      /* further ones that were only counted */
};

void error_list_add(struct error_list *list, const struct error *err);
void error_list_release(struct error_list *list);

#endif
