/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/image_use.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/units.h"
#include "cmd/output.h"
#include "sandbox/idmap.h"

/* The store, or what will hold it: its nearest directory that exists. */
static char *existing_store(void)
{
	char *path = store_path();

	while (path && path[1] && access(path, F_OK) < 0) {
		char *slash = strrchr(path, '/');

		slash[slash == path] = '\0';
	}
	return path;
}

struct id_layout image_use_layout(const struct idmap *ids)
{
	struct id_layout layout = { .layout = LAYOUT_ONE };

	if (ids->identity != IDENTITY_SHIFTED)
		return layout;
	auto_free char *store = existing_store();

	if (store && idmap_is_supported(store)) {
		layout.layout = LAYOUT_PLAIN;
	} else {
		layout.layout = LAYOUT_SHIFTED;
		layout.shift = ids->uid[0].outside;
	}
	return layout;
}

static void meter_tell(void *arg, const char *what, uint64_t entries,
		       uint64_t bytes)
{
	struct image_use_meter *meter = arg;
	auto_buf line = { 0 };

	meter->shown = true;
	buf_adds(&line, "\r\033[Kllmbox: ");
	buf_add_escaped(&line, what, strlen(what));
	buf_addf(&line, ": %llu entries, %llu MiB", (unsigned long long)entries,
		 (unsigned long long)(bytes >> 20));
	(void)output_write(STDERR_FILENO, line.data, line.len);
}

const struct image_progress *image_use_begin(struct image_use_meter *meter,
					     bool quiet)
{
	*meter = (struct image_use_meter){
		.progress = { .tell = meter_tell, .arg = meter },
	};
	return quiet || !isatty(STDERR_FILENO) ? NULL : &meter->progress;
}

void image_use_end(struct image_use_meter *meter)
{
	static const char clear[] = "\r\033[K";

	if (meter->shown)
		(void)output_write(STDERR_FILENO, clear, sizeof(clear) - 1);
	meter->shown = false;
}
