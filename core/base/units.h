/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sizes, times and counts as people write them. Strict: no sign, no space, no
 * empty number, nothing behind the unit, and what does not fit is an error.
 */
#ifndef LLMBOX_UNITS_H
#define LLMBOX_UNITS_H

#include <stdint.h>

struct error;

/*
 * "512m", "1.5g", "64KiB", "1048576": bytes. k, m, g, t (either case, also as
 * kb, kib) are powers of 1024; a plain number is bytes. 0 to INT64_MAX.
 * Errors are ERROR_USAGE and name the text and what would be right.
 */
int units_parse_size(const char *text, int64_t *ret_bytes, struct error *err);

/* "250ms", "5s", "1.5m", "2h", "1d"; a plain number is seconds. Milliseconds;
 * what is above 0 and below 1 ms is an error. */
int units_parse_time(const char *text, int64_t *ret_ms, struct error *err);

/* A whole number from min to max. */
int units_parse_count(const char *text, int64_t min, int64_t max,
		      int64_t *ret_count, struct error *err);

/* "1.5": thousandths, 1500. Above 0, at most 1,000,000 whole ones. */
int units_parse_milli(const char *text, int64_t *ret_milli, struct error *err);

/* The shortest text that the parser above reads back as the same value: "512m",
 * "90s". Owned. */
char *units_format_size(int64_t bytes);
char *units_format_time(int64_t ms);
char *units_format_milli(int64_t milli);

#endif
