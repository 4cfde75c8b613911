/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sizes, times and counts. Whole decimal arithmetic only: 0.1 has no exact
 * double, and a limit must be the number that was written. What the unit can't
 * express exactly is rounded down, so that a limit never grows.
 */
#include "base/units.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "base/mem.h"

enum { NANO = 1000000000 };

struct decimal {
	uint64_t whole;
	uint64_t nano;    /* of the fraction */
	bool fraction;    /* there was one */
	bool overflow;    /* whole does not fit */
	bool positive;    /* some digit, however small its place, is not 0 */
	const char *unit; /* what follows the number */
};

struct unit {
	const char *name;
	int64_t factor;
};

static const struct unit size_units[] = {
	{ "", 1 },
	{ "k", INT64_C(1) << 10 },
	{ "m", INT64_C(1) << 20 },
	{ "g", INT64_C(1) << 30 },
	{ "t", INT64_C(1) << 40 },
};

static const struct unit time_units[] = {
	{ "ms", 1 },      { "s", 1000 },     { "m", 60000 },
	{ "h", 3600000 }, { "d", 86400000 },
};

/* false where text does not begin with a number. No locale, no sign, no blank:
 * strtod(3) takes all three, and "inf" and "0x10" too. */
static bool decimal_parse(const char *text, struct decimal *ret)
{
	struct decimal d = { 0 };
	const char *p = text;

	for (; *p >= '0' && *p <= '9'; p++) {
		uint64_t digit = (uint64_t)(*p - '0');

		d.positive |= digit != 0;
		if (__builtin_mul_overflow(d.whole, UINT64_C(10), &d.whole) ||
		    __builtin_add_overflow(d.whole, digit, &d.whole))
			d.overflow = true;
	}
	if (p == text)
		return false;
	if (*p == '.') {
		const char *point = p++;
		uint64_t place = NANO / 10;

		for (; *p >= '0' && *p <= '9'; p++, place /= 10) {
			d.nano += (uint64_t)(*p - '0') * place;
			d.positive |= *p != '0';
		}
		if (p == point + 1)
			return false;
		d.fraction = true;
	}
	d.unit = p;
	*ret = d;
	return true;
}

/* -1 where the result is not in int64_t; *ret_lost: something was there, and 0
 * is left of it. */
static int decimal_scale(const struct decimal *d, int64_t factor,
			 int64_t *ret_value, bool *ret_lost)
{
	int64_t whole, part;

	if (d->overflow || d->whole > INT64_MAX ||
	    __builtin_mul_overflow((int64_t)d->whole, factor, &whole))
		return -1;
	part = (int64_t)((unsigned __int128)d->nano * (uint64_t)factor / NANO);
	if (__builtin_add_overflow(whole, part, ret_value))
		return -1;
	*ret_lost = *ret_value == 0 && d->positive;
	return 0;
}

/* "k", "K", "kb", "KiB": a size's letter with what people put behind it. */
static const struct unit *size_unit_find(const char *name)
{
	if (strcasecmp(name, "b") == 0)
		return &size_units[0];
	for (size_t i = 0; i < ARRAY_SIZE(size_units); i++) {
		const char *letter = size_units[i].name;

		if (strncasecmp(name, letter, strlen(letter)) != 0)
			continue;
		const char *rest = name + strlen(letter);

		if (!*rest || (*letter && (strcasecmp(rest, "b") == 0 ||
					   strcasecmp(rest, "ib") == 0)))
			return &size_units[i];
	}
	return NULL;
}

static const struct unit *time_unit_find(const char *name)
{
	if (!*name)
		name = "s";
	for (size_t i = 0; i < ARRAY_SIZE(time_units); i++)
		if (strcmp(name, time_units[i].name) == 0)
			return &time_units[i];
	return NULL;
}

int units_parse_size(const char *text, int64_t *ret_bytes, struct error *err)
{
	struct decimal d;
	const struct unit *unit;
	int64_t bytes;
	bool lost;

	if (!decimal_parse(text, &d) || !(unit = size_unit_find(d.unit))) {
		error_set(err, ERROR_USAGE, 0, "'%s' is not a size", text);
		return error_hint(err, "write bytes as a whole number, or a "
				       "number with k, m, g or t: 512m");
	}
	if (decimal_scale(&d, unit->factor, &bytes, &lost) < 0)
		return error_set(err, ERROR_USAGE, 0, "size '%s' is too large",
				 text);
	if (lost || (d.fraction && unit->factor == 1))
		return error_set(err, ERROR_USAGE, 0,
				 "size '%s' is not a whole number of bytes",
				 text);
	*ret_bytes = bytes;
	return 0;
}

