/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writing JSON. The generator checks the order of calls; an order that makes no
 * document is a fault of the caller and ends the process, so that no half
 * document is ever sent. Strings are made valid UTF-8 first, since yajl's own
 * check lets overlong forms and surrogates pass.
 */
#include "base/json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yajl/yajl_gen.h>

#include "base/buf.h"
#include "base/mem.h"

struct json_writer {
	yajl_gen gen;
	char opened; /* '{' or '[' that waits for what comes, or 0 */
};

static void json_check(yajl_gen_status status)
{
	if (status != yajl_gen_status_ok)
		abort();
}

struct json_writer *json_writer_new(bool pretty)
{
	struct json_writer *w = mem_alloc(sizeof(*w));

	w->gen = yajl_gen_alloc(NULL);
	if (!w->gen)
		abort();
	if (pretty) {
		yajl_gen_config(w->gen, yajl_gen_beautify, 1);
		yajl_gen_config(w->gen, yajl_gen_indent_string, "  ");
	}
	return w;
}

void json_writer_free(struct json_writer *w)
{
	if (!w)
		return;
	yajl_gen_free(w->gen);
	free(w);
}

void json_writer_cleanup(struct json_writer **w)
{
	json_writer_free(*w);
}

/* yajl breaks the line in an empty object too; so the opening bracket waits,
 * and an empty one is written as one word. */
static void json_open(struct json_writer *w)
{
	char opened = w->opened;

	w->opened = 0;
	if (opened == '{')
		json_check(yajl_gen_map_open(w->gen));
	else if (opened)
		json_check(yajl_gen_array_open(w->gen));
}

void json_begin_object(struct json_writer *w)
{
	json_open(w);
	w->opened = '{';
}

void json_end_object(struct json_writer *w)
{
	if (w->opened == '{')
		json_check(yajl_gen_number(w->gen, "{}", 2));
	else
		json_check(w->opened ? yajl_gen_in_error_state
				     : yajl_gen_map_close(w->gen));
	w->opened = 0;
}

void json_begin_array(struct json_writer *w)
{
	json_open(w);
	w->opened = '[';
}

void json_end_array(struct json_writer *w)
{
	if (w->opened == '[')
		json_check(yajl_gen_number(w->gen, "[]", 2));
	else
		json_check(w->opened ? yajl_gen_in_error_state
				     : yajl_gen_array_close(w->gen));
	w->opened = 0;
}

void json_null(struct json_writer *w)
{
	json_open(w);
	json_check(yajl_gen_null(w->gen));
}

void json_boolean(struct json_writer *w, bool value)
{
	json_open(w);
	json_check(yajl_gen_bool(w->gen, value));
}

void json_integer(struct json_writer *w, int64_t value)
{
	json_open(w);
	json_check(yajl_gen_integer(w->gen, value));
}

void json_number(struct json_writer *w, double value)
{
	char text[40];

	if (!isfinite(value)) {
		json_null(w);
		return;
	}
	/* The shortest that reads back as the same; yajl's own form of 0.1 is
	 * 0.10000000000000000555. */
	for (int digits = 15; digits <= 17; digits++) {
		snprintf(text, sizeof(text), "%.*g", digits, value);
		double back = strtod(text, NULL);

		if (back <= value && back >= value)
			break;
	}
	json_open(w);
	json_check(yajl_gen_number(w->gen, text, strlen(text)));
}

void json_string_n(struct json_writer *w, const char *value, size_t len)
{
	auto_buf text = { 0 };

	json_open(w);
	if (!utf8_is_valid(value, len)) {
		for (size_t at = 0; at < len;) {
			size_t n = utf8_next(value + at, len - at);

			if (n)
				buf_add(&text, value + at, n);
			else
				buf_adds(&text, "\xef\xbf\xbd");
			at += n ? n : 1;
		}
		value = text.data;
		len = text.len;
	}
	json_check(yajl_gen_string(w->gen, (const unsigned char *)value, len));
}

void json_string(struct json_writer *w, const char *value)
{
	json_string_n(w, value, strlen(value));
}

void json_key(struct json_writer *w, const char *key)
{
	json_string(w, key);
}

/* RFC 4648, section 4, with padding. */
static void base64_add(struct buf *out, const char *data, size_t len)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				     "abcdefghijklmnopqrstuvwxyz"
				     "0123456789+/";
	const unsigned char *s = (const unsigned char *)data;

	for (size_t i = 0; i < len; i += 3) {
		size_t n = len - i < 3 ? len - i : 3;
		unsigned bits = (unsigned)s[i] << 16;

		if (n > 1)
			bits |= (unsigned)s[i + 1] << 8;
		if (n > 2)
			bits |= s[i + 2];
		char four[4] = {
			digits[bits >> 18],
			digits[bits >> 12 & 63],
			n > 1 ? digits[bits >> 6 & 63] : '=',
			n > 2 ? digits[bits & 63] : '=',
		};

		buf_add(out, four, sizeof(four));
	}
}

void json_bytes(struct json_writer *w, const char *key, const char *data,
		size_t len)
{
	auto_buf text = { 0 };

	if (utf8_is_valid(data, len)) {
		json_key(w, key);
		json_string_n(w, data, len);
		return;
	}
	buf_addf(&text, "%s_b64", key);
	json_key(w, text.data);
	text.len = 0;
	base64_add(&text, data, len);
	json_string_n(w, text.data, text.len);
}

void json_key_string(struct json_writer *w, const char *key, const char *value)
{
	json_key(w, key);
	if (value)
		json_string(w, value);
	else
		json_null(w);
}

void json_key_integer(struct json_writer *w, const char *key, int64_t value)
{
	json_key(w, key);
	json_integer(w, value);
}

void json_key_boolean(struct json_writer *w, const char *key, bool value)
{
	json_key(w, key);
	json_boolean(w, value);
}

char *json_writer_take(struct json_writer *w, size_t *ret_len)
{
	auto_buf text = { 0 };
	const unsigned char *data;
	size_t len;

	json_open(w);
	json_check(yajl_gen_get_buf(w->gen, &data, &len));
	buf_add(&text, data, len);
	if (len && text.data[len - 1] != '\n')
		buf_adds(&text, "\n");
	yajl_gen_reset(w->gen, NULL);
	yajl_gen_clear(w->gen);
	if (ret_len)
		*ret_len = text.len;
	return buf_take(&text);
}
