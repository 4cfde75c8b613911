/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading JSON. Order: the encoding (the whole text is UTF-8 without a byte
 * order mark), then yajl's lexer and parser over all of it in one call (fed in
 * pieces, yajl is quadratic), and in its callbacks what yajl lets pass.
 *
 * yajl tells no places. But between two tokens of a text that it accepts there
 * are only blanks, commas and colons, and it calls back for every other token
 * in order: so a cursor that skips those always stands on the first byte of the
 * token called for, and moves behind it by the token's own grammar. A byte that
 * is not the one expected there is an error, so the cursor can't drift. For
 * what yajl refuses, json_explain() looks at what follows the cursor.
 *
 * The text is not trusted: depth, nodes and size are bounded.
 */
#include "base/json.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yajl/yajl_parse.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/json_internal.h"
#include "base/mem.h"

enum { NODES_MAX = 1 << 20 };

void json_place(const struct json_reader *r, size_t offset, unsigned *ret_line,
		unsigned *ret_column)
{
	size_t begin = 0;
	unsigned line = 1;

	for (size_t i = 0; i < offset && i < r->len; i++) {
		if (r->text[i] == '\n') {
			line++;
			begin = i + 1;
		}
	}
	*ret_line = line;
	*ret_column = (unsigned)(offset - begin) + 1;
}

bool json_fail(struct json_reader *r, size_t offset, const char *format, ...)
{
	char message[sizeof(r->err->message)];
	unsigned line, column;
	va_list args;

	va_start(args, format);
	vsnprintf(message, sizeof(message), format, args);
	va_end(args);
	error_set(r->err, ERROR_POLICY, 0, "%s", message);
	json_place(r, offset, &line, &column);
	error_at(r->err, r->file, line, column);
	r->failed = true;
	return false; /* as yajl's callbacks say "stop" */
}

/* ---- the tree ---- */

static struct json *node_new(enum json_type type)
{
	struct json *node = mem_alloc(sizeof(*node));

	node->type = type;
	return node;
}

void json_free(struct json *value)
{
	if (!value)
		return;
	for (size_t i = 0; i < value->count; i++) {
		json_free(value->items[i]);
		if (value->keys)
			json_free(value->keys[i]);
	}
	free(value->items);
	free(value->keys);
	free(value->string);
	free(value);
}

void json_cleanup(struct json **value)
{
	json_free(*value);
}

const struct json *json_get(const struct json *object, const char *key)
{
	if (!object || object->type != JSON_OBJECT)
		return NULL;
	for (size_t i = 0; i < object->count; i++)
		if (strcmp(object->keys[i]->string, key) == 0)
			return object->items[i];
	return NULL;
}

const char *json_type_name(enum json_type type)
{
	static const char *const names[] = {
		[JSON_NULL] = "null",        [JSON_BOOLEAN] = "a boolean",
		[JSON_INTEGER] = "a number", [JSON_NUMBER] = "a number",
		[JSON_STRING] = "a string",  [JSON_ARRAY] = "an array",
		[JSON_OBJECT] = "an object",
	};

	return names[type];
}

static void array_add(struct json ***array, size_t count, struct json *node)
{
	if ((count & (count - 1)) == 0)
		*array = mem_resize(*array, count ? count * 2 : 1,
				    sizeof(struct json *));
	(*array)[count] = node;
}

/* Owned by the tree from now on. */
static void node_attach(struct json_reader *r, struct json *node)
{
	if (r->depth == 0) {
		r->root = node;
		return;
	}
	struct json *parent = r->open[r->depth - 1];

	array_add(&parent->items, parent->count, node);
	if (parent->type == JSON_OBJECT)
		array_add(&parent->keys, parent->count, mem_take(r->key));
	parent->count++;
}

/* ---- tokens ---- */

size_t json_skip_blanks(const struct json_reader *r, size_t offset)
{
	while (offset < r->len && strchr(" \t\r\n", r->text[offset]))
		offset++;
	return offset;
}

/*
 * Moves the cursor to the token that yajl calls for; first holds the bytes that
 * it may begin with. A new node of it, or NULL after json_fail.
 */
static struct json *token_begin(struct json_reader *r, enum json_type type,
				const char *first)
{
	size_t at = r->pos;

	while (at < r->len && strchr(" \t\r\n,:", r->text[at]))
		at++;
	if (at == r->len || !strchr(first, r->text[at])) {
		json_fail(r, at, "this character may not stand here");
		return NULL;
	}
	if (++r->nodes > NODES_MAX) {
		json_fail(r, at, "more than %d values", NODES_MAX);
		return NULL;
	}
	for (; r->placed < at; r->placed++) {
		if (r->text[r->placed] == '\n') {
			r->line++;
			r->line_begin = r->placed + 1;
		}
	}
	struct json *node = node_new(type);

	node->line = r->line;
	node->column = (unsigned)(at - r->line_begin) + 1;
	r->token = at;
	r->pos = at + 1;
	return node;
}

