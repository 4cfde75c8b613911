/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unit tests that speak TAP 13 without a plan in front: each check prints one
 * line, done_testing() prints the plan and gives main's return value. A test
 * file is one program and includes this once.
 */
#ifndef LLMBOX_TAP_H
#define LLMBOX_TAP_H

#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned tap_count, tap_failed;

/* Every part of a name or diagnosis stays on its own TAP line. */
static inline void tap_text(const char *s)
{
	for (; *s; s++) {
		unsigned char c = (unsigned char)*s;

		if (c == '#' || c == '\\' || c < 0x20 || c == 0x7f)
			printf("\\%03o", c);
		else
			putchar(c);
	}
}

__attribute__((format(printf, 1, 0))) static inline void tap_name(
	const char *format, va_list ap)
{
	char name[512];

	vsnprintf(name, sizeof(name), format, ap);
	tap_text(name);
}

static inline bool tap_begin(bool pass)
{
	tap_count++;
	if (!pass)
		tap_failed++;
	printf("%sok %u - ", pass ? "" : "not ", tap_count);
	return pass;
}

static inline void tap_end(bool pass, const char *file, int line)
{
	putchar('\n');
	if (!pass)
		printf("# failed at %s:%d\n", file, line);
	fflush(stdout);
}

__attribute__((format(printf, 4, 5))) static inline bool tap_ok(
	bool pass, const char *file, int line, const char *format, ...)
{
	va_list ap;

	tap_begin(pass);
	va_start(ap, format);
	tap_name(format, ap);
	va_end(ap);
	tap_end(pass, file, line);
	return pass;
}

static inline void tap_diag_str(const char *what, const char *value)
{
	printf("# %s: ", what);
	if (value) {
		putchar('"');
		tap_text(value);
		putchar('"');
	} else {
		printf("NULL");
	}
	putchar('\n');
}

__attribute__((format(printf, 5, 6))) static inline bool tap_is_str(
	const char *got, const char *want, const char *file, int line,
	const char *format, ...)
{
	bool pass = got && want ? !strcmp(got, want) : got == want;
	va_list ap;

	tap_begin(pass);
	va_start(ap, format);
	tap_name(format, ap);
	va_end(ap);
	tap_end(pass, file, line);
	if (!pass) {
		tap_diag_str("got", got);
		tap_diag_str("want", want);
	}
	return pass;
}

__attribute__((format(printf, 5, 6))) static inline bool tap_is_int(
	intmax_t got, intmax_t want, const char *file, int line,
	const char *format, ...)
{
	bool pass = got == want;
	va_list ap;

	tap_begin(pass);
	va_start(ap, format);
	tap_name(format, ap);
	va_end(ap);
	tap_end(pass, file, line);
	if (!pass)
		printf("# got: %" PRIdMAX "\n# want: %" PRIdMAX "\n", got,
		       want);
	return pass;
}

/* One check that can't be made here. In CI (LLMBOX_MUST_WORK=1) that fails. */
static inline void skip(const char *reason)
{
	const char *must = getenv("LLMBOX_MUST_WORK");
	bool pass = !must || strcmp(must, "1") != 0;

	tap_begin(pass);
	printf("%s", pass ? "# SKIP " : "may not be skipped here: ");
	tap_text(reason);
	putchar('\n');
	fflush(stdout);
}

/* "return done_testing();" at the end of main. */
static inline int done_testing(void)
{
	printf("1..%u\n", tap_count);
	fflush(stdout);
	return tap_failed ? 1 : 0;
}

#define ok(pass, ...) tap_ok((pass), __FILE__, __LINE__, __VA_ARGS__)
#define is_str(got, want, ...) \
	tap_is_str((got), (want), __FILE__, __LINE__, __VA_ARGS__)
#define is_int(got, want, ...) \
	tap_is_int((got), (want), __FILE__, __LINE__, __VA_ARGS__)

#endif
