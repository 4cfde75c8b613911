/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON: values with their places, also behind escapes, UTF-8 and CRLF; every
 * refusal with its place and sentence; what is written is valid and reads back.
 */
#include "base/json.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"
#include "tests/unit/tap.h"

static struct json *parse(const char *text)
{
	struct json *value = NULL;
	struct error err = { 0 };

	if (json_parse(text, strlen(text), "t", &value, &err) < 0)
		printf("# %u:%u %s\n", err.line, err.column, err.message);
	return value;
}

static void check_place(const struct json *value, unsigned line,
			unsigned column, const char *name)
{
	ok(value && value->line == line && value->column == column,
	   "%s stands at %u:%u", name, line, column);
	if (value)
		printf("# %u:%u\n", value->line, value->column);
}

static void check_places(void)
{
	static const char text[] =
		"{\r\n"
		"\t\"a\\\"\\\\\" : \"x\\u00e9\\ud83d\\ude00\", \"b\":[1, "
		"-2.5e1,null ]\r\n"
		",\"\xc3\xa9\": {\"k\\/\":true}, \"z\":false\n}";
	auto_json *value = parse(text);

	check_place(value, 1, 1, "the object");
	check_place(value->keys[0], 2, 2, "a key with escapes");
	is_str(value->keys[0]->string, "a\"\\", "its text");
	check_place(value->items[0], 2, 12, "a string with escapes");
	is_str(value->items[0]->string, "x\xc3\xa9\xf0\x9f\x98\x80",
	       "its text");
	check_place(value->keys[1], 2, 35, "a key behind it");
	check_place(value->items[1], 2, 39, "an array");
	check_place(value->items[1]->items[0], 2, 40, "a number");
	check_place(value->items[1]->items[1], 2, 43, "a negative one");
	check_place(value->items[1]->items[2], 2, 50, "null");
	check_place(value->keys[2], 3, 2, "a key of two bytes");
	check_place(value->items[2], 3, 8, "the value behind it");
	check_place(value->items[2]->keys[0], 3, 9, "a nested key");
	check_place(value->items[2]->items[0], 3, 15, "true");
	check_place(value->items[3], 3, 26, "false");
	ok(json_get(value, "z") == value->items[3], "json_get finds");
	ok(json_get(value, "y") == NULL, "json_get finds nothing");
	ok(json_get(value->items[1], "y") == NULL, "json_get of an array");
}

static void check_numbers(void)
{
	auto_json *value = parse("[0,-0,9223372036854775807,"
				 "9223372036854775808,-9223372036854775808,"
				 "1e3,1.5,1e308,12345678901234567890]");
	static const enum json_type types[] = {
		JSON_INTEGER, JSON_INTEGER, JSON_INTEGER,
		JSON_NUMBER,  JSON_INTEGER, JSON_NUMBER,
		JSON_NUMBER,  JSON_NUMBER,  JSON_NUMBER,
	};

	is_int((intmax_t)value->count, ARRAY_SIZE(types), "all numbers");
	for (size_t i = 0; i < value->count; i++)
		is_int(value->items[i]->type, types[i], "type of %s",
		       value->items[i]->string);
	is_int(value->items[2]->integer, INT64_MAX, "the largest");
	is_int(value->items[4]->integer, INT64_MIN, "the smallest");
	ok(value->items[5]->number > 999 && value->items[5]->number < 1001,
	   "1e3 is 1000");
	is_str(value->items[5]->string, "1e3", "and keeps how it was written");
}

struct refusal {
	const char *text;
	unsigned line, column;
	const char *message; /* a part of it */
};