int units_parse_time(const char *text, int64_t *ret_ms, struct error *err)
{
	struct decimal d;
	const struct unit *unit;
	int64_t ms;
	bool lost;

	if (!decimal_parse(text, &d) || !(unit = time_unit_find(d.unit))) {
		error_set(err, ERROR_USAGE, 0, "'%s' is not a time", text);
		return error_hint(err, "write seconds as a number, or a number "
				       "with ms, s, m, h or d: 90s");
	}
	if (decimal_scale(&d, unit->factor, &ms, &lost) < 0)
		return error_set(err, ERROR_USAGE, 0, "time '%s' is too large",
				 text);
	if (lost)
		return error_set(err, ERROR_USAGE, 0,
				 "time '%s' is less than one millisecond",
				 text);
	*ret_ms = ms;
	return 0;
}

int units_parse_count(const char *text, int64_t min, int64_t max,
		      int64_t *ret_count, struct error *err)
{
	struct decimal d;

	if (!decimal_parse(text, &d) || d.fraction || *d.unit)
		return error_set(err, ERROR_USAGE, 0,
				 "'%s' is not a whole number", text);
	if (d.overflow || d.whole > INT64_MAX || (int64_t)d.whole < min ||
	    (int64_t)d.whole > max)
		return error_set(err, ERROR_USAGE, 0,
				 "%s is not in the range of %" PRId64
				 " to %" PRId64,
				 text, min, max);
	*ret_count = (int64_t)d.whole;
	return 0;
}

int units_parse_milli(const char *text, int64_t *ret_milli, struct error *err)
{
	struct decimal d;
	int64_t milli;
	bool lost;

	if (!decimal_parse(text, &d) || *d.unit) {
		error_set(err, ERROR_USAGE, 0, "'%s' is not a number", text);
		return error_hint(err, "write it as 2 or 1.5");
	}
	if (decimal_scale(&d, 1000, &milli, &lost) < 0 ||
	    milli > INT64_C(1000000000))
		return error_set(err, ERROR_USAGE, 0, "%s is too large", text);
	if (milli == 0)
		return error_set(err, ERROR_USAGE, 0,
				 "%s is too small: at least 0.001", text);
	*ret_milli = milli;
	return 0;
}

/* Thousandths of a unit as "1s", "1.5s", "1.25s". */
static void format_thousandths(char *out, size_t size, uint64_t thousandths,
			       const char *unit)
{
	char digits[32];
	int len = snprintf(digits, sizeof(digits), "%" PRIu64 ".%03u",
			   thousandths / 1000, (unsigned)(thousandths % 1000));

	while (digits[len - 1] == '0')
		digits[--len] = '\0';
	if (digits[len - 1] == '.')
		digits[len - 1] = '\0';
	snprintf(out, size, "%s%s", digits, unit);
}

/* The shortest among the units that express value exactly. */
static char *format_shortest(int64_t value, const struct unit *units,
			     size_t count)
{
	char best[40] = "";

	for (size_t i = 0; i < count; i++) {
		unsigned __int128 thousandths = (unsigned __int128)value * 1000;
		uint64_t factor = (uint64_t)units[i].factor;
		char text[40];

		if (thousandths % factor != 0 ||
		    thousandths / factor > UINT64_MAX)
			continue;
		format_thousandths(text, sizeof(text),
				   (uint64_t)(thousandths / factor),
				   units[i].name);
		if (!best[0] || strlen(text) < strlen(best))
			memcpy(best, text, sizeof(best));
	}
	/* Too large for thousandths: then only the smallest unit is sure. */
	if (!best[0])
		snprintf(best, sizeof(best), "%" PRId64 "%s", value,
			 units[0].name);
	return mem_strdup(best);
}

char *units_format_size(int64_t bytes)
{
	return format_shortest(bytes, size_units, ARRAY_SIZE(size_units));
}

char *units_format_time(int64_t ms)
{
	return format_shortest(ms, time_units, ARRAY_SIZE(time_units));
}

char *units_format_milli(int64_t milli)
{
	char text[40];

	format_thousandths(text, sizeof(text), (uint64_t)milli, "");
	return mem_strdup(text);
}
