/* SPDX-License-Identifier: Apache-2.0 */
#include "base/buf.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static void buf_reserve(struct buf *b, size_t more)
{
	if (more < b->size - b->len)
		return;
	if (more > SIZE_MAX / 4 || b->len > SIZE_MAX / 4)
		abort();
	size_t size = b->size ? b->size : 64;

	while (size - b->len <= more)
		size *= 2;
	b->data = mem_resize(b->data, size, 1);
	b->size = size;
}

void buf_add(struct buf *b, const void *data, size_t len)
{
	buf_reserve(b, len);
	if (len)
		memcpy(b->data + b->len, data, len);
	b->len += len;
	b->data[b->len] = '\0';
}

void buf_adds(struct buf *b, const char *s)
{
	buf_add(b, s, strlen(s));
}

void buf_addf(struct buf *b, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	int len = vsnprintf(NULL, 0, format, args);

	va_end(args);
	if (len < 0)
		abort();
	buf_reserve(b, (size_t)len);
	va_start(args, format);
	vsnprintf(b->data + b->len, (size_t)len + 1, format, args);
	va_end(args);
	b->len += (size_t)len;
}

void buf_add_escaped(struct buf *b, const char *data, size_t len)
{
	while (len) {
		const unsigned char *s = (const unsigned char *)data;
		size_t n = utf8_next(data, len);
		bool control = s[0] < 0x20 || s[0] == 0x7f ||
			       (n == 2 && s[0] == 0xc2 && s[1] < 0xa0);

		if (n && !control) {
			buf_add(b, data, n);
		} else {
			n = 1;
			buf_addf(b, "\\%03o", s[0]);
		}
		data += n;
		len -= n;
	}
}

char *buf_take(struct buf *b)
{
	buf_reserve(b, 0);
	b->data[b->len] = '\0';
	char *data = b->data;

	*b = (struct buf){ 0 };
	return data;
}

void buf_release(struct buf *b)
{
	free(b->data);
	*b = (struct buf){ 0 };
}

size_t utf8_next(const char *data, size_t len)
{
	const unsigned char *s = (const unsigned char *)data;
	unsigned char low = 0x80, high = 0xbf;
	size_t n;

	if (len == 0)
		return 0;
	if (s[0] < 0x80)
		return 1;
	if (s[0] >= 0xc2 && s[0] <= 0xdf)
		n = 2;
	else if (s[0] >= 0xe0 && s[0] <= 0xef)
		n = 3;
	else if (s[0] >= 0xf0 && s[0] <= 0xf4)
		n = 4;
	else
		return 0;
	if (n > len)
		return 0;
	/* RFC 3629, section 4: the second byte's range depends on the first. */
	if (s[0] == 0xe0)
		low = 0xa0;
	else if (s[0] == 0xed)
		high = 0x9f;
	else if (s[0] == 0xf0)
		low = 0x90;
	else if (s[0] == 0xf4)
		high = 0x8f;
	if (s[1] < low || s[1] > high)
		return 0;
	for (size_t i = 2; i < n; i++)
		if (s[i] < 0x80 || s[i] > 0xbf)
			return 0;
	return n;
}

bool utf8_is_valid(const char *data, size_t len)
{
	while (len) {
		size_t n = utf8_next(data, len);

		if (!n)
			return false;
		data += n;
		len -= n;
	}
	return true;
}

void strv_add_take(struct strv *v, char *s)
{
	v->items = mem_resize(v->items, v->count + 2, sizeof(*v->items));
	v->items[v->count++] = s;
	v->items[v->count] = NULL;
}

void strv_add(struct strv *v, const char *s)
{
	strv_add_take(v, mem_strdup(s));
}

void strv_addf(struct strv *v, const char *format, ...)
{
	va_list args;
	char *s;

	va_start(args, format);
	int len = vasprintf(&s, format, args);

	va_end(args);
	if (len < 0)
		abort();
	strv_add_take(v, s);
}

bool strv_has(const struct strv *v, const char *s)
{
	for (size_t i = 0; i < v->count; i++)
		if (strcmp(v->items[i], s) == 0)
			return true;
	return false;
}

void strv_release(struct strv *v)
{
	for (size_t i = 0; i < v->count; i++)
		free(v->items[i]);
	free(v->items);
	*v = (struct strv){ 0 };
}

enum { NAME_MAX_LEN = 40 };

/* Edit distance where a swap of neighbours counts one, as in "netwrok". */
static unsigned edit_distance(const char *a, const char *b)
{
	unsigned d[3][NAME_MAX_LEN + 1];
	size_t na = strlen(a), nb = strlen(b);

	if (na > NAME_MAX_LEN || nb > NAME_MAX_LEN)
		return UINT32_MAX;
	for (size_t j = 0; j <= nb; j++)
		d[0][j] = (unsigned)j;
	for (size_t i = 1; i <= na; i++) {
		unsigned *row = d[i % 3], *up = d[(i + 2) % 3];
		unsigned *up2 = d[(i + 1) % 3];

		row[0] = (unsigned)i;
		for (size_t j = 1; j <= nb; j++) {
			unsigned best = up[j - 1] + (a[i - 1] != b[j - 1]);

			if (up[j] + 1 < best)
				best = up[j] + 1;
			if (row[j - 1] + 1 < best)
				best = row[j - 1] + 1;
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] &&
			    a[i - 2] == b[j - 1] && up2[j - 2] + 1 < best)
				best = up2[j - 2] + 1;
			row[j] = best;
		}
	}
	return d[na % 3][nb];
}

const char *nearest_name(const char *wrong, const char *const *names)
{
	const char *nearest = NULL;
	unsigned least = (unsigned)strlen(wrong) / 3 + 1;

	for (; *names; names++) {
		unsigned d = edit_distance(wrong, *names);

		if (d <= least && (!nearest || d < least)) {
			nearest = *names;
			least = d;
		}
	}
	return nearest;
}
