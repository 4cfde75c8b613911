/* SPDX-License-Identifier: Apache-2.0 */
/* Where the store is, and how ids lie in it. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/dirs.h"
#include "base/fd.h"
#include "base/mem.h"
#include "rootfs/store.h"
#include "sandbox/idmap.h"

char *store_path(void)
{
	return dirs_data();
}

char *store_state_path(void)
{
	return dirs_state();
}

/* The store, or what will hold it: its nearest directory that exists. */
static char *existing(const char *store)
{
	char *path = mem_strdup(store);

	while (path[1] && access(path, F_OK) < 0) {
		char *slash = strrchr(path, '/');

		slash[slash == path] = '\0';
	}
	return path;
}

/* The record, "plain-DEVICE": a store that moves to another file system, by a
 * mount or a copy, is tried again. */
static bool is_recorded(int store, char record[32])
{
	char was[32];
	struct stat st;

	if (store < 0 || fstat(store, &st) < 0)
		return false;
	snprintf(record, 32, "plain-%llx", (unsigned long long)st.st_dev);
	ssize_t n = readlinkat(store, "layout", was, sizeof(was) - 1);

	if (n < 0)
		return false;
	was[n] = '\0';
	return strcmp(was, record) == 0;
}

static bool is_plain(void)
{
	auto_free char *path = store_path();
	char record[32];

	if (!path)
		return false;
	auto_close int store =
		open(path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (is_recorded(store, record))
		return true;
	auto_free char *there = existing(path);

	if (!idmap_is_supported(there))
		return false;
	/* Best effort; the next start tries again. */
	if (store >= 0) {
		(void)unlinkat(store, "layout", 0);
		(void)!symlinkat(record, store, "layout");
	}
	return true;
}

struct id_layout image_layout(const struct idmap *ids)
{
	struct id_layout layout = { .layout = LAYOUT_ONE };

	if (ids->identity == IDENTITY_RANGE)
		return (struct id_layout){
			.layout = LAYOUT_RANGE,
			.starts = ids->starts,
			.uid = ids->own_uid,
			.gid = ids->own_gid,
		};
	if (ids->identity != IDENTITY_SHIFTED)
		return layout;
	layout.layout = is_plain() ? LAYOUT_PLAIN : LAYOUT_SHIFTED;
	if (layout.layout == LAYOUT_SHIFTED)
		layout.shift = ids->uid[0].outside;
	return layout;
}
