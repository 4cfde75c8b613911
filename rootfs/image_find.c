/* SPDX-License-Identifier: Apache-2.0 */
#include "rootfs/image_find.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/fd.h"

enum { ID_PREFIX_MIN = 8 };

static int compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Names in a directory of the store; where it is missing there are none. */
static void dir_names(const struct store *s, const char *name, struct strv *ret)
{
	int fd = openat(s->fd, name,
			O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *e;

	if (!dir) {
		fd_close(&fd);
		return;
	}
	while ((e = readdir(dir)))
		if (e->d_name[0] != '.')
			strv_add(ret, e->d_name);
	closedir(dir);
	if (ret->count)
		qsort(ret->items, ret->count, sizeof(*ret->items), compare);
}

void image_keys(const struct store *s, struct strv *ret)
{
	dir_names(s, "images", ret);
}

void image_names(const struct store *s, const char *id, struct strv *ret)
{
	auto_strv all = { 0 };
	char of[STORE_ID_MAX];

	dir_names(s, "names", &all);
	for (size_t i = 0; i < all.count; i++)
		if (!id || (store_name_get(s, all.items[i], of) == 0 &&
			    strcmp(of, id) == 0))
			strv_add(ret, all.items[i]);
}

static int find_prefix(const struct store *s, const char *prefix,
		       char ret_id[STORE_ID_MAX], struct error *err)
{
	auto_strv keys = { 0 };
	size_t len = strlen(prefix);
	bool found = false;

	image_keys(s, &keys);
	for (size_t i = 0; i < keys.count; i++) {
		const char *key = keys.items[i];

		if (strncmp(key, prefix, len) != 0 ||
		    strlen(key) < STORE_ID_MAX)
			continue;
		if (found && strncmp(key, ret_id, STORE_ID_MAX - 1) != 0)
			return error_set(err, ERROR_IMAGE, 0,
					 "several images have an id that "
					 "begins with %s",
					 prefix);
		memcpy(ret_id, key, STORE_ID_MAX - 1);
		ret_id[STORE_ID_MAX - 1] = '\0';
		found = true;
	}
	return found ? 0 : -ENOENT;
}

int image_find_id(const struct store *s, const char *ref,
		  char ret_id[STORE_ID_MAX], struct error *err)
{
	size_t len = strlen(ref);

	if (store_name_check(ref, NULL) == 0 &&
	    store_name_get(s, ref, ret_id) == 0)
		return 0;
	if (len < ID_PREFIX_MIN || len >= STORE_ID_MAX ||
	    strspn(ref, "0123456789abcdef") != len)
		return -ENOENT;
	return find_prefix(s, ref, ret_id, err);
}
