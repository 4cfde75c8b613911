/* SPDX-License-Identifier: Apache-2.0 */
/* Sizes, times and counts: what is read, what is refused, and that what is
 * written reads back as the same value. */
#include "base/units.h"

#include <stdlib.h>

#include "base/error.h"
#include "base/mem.h"
#include "tests/unit/tap.h"

typedef int parser(const char *, int64_t *, struct error *);

struct good {
	const char *text;
	int64_t value;
};

static const struct good sizes[] = {
	{ "0", 0 },
	{ "1048576", 1048576 },
	{ "1k", 1024 },
	{ "512m", 512 << 20 },
	{ "512M", 512 << 20 },
	{ "64KiB", 65536 },
	{ "64kb", 65536 },
	{ "7b", 7 },
	{ "1.5g", INT64_C(3) << 29 },
	{ "0.1k", 102 },
	{ "2t", INT64_C(2) << 40 },
	{ "007", 7 },
	{ "9223372036854775807", INT64_MAX },
	{ "8388607t", INT64_C(8388607) << 40 },
	{ "0.33333333333333333333g", 357913940 },
};

static const char *const bad_sizes[] = {
	"",
	" 1",
	"1 ",
	"-1",
	"+1",
	"k",
	".5m",
	"5.m",
	"1.5",
	"0x10",
	"1e3",
	"inf",
	"nan",
	"1kk",
	"1bb",
	"1kibi",
	"512 m",
	"9223372036854775808",
	"1_0",
	"8388608t",
	"99999999999999999999999g",
	"0.0001k",
	"0.00000000000000000001g",
	"1,5g",
	"1.5b",
	"unlimited",
};

static const struct good times[] = {
	{ "0", 0 },
	{ "5", 5000 },
	{ "0.25", 250 },
	{ "250ms", 250 },
	{ "5s", 5000 },
	{ "1.5m", 90000 },
	{ "2h", 7200000 },
	{ "1d", 86400000 },
	{ "0.0015s", 1 },
	{ "106751991167d", INT64_C(106751991167) * 86400000 },
};

static const char *const bad_times[] = {
	"",   "-5",  "5 s",           "5S",     "5min",     "1h30m", "0.1ms",
	"ms", "1e3", "106751991168d", "0.0001", "infinity",
};

static const struct good millis[] = {
	{ "1", 1000 },     { "1.5", 1500 },           { "0.001", 1 },
	{ "0.3339", 333 }, { "1000000", 1000000000 },
};

static const char *const bad_millis[] = {
	"", "0", "0.0", "0.0009", "-1", "1000001", "1e3", "2 ", "max",
};

static void check_good(const char *what, parser *parse,
		       const struct good *cases, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct error err = { 0 };
		int64_t value = -1;
		int r = parse(cases[i].text, &value, &err);

		ok(r == 0 && value == cases[i].value, "%s %s", what,
		   cases[i].text);
		if (r < 0 || value != cases[i].value)
			printf("# %" PRId64 " %s\n", value, err.message);
	}
}

static void check_bad(const char *what, parser *parse, const char *const *cases,
		      size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct error err = { 0 };
		int64_t value = -1;
		int r = parse(cases[i], &value, &err);

		ok(r < 0 && value == -1 && err.kind == ERROR_USAGE &&
			   strstr(err.message, cases[i]),
		   "%s '%s' is refused: %s", what, cases[i], err.message);
	}
}

static void check_count(void)
{
	struct error err;
	int64_t value = -1;

	is_int(units_parse_count("4096", 1, 4096, &value, &err), 0, "count");
	is_int(value, 4096, "count's value");
	static const char *const bad[] = {
		"",    "0",   "4097",
		"-1",  "1.0", "1k",
		"1e2", " 1",  "99999999999999999999"
	};

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		ok(units_parse_count(bad[i], 1, 4096, &value, &err) < 0,
		   "count '%s' is refused: %s", bad[i], err.message);
	is_int(value, 4096, "a refused count leaves the value alone");
}

static void check_format(const char *what, char *(*format)(int64_t),
			 parser *parse, const struct good *cases, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		auto_free char *text = format(cases[i].value);
		int64_t back = -1;

		is_str(text, cases[i].text, "%s %" PRId64, what,
		       cases[i].value);
		parse(text, &back, NULL);
		is_int(back, cases[i].value, "%s %s reads back", what, text);
	}
}

int main(void)
{
	static const struct good size_texts[] = {
		{ "0", 0 },
		{ "1", 1 },
		{ "1k", 1024 },
		{ "1025", 1025 },
		{ "1.5g", INT64_C(3) << 29 },
		{ "512m", 512 << 20 },
		{ "4t", INT64_C(4) << 40 },
		{ "9223372036854775807", INT64_MAX },
	};
	static const struct good time_texts[] = {
		{ "0s", 0 },        { "1ms", 1 },
		{ "250ms", 250 },   { "5s", 5000 },
		{ "90s", 90000 },   { "5m", 300000 },
		{ "1h", 3600000 },  { "1d", 86400000 },
		{ "90m", 5400000 }, { "9223372036854775.807s", INT64_MAX },
	};
	static const struct good milli_texts[] = {
		{ "1", 1000 },
		{ "1.5", 1500 },
		{ "0.001", 1 },
		{ "10", 10000 },
	};

	check_good("size", units_parse_size, sizes, ARRAY_SIZE(sizes));
	check_bad("size", units_parse_size, bad_sizes, ARRAY_SIZE(bad_sizes));
	check_good("time", units_parse_time, times, ARRAY_SIZE(times));
	check_bad("time", units_parse_time, bad_times, ARRAY_SIZE(bad_times));
	check_good("milli", units_parse_milli, millis, ARRAY_SIZE(millis));
	check_bad("milli", units_parse_milli, bad_millis,
		  ARRAY_SIZE(bad_millis));
	check_count();
	check_format("size", units_format_size, units_parse_size, size_texts,
		     ARRAY_SIZE(size_texts));
	check_format("time", units_format_time, units_parse_time, time_texts,
		     ARRAY_SIZE(time_texts));
	check_format("milli", units_format_milli, units_parse_milli,
		     milli_texts, ARRAY_SIZE(milli_texts));
	return done_testing();
}