static const struct refusal refusals[] = {
	{ "", 1, 1, "empty" },
	{ " \n\t", 1, 1, "nothing but blanks" },
	{ "\xef\xbb\xbf{}", 1, 1, "byte order mark" },
	{ "\xff\xfe{", 1, 1, "UTF-16" },
	{ "{\"a\":\n \"/\xff\"}", 2, 4, "not UTF-8" },
	{ "{\"a\": \"\xc0\x80\"}", 1, 8, "not UTF-8" },
	{ "{\"a\": \"\xed\xa0\x80\"}", 1, 8, "not UTF-8" },
	{ "{\"a\": \"\xf4\x90\x80\x80\"}", 1, 8, "not UTF-8" },
	{ "{\"a\": \"x\\u0000y\"}", 1, 9, "NUL" },
	{ "{\"a\\u0000b\": 1}", 1, 4, "NUL" },
	{ "[\"\\ud800\"]", 1, 3, "half of a surrogate" },
	{ "[\"a\\udc00\"]", 1, 4, "half of a surrogate" },
	{ "[\"\\ud800\\ud800\"]", 1, 3, "half of a surrogate" },
	{ "[\"\\ud800x\"]", 1, 3, "half of a surrogate" },
	{ "{\"a\":1,\n\"b\":2,\"a\":3}", 2, 7, "duplicate key \"a\"" },
	{ "{\"a\":1,\"\\u0061\":3}", 1, 8, "duplicate key \"a\"" },
	{ "{\"c\":1,\"b\":1,\"b\":2,\"c\":3}", 1, 14, "duplicate key \"b\"" },
	{ "[1e400]", 1, 2, "too large" },
	{ "[-1e400]", 1, 2, "too large" },
	{ "{\"a\":1,}", 1, 7, "a comma behind the last key" },
	{ "[1,2 ,\n]", 1, 6, "a comma behind the last element" },
	{ "{\"a\":1 \"b\":2}", 1, 8, "a comma is missing before this" },
	{ "[1\n 2]", 2, 2, "a comma is missing before this" },
	{ "[1,,2]", 1, 4, "a value is missing before this ','" },
	{ "{\"a\":}", 1, 6, "a value is missing before this '}'" },
	{ "{\"a\" 1}", 1, 6, "a ':' is missing" },
	{ "{\"a\"}", 1, 5, "a ':' is missing" },
	{ "{\"a\":1:2}", 1, 7, "':' belongs" },
	{ "{1:2}", 1, 2, "a key in double quotes" },
	{ "{\"a\":1,2:3}", 1, 8, "a key in double quotes" },
	{ "{,}", 1, 2, "a key in double quotes" },
	{ "[1}", 1, 3, "'}' does not close an array" },
	{ "{\"a\":1]", 1, 7, "']' does not close an object" },
	{ "{'a':1}", 1, 2, "double quotes" },
	{ "{a:1}", 1, 2, "double quotes" },
	{ "[True]", 1, 2, "True is not JSON" },
	{ "[NaN]", 1, 2, "NaN is not JSON" },
	{ "[-Infinity]", 1, 2, "digit is missing" },
	{ "[nul]", 1, 2, "nul is not JSON" },
	{ "[truex]", 1, 6, "x is not JSON" },
	{ "[007]", 1, 2, "leading 0" },
	{ "[-01]", 1, 2, "leading 0" },
	{ "{\"m\": 0x10}", 1, 7, "decimal" },
	{ "[+5]", 1, 2, "'+'" },
	{ "[.5]", 1, 2, "digit is missing" },
	{ "[5.]", 1, 2, "behind the number's point" },
	{ "[5e]", 1, 2, "exponent" },
	{ "[512m]", 1, 2, "write it as a string" },
	{ "[1.2.3]", 1, 2, "not a number" },
	{ "// c\n{}", 1, 1, "no comments" },
	{ "/* c */{}", 1, 1, "no comments" },
	{ "{} // c", 1, 4, "no comments" },
	{ "{\"a\":1 # c\n}", 1, 8, "no comments" },
	{ "{\"a\": /* */ 1}", 1, 7, "no comments" },
	{ "{} x", 1, 4, "x is not JSON" },
	{ "{}\n{}", 2, 1, "behind the end" },
	{ "{}}", 1, 3, "behind the end" },
	{ "1 2", 1, 3, "behind the end" },
	{ "{\"a\":\n{\"b\":1", 2, 7, "inside an object that begins in line 2" },
	{ "[1,", 1, 4, "inside an array" },
	{ "{\"a\":", 1, 6, "inside an object" },
	{ "{\"a\"", 1, 5, "inside an object" },
	{ "{", 1, 2, "inside an object" },
	{ "[\"abc]\n", 1, 2, "does not end in its line" },
	{ "[\"abc", 1, 2, "closing" },
	{ "[\"a\tb\"]", 1, 4, "control character" },
	{ "[\"a\\xb\"]", 1, 4, "not an escape" },
	{ "[\"a\\u12g4\"]", 1, 4, "four hexadecimal digits" },
	{ "[1,\f2]", 1, 4, "may not stand here" },
	{ "\v[1]", 1, 1, "may not stand here" },
	{ "[1]\f", 1, 4, "may not stand here" },
	{ "[1\f]", 1, 3, "may not stand here" },
	{ "[\xc2\xa0"
	  "1]",
	  1, 2, "may not stand here" },
	{ "]", 1, 1, "a value is missing before this ']'" },
	{ ":", 1, 1, "a value is expected here" },
};

