/* SPDX-License-Identifier: Apache-2.0 */
/* Growing strings and lists of strings. Both own what they hold. */
#ifndef LLMBOX_BUF_H
#define LLMBOX_BUF_H

#include <stdbool.h>
#include <stddef.h>

/* Always ends in a NUL that len does not count; data is NULL while empty. */
struct buf {
	char *data;
	size_t len, size;
};

void buf_add(struct buf *b, const void *data, size_t len);
void buf_adds(struct buf *b, const char *s);
void buf_addf(struct buf *b, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/*
 * For people's eyes: control characters (C0, DEL, C1) and bytes that are not
 * UTF-8 become \ooo. vis(3) would need a locale to let UTF-8 pass.
 */
void buf_add_escaped(struct buf *b, const char *data, size_t len);
/* The string, never NULL; the caller frees it, the buffer is empty again. */
char *buf_take(struct buf *b);
void buf_release(struct buf *b);
#define auto_buf __attribute__((cleanup(buf_release))) struct buf

/*
 * The bytes of the UTF-8 character that data begins with (RFC 3629: no
 * surrogates, no overlong forms, at most U+10FFFF), or 0 where there is none.
 */
size_t utf8_next(const char *data, size_t len);
bool utf8_is_valid(const char *data, size_t len);

/* items ends in a NULL that count does not count; NULL while empty. */
struct strv {
	char **items;
	size_t count;
};

void strv_add(struct strv *v, const char *s);
void strv_add_take(struct strv *v, char *s);
void strv_addf(struct strv *v, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
bool strv_has(const struct strv *v, const char *s);
void strv_release(struct strv *v);
#define auto_strv __attribute__((cleanup(strv_release))) struct strv

/* The nearest of the NULL-terminated names by edit distance, for "did you mean
 * 'memory'?"; NULL where none is near. */
const char *nearest_name(const char *wrong, const char *const *names);

#endif
