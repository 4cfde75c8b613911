/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory, and cleanup at the end of a scope. The mem_ functions never return
 * NULL: without memory the process ends by abort(3), and a box ends with its
 * supervisor, so nothing goes on half-built. Sizes that come from outside are
 * bounded by the callers before they are asked for.
 */
#ifndef LLMBOX_MEM_H
#define LLMBOX_MEM_H

#include <stddef.h>

/* Zeroed. */
void *mem_alloc(size_t size) __attribute__((malloc, returns_nonnull));
/* An array of count elements; what is added is not zeroed. Frees by free(3). */
void *mem_resize(void *old, size_t count, size_t size)
	__attribute__((returns_nonnull));
char *mem_strdup(const char *s) __attribute__((malloc, returns_nonnull));
char *mem_strndup(const char *s, size_t len)
	__attribute__((malloc, returns_nonnull));
char *mem_printf(const char *format, ...)
	__attribute__((format(printf, 1, 2), malloc, returns_nonnull));

/* Moves a pointer out of a variable, so that its cleanup finds NULL. */
#define mem_take(p)                         \
	({                                  \
		__typeof__(p) taken_ = (p); \
		(p) = NULL;                 \
		taken_;                     \
	})

void mem_cleanup_free(void *p);
#define auto_free __attribute__((cleanup(mem_cleanup_free)))

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

#endif
