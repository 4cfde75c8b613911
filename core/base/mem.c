/* SPDX-License-Identifier: Apache-2.0 */
#include "base/mem.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *mem_alloc(size_t size)
{
	void *p = calloc(1, size ? size : 1);

	if (!p)
		abort();
	return p;
}

void *mem_resize(void *old, size_t count, size_t size)
{
	void *p = reallocarray(old, count ? count : 1, size);

	if (!p)
		abort();
	return p;
}

char *mem_strndup(const char *s, size_t len)
{
	char *p = strndup(s, len);

	if (!p)
		abort();
	return p;
}

char *mem_strdup(const char *s)
{
	return mem_strndup(s, strlen(s));
}

char *mem_printf(const char *format, ...)
{
	va_list args;
	char *p;

	va_start(args, format);
	int len = vasprintf(&p, format, args);

	va_end(args);
	if (len < 0)
		abort();
	return p;
}

void mem_cleanup_free(void *p)
{
	free(*(void **)p);
}