static void check_refusals(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(refusals); i++) {
		const struct refusal *c = &refusals[i];
		struct json *value = NULL;
		struct error err = { 0 };
		int r = json_parse(c->text, strlen(c->text), "t", &value, &err);

		ok(r < 0 && !value && err.line == c->line &&
			   err.column == c->column &&
			   strstr(err.message, c->message) &&
			   strcmp(err.file, "t") == 0,
		   "refused: %s", c->text);
		printf("# %u:%u %s\n", err.line, err.column, err.message);
	}
}

/* Exactly len bytes, so that a read behind the end is found. */
static int parse_bytes(const char *data, size_t len, struct error *err)
{
	auto_free char *copy = mem_alloc(len);
	struct json *value = NULL;

	memcpy(copy, data, len);
	int r = json_parse(copy, len, "t", &value, err);

	json_free(value);
	return r;
}

static void check_bytes(void)
{
	struct error err;

	ok(parse_bytes("{\0\"\0a", 5, &err) < 0 &&
		   strstr(err.message, "UTF-16"),
	   "UTF-16 without a mark");
	ok(parse_bytes("{}\0", 3, &err) < 0 && strstr(err.message, "NUL") &&
		   err.column == 3,
	   "NUL behind the end");
	ok(parse_bytes("7", 1, &err) == 0, "a lone number");
	ok(parse_bytes("\"\\", 2, &err) < 0, "a string cut in an escape");
	ok(parse_bytes("\"\\u", 3, &err) < 0, "a string cut behind \\u");
	ok(parse_bytes("\"\\ud800", 7, &err) < 0, "cut behind half a pair");
	ok(parse_bytes("[\"\\ud800\"]", 10, &err) < 0,
	   "half a pair at the end");
	for (size_t len = 0; len < sizeof(refusals[0].text); len++)
		parse_bytes("[-1.5e+3", len + 1, &err);
}

static char *nested(size_t depth)
{
	char *text = mem_alloc(2 * depth + 1);

	memset(text, '[', depth);
	memset(text + depth, ']', depth);
	return text;
}