static unsigned hex4(const char *s)
{
	char digits[5] = { s[0], s[1], s[2], s[3], '\0' };

	return (unsigned)strtoul(digits, NULL, 16);
}

/* yajl has checked that four digits follow, but makes invalid UTF-8 or '?' of
 * half a pair, and a C string ends at a NUL. */
static bool unicode_escape_check(struct json_reader *r, size_t *at)
{
	unsigned code = hex4(r->text + *at + 2);

	if (code == 0)
		return json_fail(r, *at, "\\u0000 (NUL) in a string");
	if (code >= 0xd800 && code <= 0xdbff) {
		const char *next = r->text + *at + 6;

		if (r->len - *at >= 12 && next[0] == '\\' && next[1] == 'u' &&
		    hex4(next + 2) >= 0xdc00 && hex4(next + 2) <= 0xdfff) {
			*at += 12;
			return true;
		}
	}
	if (code >= 0xd800 && code <= 0xdfff)
		return json_fail(r, *at, "\\u%04x is half of a surrogate pair",
				 code);
	*at += 6;
	return true;
}

/* The cursor stands behind the opening quote; moves it behind the closing. */
static bool string_check(struct json_reader *r)
{
	size_t at = r->pos;

	while (at < r->len && r->text[at] != '"') {
		if (r->text[at] != '\\')
			at++;
		else if (r->text[at + 1] != 'u')
			at += 2;
		else if (!unicode_escape_check(r, &at))
			return false;
	}
	r->pos = at + 1;
	return true;
}

static struct json *string_begin(struct json_reader *r,
				 const unsigned char *value, size_t len)
{
	struct json *node = token_begin(r, JSON_STRING, "\"");

	if (!node)
		return NULL;
	if (!string_check(r)) {
		json_free(node);
		return NULL;
	}
	node->string = mem_strndup((const char *)value, len);
	return node;
}

/* ---- yajl's callbacks: 0 stops ---- */

static int on_word(void *arg, enum json_type type, const char *word, bool value)
{
	struct json_reader *r = arg;
	struct json *node = token_begin(r, type, (char[]){ word[0], '\0' });

	if (!node)
		return 0;
	node->boolean = value;
	r->pos = r->token + strlen(word);
	node_attach(r, node);
	return 1;
}

static int on_null(void *arg)
{
	return on_word(arg, JSON_NULL, "null", false);
}

static int on_boolean(void *arg, int value)
{
	return on_word(arg, JSON_BOOLEAN, value ? "true" : "false", value);
}

static int on_number(void *arg, const char *text, size_t len)
{
	struct json_reader *r = arg;
	struct json *node = token_begin(r, JSON_NUMBER, "-0123456789");

	if (!node)
		return 0;
	r->pos = r->token + len;
	node->string = mem_strndup(text, len);
	node->number = strtod(node->string, NULL);
	node_attach(r, node);
	if (!isfinite(node->number))
		return json_fail(r, r->token, "the number is too large");
	if (strpbrk(node->string, ".eE"))
		return 1;
	errno = 0;
	long long integer = strtoll(node->string, NULL, 10);

	if (errno == 0) {
		node->type = JSON_INTEGER;
		node->integer = integer;
	}
	return 1;
}

static int on_string(void *arg, const unsigned char *value, size_t len)
{
	struct json_reader *r = arg;
	struct json *node = string_begin(r, value, len);

	if (!node)
		return 0;
	node_attach(r, node);
	return 1;
}

static int on_key(void *arg, const unsigned char *value, size_t len)
{
	struct json_reader *r = arg;

	r->key = string_begin(r, value, len);
	return r->key != NULL;
}

static int on_begin(struct json_reader *r, enum json_type type,
		    const char *bracket)
{
	struct json *node = token_begin(r, type, bracket);

	if (!node)
		return 0;
	node_attach(r, node);
	if (r->depth == JSON_DEPTH_MAX)
		return json_fail(r, r->token, "nested deeper than %d",
				 JSON_DEPTH_MAX);
	r->open[r->depth++] = node;
	return 1;
}

static int on_end(struct json_reader *r, const char *bracket)
{
	/* Not a value: only for the cursor. */
	struct json *node = token_begin(r, JSON_NULL, bracket);

	if (!node)
		return 0;
	json_free(node);
	r->depth--;
	return 1;
}

static int on_begin_object(void *arg)
{
	return on_begin(arg, JSON_OBJECT, "{");
}

static int on_begin_array(void *arg)
{
	return on_begin(arg, JSON_ARRAY, "[");
}

static int on_end_array(void *arg)
{
	return on_end(arg, "]");
}

static int key_compare_place(const struct json *a, const struct json *b)
{
	if (a->line != b->line)
		return a->line < b->line ? -1 : 1;
	return a->column < b->column ? -1 : a->column > b->column;
}

