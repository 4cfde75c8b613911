/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a reference to a tree that is held. For an archive, in this order: its
 * identity is in the index (a warm start: a stat, a readlink, a lock); an image
 * of an archive of the same size exists, so the digest is taken and looked up;
 * else it is imported. The last two by one process at a time for one archive.
 */
#include "rootfs/image.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"
#include "rootfs/image_find.h"
#include "rootfs/image_meta.h"
#include "rootfs/import.h"
#include "rootfs/store.h"

void image_release(struct image *image)
{
	free(image->name);
	free(image->id);
	free(image->tree);
	free(image->note);
	fd_close(&image->lock);
	image->name = image->id = image->tree = image->note = NULL;
}

/* ---- what is meant ---- */

bool image_ref_is_path(const char *ref)
{
	return strchr(ref, '/') || path_has_archive_suffix(ref);
}

/* ---- results ---- */

static void image_fill(const struct store *s, const char *id, const char *name,
		       const struct id_layout *ids, int *lock,
		       struct image *ret)
{
	char key[STORE_KEY_MAX];

	store_key(id, ids, key);
	image_release(ret);
	*ret = (struct image){
		.name = mem_strdup(name ? name : ""),
		.id = mem_strdup(id),
		.tree = mem_printf("%s/images/%s/tree", s->path, key),
		.lock = fd_take(*lock),
		.layout = ids->layout,
	};
}

/* ---- directories ---- */

static bool dir_has_content(const char *path)
{
	DIR *dir = opendir(path);
	const struct dirent *e;
	bool found = false;

	/* One that may only be searched can be used, too. */
	if (!dir)
		return errno == EACCES;
	while (!found && (e = readdir(dir)))
		found = strcmp(e->d_name, ".") != 0 &&
			strcmp(e->d_name, "..") != 0;
	closedir(dir);
	return found;
}

static int open_directory(const char *ref, const struct id_layout *ids,
			  struct image *ret, struct error *err)
{
	auto_free char *path = realpath(ref, NULL);

	if (!path)
		return error_set(err, ERROR_IMAGE, errno, "open %s", ref);
	if (strcmp(path, "/") == 0) {
		error_set(err, ERROR_IMAGE, 0,
			  "the host's root directory can't be an image");
		return error_hint(err, "use -r host");
	}
	if (!dir_has_content(path))
		return error_set(err, ERROR_IMAGE, 0,
				 "directory %s is empty, not a root file "
				 "system",
				 path);
	image_release(ret);
	*ret = (struct image){
		.name = mem_strdup(""),
		.id = mem_strdup(""),
		.tree = mem_take(path),
		.lock = -1,
		/* Whether its file system can be idmapped shows when it is. */
		.layout = ids->layout == LAYOUT_SHIFTED ? LAYOUT_PLAIN
							: ids->layout,
		.directory = true,
	};
	return 0;
}

/* ---- archives ---- */

/* Already here, by its identity alone. */
static int open_warm(const struct store *s, const struct stat *st,
		     const struct id_layout *ids, struct image *ret)
{
	char id[STORE_ID_MAX], key[STORE_KEY_MAX];
	auto_close int lock = -1;
	int r = store_index_get(s, st, ids, id);

	if (r < 0)
		return r;
	store_key(id, ids, key);
	r = store_hold(s, key, &lock);
	if (r == 0)
		image_fill(s, id, "", ids, &lock, ret);
	return r;
}

/* Here, but for another user of the box. */
static int open_like(const struct store *s, const char *ref,
		     const struct stat *st, const struct id_layout *ids,
		     const struct image_progress *progress, struct image *ret)
{
	char id[STORE_ID_MAX];
	auto_close int lock = -1;
	int r = store_index_find(s, st, id);

	if (r == 0)
		r = import_copy(s, id, ids, progress, &lock, NULL);
	if (r < 0)
		return r;
	image_fill(s, id, "", ids, &lock, ret);
	auto_free char *path = realpath(ref, NULL);

	if (path)
		image_drop_superseded(s, path, id, ids);
	/* An entry of this identity was found, so it is to be trusted. */
	store_index_put(s, st, ids, id, true);
	return 0;
}

static int open_cold(const struct store *s, int fd, const char *source,
		     bool durable, const struct id_layout *ids,
		     const struct image_progress *progress, struct image *ret,
		     struct error *err)
{
	struct import in = {
		.store = s,
		.fd = fd,
		.source = source,
		.durable = durable,
		.ids = *ids,
		.progress = progress,
	};
	char id[STORE_ID_MAX];
	auto_close int lock = -1;
	auto_free char *note = NULL;
	int r = import_archive(&in, id, &lock, &note, err);

	if (r < 0)
		return error_prefix(err, "%s", source);
	image_fill(s, id, "", ids, &lock, ret);
	ret->note = mem_take(note);
	return 0;
}

