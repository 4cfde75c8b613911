/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Why a text is not JSON, in a sentence for the person who wrote it. yajl has
 * refused the text already; here only the words and the place are found, from
 * what was open at the cursor and from the bytes that follow. A byte beyond the
 * end reads as NUL, which the text does not hold.
 */
#include <ctype.h>
#include <string.h>

#include "base/json_internal.h"

enum expected { EXPECT_VALUE, EXPECT_KEY };

static char byte_at(const struct json_reader *r, size_t offset)
{
	return offset < r->len ? r->text[offset] : '\0';
}

static bool digit_at(const struct json_reader *r, size_t offset)
{
	return isdigit((unsigned char)byte_at(r, offset));
}

/* The text ends too early: what was begun is where the error lies. */
static void explain_end(struct json_reader *r)
{
	if (r->depth == 0) {
		json_fail(r, r->len, "the text ends before its value");
		return;
	}
	const struct json *open = r->open[r->depth - 1];

	json_fail(r, r->len,
		  "the text ends inside %s that begins in line %u, column %u",
		  json_type_name(open->type), open->line, open->column);
}

/* Is the string at offset (its opening quote) sound? */
static bool string_is_sound(struct json_reader *r, size_t offset)
{
	size_t at = offset + 1;

	while (byte_at(r, at) != '"') {
		unsigned char c = (unsigned char)byte_at(r, at);

		if (at >= r->len)
			return json_fail(r, offset,
					 "a closing '\"' is missing "
					 "for this string");
		if (c == '\n' || c == '\r')
			return json_fail(r, offset,
					 "this string does not end in its "
					 "line (write a line break as \\n)");
		if (c < 0x20)
			return json_fail(r, at,
					 "a control character in a string "
					 "(write it as \\u%04x)",
					 c);
		if (c != '\\') {
			at++;
			continue;
		}
		char escape = byte_at(r, at + 1);

		if (escape && !strchr("\"\\/bfnrtu", escape))
			return json_fail(r, at,
					 "'\\%c' is not an escape of JSON (a "
					 "backslash itself is '\\\\')",
					 isprint((unsigned char)escape) ? escape
									: '?');
		for (size_t i = 2; escape == 'u' && i < 6; i++)
			if (!isxdigit((unsigned char)byte_at(r, at + i)))
				return json_fail(r, at,
						 "four hexadecimal digits "
						 "must follow \\u");
		at += 2;
	}
	return true;
}

static bool number_is_sound(struct json_reader *r, size_t offset)
{
	size_t at = offset;

	if (byte_at(r, at) == '+')
		return json_fail(r, offset, "a number without '+' in front");
	if (byte_at(r, at) == '-')
		at++;
	if (byte_at(r, at) == '0' && strchr("xXoObB", byte_at(r, at + 1)) &&
	    byte_at(r, at + 1))
		return json_fail(r, offset, "numbers are decimal in JSON");
	if (byte_at(r, at) == '0' && digit_at(r, at + 1))
		return json_fail(r, offset, "a number with a leading 0");
	if (!digit_at(r, at))
		return json_fail(r, offset, "a digit is missing here");
	while (digit_at(r, at))
		at++;
	if (byte_at(r, at) == '.') {
		if (!digit_at(r, at + 1))
			return json_fail(r, offset,
					 "a digit is missing behind the "
					 "number's point");
		for (at++; digit_at(r, at);)
			at++;
	}
	if (byte_at(r, at) == 'e' || byte_at(r, at) == 'E') {
		at++;
		if (byte_at(r, at) == '+' || byte_at(r, at) == '-')
			at++;
		if (!digit_at(r, at))
			return json_fail(r, offset,
					 "a digit is missing in the number's "
					 "exponent");
		while (digit_at(r, at))
			at++;
	}
	if (isalnum((unsigned char)byte_at(r, at)) || byte_at(r, at) == '.' ||
	    byte_at(r, at) == '_')
		return json_fail(r, offset,
				 "not a number (with a unit, write it as a "
				 "string: \"512m\")");
	return true;
}