static int key_compare(const void *a, const void *b)
{
	const struct json *const *x = a, *const *y = b;
	int order = strcmp((*x)->string, (*y)->string);

	return order ? order : key_compare_place(*x, *y);
}

/* Sorted, since comparing each with each would let a long object hold us. */
static const struct json *duplicate_key(const struct json *object)
{
	const struct json *first = NULL;
	auto_free struct json **sorted =
		mem_resize(NULL, object->count, sizeof(struct json *));

	for (size_t i = 0; i < object->count; i++)
		sorted[i] = object->keys[i];
	qsort(sorted, object->count, sizeof(struct json *), key_compare);
	for (size_t i = 1; i < object->count; i++)
		if (strcmp(sorted[i - 1]->string, sorted[i]->string) == 0 &&
		    (!first || key_compare_place(sorted[i], first) < 0))
			first = sorted[i];
	return first;
}

static int on_end_object(void *arg)
{
	struct json_reader *r = arg;

	if (!on_end(r, "}"))
		return 0;
	const struct json *twice = duplicate_key(r->open[r->depth]);

	if (!twice)
		return 1;
	error_set(r->err, ERROR_POLICY, 0, "duplicate key \"%s\"",
		  twice->string);
	error_at(r->err, r->file, twice->line, twice->column);
	r->failed = true;
	return 0;
}

static const yajl_callbacks callbacks = {
	.yajl_null = on_null,
	.yajl_boolean = on_boolean,
	.yajl_number = on_number,
	.yajl_string = on_string,
	.yajl_start_map = on_begin_object,
	.yajl_map_key = on_key,
	.yajl_end_map = on_end_object,
	.yajl_start_array = on_begin_array,
	.yajl_end_array = on_end_array,
};

/* ---- the document ---- */

static bool encoding_check(struct json_reader *r)
{
	const unsigned char *s = (const unsigned char *)r->text;

	if (r->len > JSON_SIZE_MAX)
		return json_fail(r, 0, "more than %d MiB of JSON",
				 JSON_SIZE_MAX >> 20);
	if (r->len >= 3 && s[0] == 0xef && s[1] == 0xbb && s[2] == 0xbf)
		return json_fail(r, 0,
				 "the text begins with a byte order "
				 "mark: save it as UTF-8 without one");
	if (r->len >= 2 && ((s[0] == 0xff && s[1] == 0xfe) ||
			    (s[0] == 0xfe && s[1] == 0xff) || !s[0] || !s[1]))
		return json_fail(r, 0,
				 "the text is UTF-16 or UTF-32: save it "
				 "as UTF-8");
	for (size_t at = 0; at < r->len;) {
		size_t n = utf8_next(r->text + at, r->len - at);

		if (!n)
			return json_fail(r, at, "the text is not UTF-8 here");
		if (!r->text[at])
			return json_fail(r, at, "a NUL byte");
		at += n;
	}
	if (json_skip_blanks(r, 0) == r->len)
		return json_fail(r, 0, "%s: an object is expected, at least {}",
				 r->len ? "nothing but blanks" : "empty");
	return true;
}

static void *yajl_take(void *ctx __attribute__((unused)), size_t size)
{
	return mem_resize(NULL, size, 1);
}

static void *yajl_resize(void *ctx __attribute__((unused)), void *old,
			 size_t size)
{
	return mem_resize(old, size, 1);
}

static void yajl_give(void *ctx __attribute__((unused)), void *old)
{
	free(old);
}

static void document_parse(struct json_reader *r)
{
	/* yajl does not look at what its allocator returns. */
	yajl_alloc_funcs allocator = { yajl_take, yajl_resize, yajl_give,
				       NULL };
	yajl_handle yajl = yajl_alloc(&callbacks, &allocator, r);
	const unsigned char *text = (const unsigned char *)r->text;

	yajl_config(yajl, yajl_allow_comments, 0);
	yajl_status status = yajl_parse(yajl, text, r->len);

	if (status == yajl_status_ok)
		status = yajl_complete_parse(yajl);
	if (status != yajl_status_ok && !r->failed)
		json_explain(r);
	yajl_free(yajl);
	/* What follows the last token was only yajl's to judge, and it takes
	 * form feeds for blanks. */
	if (!r->failed && json_skip_blanks(r, r->pos) != r->len)
		json_fail(r, json_skip_blanks(r, r->pos),
			  "this character may not stand here");
}

int json_parse(const char *text, size_t len, const char *file,
	       struct json **ret, struct error *err)
{
	struct error local = { 0 };
	struct json_reader r = {
		.text = text,
		.len = len,
		.file = file,
		.err = err ? err : &local,
		.line = 1,
	};

	if (encoding_check(&r))
		document_parse(&r);
	json_free(r.key);
	if (r.failed) {
		json_free(r.root);
		return -EINVAL;
	}
	*ret = r.root;
	return 0;
}
