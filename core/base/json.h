/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON, strictly RFC 8259: read into a tree in which every value knows its
 * line and column, and written so that the result is always valid UTF-8.
 * yajl does the lexing and the text; what it lets pass is checked here:
 * comments, duplicate keys, NUL and lone surrogates in strings, depth, numbers
 * that do not fit, more than one document, byte order marks.
 */
#ifndef LLMBOX_JSON_H
#define LLMBOX_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;

enum json_type {
	JSON_NULL,
	JSON_BOOLEAN,
	JSON_INTEGER, /* a whole number in int64_t, without '.' or exponent */
	JSON_NUMBER,  /* any other finite number */
	JSON_STRING,
	JSON_ARRAY,
	JSON_OBJECT,
};

struct json {
	enum json_type type;
	unsigned line, column; /* of its first byte, from 1; column in bytes */
	bool boolean;
	int64_t integer;
	double number; /* also of an integer */
	char *string;  /* without NUL inside; numbers: as they were written */
	size_t count;  /* of items, and of keys */
	struct json **items;
	struct json *
		*keys; /* objects: JSON_STRING nodes, same order as items */
};

enum {
	JSON_DEPTH_MAX = 64,
	JSON_SIZE_MAX = 16 << 20, /* bytes of one document */
};

/*
 * Errors: ERROR_POLICY with file:line:column and a sentence a person can act
 * on ("a comma is missing before this", "duplicate key \"a\""), never yajl's
 * words alone. *ret is owned; json_free takes NULL.
 */
int json_parse(const char *text, size_t len, const char *file,
	       struct json **ret, struct error *err);
void json_free(struct json *value);
void json_cleanup(struct json **value);
#define auto_json __attribute__((cleanup(json_cleanup))) struct json

/* The value of a key, or NULL (also where object is not an object). */
const struct json *json_get(const struct json *object, const char *key);
const char *json_type_name(enum json_type type); /* "an object", ... */

/* ---- writing ---- */
struct json_writer;

/* pretty: indented by two spaces, else on one line. Never fails. */
struct json_writer *json_writer_new(bool pretty);
void json_writer_free(struct json_writer *w);
void json_writer_cleanup(struct json_writer **w);
#define auto_json_writer \
	__attribute__((cleanup(json_writer_cleanup))) struct json_writer

void json_begin_object(struct json_writer *w);
void json_end_object(struct json_writer *w);
void json_begin_array(struct json_writer *w);
void json_end_array(struct json_writer *w);
void json_key(struct json_writer *w, const char *key);
void json_null(struct json_writer *w);
void json_boolean(struct json_writer *w, bool value);
void json_integer(struct json_writer *w, int64_t value);
void json_number(struct json_writer *w, double value); /* not finite: null */
/* What is not UTF-8 becomes U+FFFD: for texts of our own and for names. */
void json_string(struct json_writer *w, const char *value);
void json_string_n(struct json_writer *w, const char *value, size_t len);
/*
 * Bytes of a stranger, without loss: "key": text where they are UTF-8, else
 * "key_b64": base64 of all of them.
 */
void json_bytes(struct json_writer *w, const char *key, const char *data,
		size_t len);
/* A key and its value in one call; a NULL string writes null. */
void json_key_string(struct json_writer *w, const char *key, const char *value);
void json_key_integer(struct json_writer *w, const char *key, int64_t value);
void json_key_boolean(struct json_writer *w, const char *key, bool value);

/* The document with a newline at its end, owned by the caller. */
char *json_writer_take(struct json_writer *w, size_t *ret_len);

#endif