static int open_path(const char *ref, const struct id_layout *ids,
		     const struct image_progress *progress, struct image *ret,
		     struct error *err)
{
	auto_store s = STORE_INIT;
	struct stat st;

	if (stat(ref, &st) < 0)
		return error_set(err, ERROR_IMAGE, errno, "open %s", ref);
	if (S_ISDIR(st.st_mode))
		return open_directory(ref, ids, ret, err);
	if (!S_ISREG(st.st_mode) && !S_ISFIFO(st.st_mode))
		return error_set(err, ERROR_IMAGE, 0,
				 "%s is neither an archive nor a directory",
				 ref);
	int r = store_open(&s, err);

	if (r < 0)
		return r;
	if (S_ISREG(st.st_mode) &&
	    (open_warm(&s, &st, ids, ret) == 0 ||
	     open_like(&s, ref, &st, ids, progress, ret) == 0))
		return 0;
	auto_close int fd = open(ref, O_RDONLY | O_CLOEXEC | O_NOCTTY);

	if (fd < 0)
		return error_set(err, ERROR_IMAGE, errno, "open %s", ref);
	return open_cold(&s, fd, ref, false, ids, progress, ret, err);
}

/* ---- names ---- */

static int no_such_image(const struct store *s, const char *ref,
			 struct error *err)
{
	auto_strv names = { 0 };
	const char *nearest = NULL;

	error_set(err, ERROR_IMAGE, 0, "no image is called '%.140s'", ref);
	if (access(ref, F_OK) == 0)
		return error_hint(err,
				  "for the file or directory write "
				  "./%.140s",
				  ref);
	image_names(s, NULL, &names);
	if (names.count)
		nearest = nearest_name(ref, (const char *const *)names.items);
	if (nearest)
		return error_hint(err, "did you mean '%s'?", nearest);
	return error_hint(err,
			  "make one by 'llmbox image import FILE "
			  "%.140s', or name an archive or a directory",
			  ref);
}

static int no_such_tree(const char *ref, int r, struct error *err)
{
	error_set(err, ERROR_IMAGE, r == -ENOENT ? 0 : -r,
		  "image '%s' has no tree for this identity", ref);
	return error_hint(err,
			  "import its archive again: llmbox image import "
			  "FILE %.140s",
			  ref);
}

static int open_name(const char *ref, const struct id_layout *ids,
		     const struct image_progress *progress, struct image *ret,
		     struct error *err)
{
	auto_store s = STORE_INIT;
	char id[STORE_ID_MAX], key[STORE_KEY_MAX];
	auto_close int lock = -1;
	int r = store_open(&s, err);

	if (r < 0)
		return r;
	r = image_find_id(&s, ref, id, err);
	if (r == -ENOENT)
		return no_such_image(&s, ref, err);
	if (r < 0)
		return r;
	store_key(id, ids, key);
	r = store_hold(&s, key, &lock);
	if (r == -ENOENT) {
		struct error copying = { 0 };

		r = import_copy(&s, id, ids, progress, &lock, &copying);
		if (copying.kind != ERROR_NONE) {
			*err = copying;
			return r;
		}
	}
	if (r < 0)
		return no_such_tree(ref, r, err);
	image_fill(&s, id, ref, ids, &lock, ret);
	return 0;
}

int image_open(const char *ref, const struct id_layout *ids,
	       const struct image_progress *progress, struct image *ret,
	       struct error *err)
{
	if (image_ref_is_path(ref))
		return open_path(ref, ids, progress, ret, err);
	return open_name(ref, ids, progress, ret, err);
}

/* ---- import ---- */

/* "dir/debian.tar.zst" is called "debian" unless somebody says otherwise. */
static char *name_of_source(const char *source)
{
	const char *slash = strrchr(source, '/');
	char *name = mem_strdup(slash ? slash + 1 : source);

	while (path_has_archive_suffix(name))
		*strrchr(name, '.') = '\0';
	if (store_name_check(name, NULL) < 0)
		name[0] = '\0';
	return name;
}

int image_import(int fd, const char *source, const char *name,
		 const struct id_layout *ids,
		 const struct image_progress *progress, struct image *ret,
		 struct error *err)
{
	auto_store s = STORE_INIT;
	auto_free char *chosen =
		name ? mem_strdup(name) : name_of_source(source);

	if (name && store_name_check(name, err) < 0)
		return -EINVAL;
	if (name && image_ref_is_path(name)) {
		error_set(err, ERROR_USAGE, 0,
			  "'%s' as an image's name would be taken for a file",
			  name);
		return error_hint(err, "leave the suffix away");
	}
	int r = store_open(&s, err);

	if (r == 0)
		r = open_cold(&s, fd, source, true, ids, progress, ret, err);
	if (r == 0 && *chosen) {
		r = store_name_set(&s, chosen, ret->id, err);
		free(ret->name);
		ret->name = mem_take(chosen);
	}
	return r;
}
