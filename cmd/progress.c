/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/image_use.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/dirs.h"
#include "base/fd.h"
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

/*
 * Trying it takes a process and a user namespace, a quarter of a whole start.
 * The answer stays the same for one filesystem and one kernel, so it is kept as
 * the text of a symbolic link in the state directory; any doubt tries again.
 */
static bool is_supported(const char *store)
{
	auto_free char *state = store_state_path();
	auto_close int fd = state ? dirs_open_private(state, NULL) : -1;
	char old[PATH_MAX] = "";
	struct utsname kernel;
	struct stat st;

	if (fd < 0 || stat(store, &st) < 0 || uname(&kernel) < 0)
		return idmap_is_supported(store);
	auto_free char *yes =
		mem_printf("%u:%u %s %s yes", major(st.st_dev),
			   minor(st.st_dev), kernel.release, kernel.version);

	if (readlinkat(fd, "idmapped", old, sizeof(old) - 1) > 0 &&
	    strcmp(old, yes) == 0)
		return true;
	bool supported = idmap_is_supported(store);

	(void)unlinkat(fd, "idmapped", 0);
	if (supported)
		(void)!symlinkat(yes, fd, "idmapped");
	return supported;
}

struct id_layout image_use_layout(const struct idmap *ids)
{
	struct id_layout layout = { .layout = LAYOUT_ONE };

	if (ids->identity != IDENTITY_SHIFTED)
		return layout;
	auto_free char *store = existing_store();

	if (store && is_supported(store)) {
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

	if (!isatty(STDERR_FILENO))
		return;
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
	return quiet ? NULL : &meter->progress;
}

void image_use_end(struct image_use_meter *meter)
{
	static const char clear[] = "\r\033[K";

	if (meter->shown)
		(void)output_write(STDERR_FILENO, clear, sizeof(clear) - 1);
	meter->shown = false;
}