static void check_bounds(void)
{
	struct error err;
	auto_free char *deep = nested(JSON_DEPTH_MAX);
	auto_free char *deeper = nested(JSON_DEPTH_MAX + 1);
	auto_free char *deepest = nested(1000000);

	is_int(parse_bytes(deep, strlen(deep), &err), 0, "depth 64");
	ok(parse_bytes(deeper, strlen(deeper), &err) < 0 && err.column == 65,
	   "depth 65: %s", err.message);
	ok(parse_bytes(deepest, strlen(deepest), &err) < 0, "depth 1000000");

	auto_buf many = { 0 };

	buf_adds(&many, "{");
	for (unsigned i = 0; i < 100000; i++)
		buf_addf(&many, "\"%u\":0,", i);
	buf_adds(&many, "\"77\":1}");
	ok(parse_bytes(many.data, many.len, &err) < 0 &&
		   strstr(err.message, "duplicate key \"77\""),
	   "a duplicate among 100000 keys");
	many.len = 0;
	buf_adds(&many, "[0");
	for (unsigned i = 0; i < (1 << 20); i++)
		buf_adds(&many, ",0");
	buf_adds(&many, "]");
	ok(parse_bytes(many.data, many.len, &err) < 0 &&
		   strstr(err.message, "more than"),
	   "too many values: %s", err.message);
	auto_free char *large = mem_alloc(JSON_SIZE_MAX + 1);

	memset(large, ' ', JSON_SIZE_MAX + 1);
	ok(parse_bytes(large, JSON_SIZE_MAX + 1, &err) < 0 &&
		   strstr(err.message, "MiB"),
	   "too many bytes: %s", err.message);
}

static void write_sample(struct json_writer *w)
{
	json_begin_object(w);
	json_key_string(w, "s", "q\"\\\n\x01/\xc3\xa9\xff\xed\xa0\x80");
	json_key_string(w, "none", NULL);
	json_key_integer(w, "min", INT64_MIN);
	json_key_boolean(w, "yes", true);
	json_key(w, "numbers");
	json_begin_array(w);
	json_number(w, 0.1);
	json_number(w, 1e300);
	json_number(w, 3);
	json_number(w, (double)NAN);
	json_end_array(w);
	json_key(w, "empty");
	json_begin_object(w);
	json_end_object(w);
	json_key(w, "list");
	json_begin_array(w);
	json_begin_array(w);
	json_end_array(w);
	json_null(w);
	json_end_array(w);
	json_bytes(w, "text", "a\0b", 3);
	json_bytes(w, "raw", "\xff\xfe\xfd\xfc", 4);
	json_bytes(w, "two", "\xff\xfe", 2);
	json_end_object(w);
}

static void check_writer(void)
{
	auto_json_writer *w = json_writer_new(false);
	size_t len;

	write_sample(w);
	auto_free char *text = json_writer_take(w, &len);

	is_str(text,
	       "{\"s\":\"q\\\"\\\\\\n\\u0001/\xc3\xa9\xef\xbf\xbd\xef\xbf\xbd"
	       "\xef\xbf\xbd\xef\xbf\xbd\",\"none\":null,"
	       "\"min\":-9223372036854775808,\"yes\":true,"
	       "\"numbers\":[0.1,1e+300,3,null],\"empty\":{},"
	       "\"list\":[[],null],\"text\":\"a\\u0000b\","
	       "\"raw_b64\":\"//79/A==\",\"two_b64\":\"//4=\"}\n",
	       "one line");
	is_int((intmax_t)len, (intmax_t)strlen(text), "its length");
	json_begin_array(w);
	json_integer(w, 1);
	json_end_array(w);
	auto_free char *second = json_writer_take(w, NULL);

	is_str(second, "[1]\n", "a second document");

	auto_json_writer *pretty = json_writer_new(true);

	json_begin_object(pretty);
	json_key_integer(pretty, "a", 1);
	json_key(pretty, "b");
	json_begin_object(pretty);
	json_end_object(pretty);
	json_end_object(pretty);
	auto_free char *lines = json_writer_take(pretty, NULL);

	is_str(lines, "{\n  \"a\": 1,\n  \"b\": {}\n}\n", "indented");
}

int main(void)
{
	check_places();
	check_numbers();
	check_refusals();
	check_bytes();
	check_bounds();
	check_writer();
	return done_testing();
}