static bool word_is_sound(struct json_reader *r, size_t offset)
{
	size_t len = 0;

	while (isalnum((unsigned char)byte_at(r, offset + len)) ||
	       (byte_at(r, offset + len) == '_') ||
	       (byte_at(r, offset + len) == '-'))
		len++;
	const char *word = r->text + offset;

	if ((len == 4 && memcmp(word, "true", 4) == 0) ||
	    (len == 5 && memcmp(word, "false", 5) == 0) ||
	    (len == 4 && memcmp(word, "null", 4) == 0))
		return true;
	return json_fail(r, offset,
			 "%.*s is not JSON (strings and keys are written in "
			 "double quotes)",
			 len > 40 ? 40 : (int)len, word);
}

/* Could the token at offset stand anywhere? */
static bool token_is_sound(struct json_reader *r, size_t offset)
{
	unsigned char c = (unsigned char)byte_at(r, offset);

	if (offset >= r->len) {
		explain_end(r);
		return false;
	}
	if (c == '"')
		return string_is_sound(r, offset);
	if (isdigit(c) || c == '-' || c == '+' || c == '.')
		return number_is_sound(r, offset);
	if (isalpha(c) || c == '_')
		return word_is_sound(r, offset);
	if (c == '\'' || c == '`')
		return json_fail(r, offset,
				 "strings and keys are written in double "
				 "quotes");
	if (c == '/' || c == '#')
		return json_fail(r, offset,
				 "JSON has no comments (the key \"comment\" "
				 "may hold one)");
	if (!strchr("{}[]:,", c))
		return json_fail(r, offset,
				 "this character may not stand here");
	return true;
}

/* A token that is sound in itself, but not what is expected here. */
static void explain_misplaced(struct json_reader *r, size_t offset,
			      enum expected expected)
{
	char c = byte_at(r, offset);

	if (expected == EXPECT_KEY)
		json_fail(r, offset, "a key in double quotes is expected here");
	else if (c == ',' || c == '}' || c == ']')
		json_fail(r, offset, "a value is missing before this '%c'", c);
	else
		json_fail(r, offset, "a value is expected here");
}

/* Behind a value of an object or array: a comma or the end is expected. */
static void explain_after_value(struct json_reader *r, size_t at)
{
	const struct json *open = r->open[r->depth - 1];
	bool object = open->type == JSON_OBJECT;
	char c = byte_at(r, at);

	if (c == ',') {
		size_t next = json_skip_blanks(r, at + 1);

		if (byte_at(r, next) == (object ? '}' : ']'))
			json_fail(r, at, "a comma behind the last %s",
				  object ? "key" : "element");
		else if (token_is_sound(r, next))
			explain_misplaced(r, next,
					  object ? EXPECT_KEY : EXPECT_VALUE);
		return;
	}
	if (!token_is_sound(r, at))
		return;
	if (c == '}' || c == ']')
		json_fail(r, at,
			  "'%c' does not close %s that begins in line %u, "
			  "column %u",
			  c, json_type_name(open->type), open->line,
			  open->column);
	else if (c == ':')
		json_fail(r, at, "a ':' belongs between a key and its value");
	else
		json_fail(r, at, "a comma is missing before this");
}

static void explain_in_document(struct json_reader *r, size_t at)
{
	if (r->root) {
		if (token_is_sound(r, at))
			json_fail(r, at,
				  "more text behind the end of the "
				  "document");
		return;
	}
	if (token_is_sound(r, at))
		explain_misplaced(r, at, EXPECT_VALUE);
}

void json_explain(struct json_reader *r)
{
	size_t at = json_skip_blanks(r, r->pos);
	const struct json *open = r->depth ? r->open[r->depth - 1] : NULL;

	/* "007" and "0x10": yajl has called for the 0 already. */
	if (at == r->pos && at > 0 && at < r->len &&
	    strchr("-0123456789", r->text[r->token]) &&
	    !number_is_sound(r, r->token))
		return;
	if (!open) {
		explain_in_document(r, at);
	} else if (r->key) {
		if (byte_at(r, at) == ':')
			at = json_skip_blanks(r, at + 1);
		else if (at < r->len) {
			json_fail(r, at, "a ':' is missing behind the key");
			return;
		}
		if (token_is_sound(r, at))
			explain_misplaced(r, at, EXPECT_VALUE);
	} else if (open->count) {
		explain_after_value(r, at);
	} else if (token_is_sound(r, at)) {
		explain_misplaced(r, at,
				  open->type == JSON_OBJECT ? EXPECT_KEY
							    : EXPECT_VALUE);
	}
}
