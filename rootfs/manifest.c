/* SPDX-License-Identifier: Apache-2.0 */
/*
 * docker: manifest.json, a list of images, each with the paths of its
 * configuration and layers. OCI (image-spec, image-layout.md): index.json, a
 * tree of indexes and manifests in blobs/sha256/. Everything is a stranger's:
 * paths are opened beneath the image's directory, sizes and counts bounded, and
 * what has a digest is compared with it before it is used.
 */
#include "rootfs/manifest.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/fd.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/path.h"
#include "rootfs/digest.h"

enum {
	MANIFEST_FILE_MAX = 4 << 20,
	INDEX_DEPTH_MAX = 4,
	HEX_LEN = DIGEST_TEXT - 1,
};

#if defined(__x86_64__)
#define MANIFEST_ARCHITECTURE "amd64"
#elif defined(__aarch64__)
#define MANIFEST_ARCHITECTURE "arm64"
#elif defined(__riscv)
#define MANIFEST_ARCHITECTURE "riscv64"
#elif defined(__powerpc64__)
#define MANIFEST_ARCHITECTURE "ppc64le"
#elif defined(__s390x__)
#define MANIFEST_ARCHITECTURE "s390x"
#else
#define MANIFEST_ARCHITECTURE "unknown"
#endif

void manifest_release(struct manifest *m)
{
	for (size_t i = 0; i < m->count; i++) {
		free(m->layers[i].path);
		free(m->layers[i].digest);
		free(m->layers[i].diff);
	}
	free(m->layers);
	m->layers = NULL;
	m->count = 0;
}

/* ---- files ---- */

int manifest_open(int root_fd, const char *path, struct error *err)
{
	struct stat st;
	/* O_NONBLOCK: a fifo must not hold us. */
	auto_close int fd =
		path_open_in(root_fd, path, O_RDONLY | O_NONBLOCK, 0);

	if (fd < 0)
		return error_set(err, ERROR_IMAGE, -fd,
				 "open '%.200s' of the image", path);
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return error_set(err, ERROR_IMAGE, 0,
				 "'%.200s' of the image is not a file", path);
	return fd_take(fd);
}

int manifest_verify(int fd, const char *path, const char *digest,
		    struct error *err)
{
	char got[DIGEST_TEXT];
	int r = digest_fd(fd, got);

	if (r < 0 || lseek(fd, 0, SEEK_SET) < 0)
		return error_set(err, ERROR_IMAGE, r < 0 ? -r : errno,
				 "read '%.200s' of the image", path);
	if (strcmp(got, digest) != 0)
		return error_set(err, ERROR_IMAGE, 0,
				 "'%.200s' of the image is damaged: its "
				 "SHA-256 is not %.64s",
				 path, digest);
	return 0;
}

static int read_json(int root_fd, const char *path, const char *digest,
		     struct json **ret, struct error *err)
{
	auto_close int fd = manifest_open(root_fd, path, err);
	auto_buf text = { 0 };

	if (fd < 0)
		return fd;
	int r = digest ? manifest_verify(fd, path, digest, err) : 0;

	if (r < 0)
		return r;
	r = fd_read_all(fd, MANIFEST_FILE_MAX, &text);
	if (r < 0)
		return error_set(err, ERROR_IMAGE, -r,
				 "read '%.200s' of the image", path);
	r = json_parse(text.data ? text.data : "", text.len, path, ret, err);
	if (r < 0)
		err->kind = ERROR_IMAGE;
	return r;
}

/* ---- values ---- */

static const char *text_of(const struct json *object, const char *key)
{
	const struct json *v = json_get(object, key);

	return v && v->type == JSON_STRING ? v->string : NULL;
}

static const struct json *array_of(const struct json *object, const char *key)
{
	const struct json *v = json_get(object, key);

	return v && v->type == JSON_ARRAY ? v : NULL;
}

static bool is_hex(const char *text)
{
	return strspn(text, "0123456789abcdef") == HEX_LEN;
}

/* The hex digits of "sha256:...", or NULL. */
static const char *hex_of(const char *digest)
{
	if (!digest || strncmp(digest, "sha256:", 7) != 0 ||
	    strlen(digest) != 7 + HEX_LEN || !is_hex(digest + 7))
		return NULL;
	return digest + 7;
}

static int malformed(const char *path, const char *what, struct error *err)
{
	return error_set(err, ERROR_IMAGE, 0, "'%.200s' of the image: %s", path,
			 what);
}

static int layers_check(const struct json *list, const char *path,
			struct error *err)
{
	if (!list || !list->count)
		return malformed(path, "no layers", err);
	if (list->count > MANIFEST_LAYERS_MAX)
		return malformed(path, "more than 512 layers", err);
	return 0;
}

/* Takes both strings. */
static void layer_add(struct manifest *m, char *path, char *digest)
{
	m->layers = mem_resize(m->layers, m->count + 1, sizeof(*m->layers));
	m->layers[m->count++] = (struct manifest_layer){
		.path = path,
		.digest = digest,
	};
}

/* ---- docker ---- */

/* Config is "HEX.json" or "blobs/sha256/HEX". */
static const char *hex_in_path(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;

	return is_hex(name) && (!name[HEX_LEN] ||
				strcmp(name + HEX_LEN, ".json") == 0)
		       ? name
		       : NULL;
}

static int docker_diffs(int root_fd, const char *config, struct manifest *m,
			struct error *err)
{
	auto_json *json = NULL;
	const char *hex = hex_in_path(config);
	auto_free char *digest = hex ? mem_strndup(hex, HEX_LEN) : NULL;
	int r = read_json(root_fd, config, digest, &json, err);

	if (r < 0)
		return r;
	const struct json *diffs =
		array_of(json_get(json, "rootfs"), "diff_ids");

	if (!diffs || diffs->count != m->count)
		return malformed(config, "its diff_ids are not its layers",
				 err);
	for (size_t i = 0; i < m->count; i++) {
		const struct json *d = diffs->items[i];

		hex = hex_of(d->type == JSON_STRING ? d->string : NULL);
		if (hex)
			m->layers[i].diff = mem_strdup(hex);
	}
	return 0;
}

static int docker_read(int root_fd, struct manifest *m, struct error *err)
{
	static const char file[] = "manifest.json";
	auto_json *json = NULL;
	int r = read_json(root_fd, file, NULL, &json, err);

	if (r < 0)
		return r;
	if (!json || json->type != JSON_ARRAY || !json->count)
		return malformed(file, "no images", err);
	if (json->count > 1) {
		malformed(file, "more than one image", err);
		return error_hint(err, "docker save one image only");
	}
	const struct json *layers = array_of(json->items[0], "Layers");
	const char *config = text_of(json->items[0], "Config");

	r = layers_check(layers, file, err);
	for (size_t i = 0; r == 0 && layers && i < layers->count; i++) {
		const struct json *path = layers->items[i];

		if (path->type != JSON_STRING)
			return malformed(file, "a layer without a path", err);
		const char *hex = strncmp(path->string, "blobs/sha256/", 13)
					  ? NULL
					  : hex_in_path(path->string);

		layer_add(m, mem_strdup(path->string),
			  hex ? mem_strndup(hex, HEX_LEN) : NULL);
	}
	if (r < 0)
		return r;
	return config ? docker_diffs(root_fd, config, m, err)
		      : malformed(file, "no configuration", err);
}

/* ---- OCI ---- */

/* Of a descriptor in an index: for this machine, or for any. Attestations are
 * for "unknown". */
static bool is_for_us(const struct json *descriptor)
{
	const struct json *platform = json_get(descriptor, "platform");
	const char *os = text_of(platform, "os");
	const char *architecture = text_of(platform, "architecture");

	return !platform || (os && strcmp(os, "linux") == 0 && architecture &&
			     strcmp(architecture, MANIFEST_ARCHITECTURE) == 0);
}

/* The only image of an index; *ret_hex points into it. */
static int index_choose(const struct json *list, const char *path,
			const char **ret_hex, struct error *err)
{
	const struct json *chosen = NULL;

	for (size_t i = 0; list && i < list->count; i++) {
		if (!is_for_us(list->items[i]))
			continue;
		if (chosen) {
			malformed(path, "more than one image", err);
			return error_hint(err, "copy one image only");
		}
		chosen = list->items[i];
	}
	if (!chosen)
		return malformed(
			path, "no image for linux/" MANIFEST_ARCHITECTURE, err);
	*ret_hex = hex_of(text_of(chosen, "digest"));
	return *ret_hex ? 0 : malformed(path, "an image without SHA-256", err);
}

static int oci_layers(const struct json *list, const char *path,
		      struct manifest *m, struct error *err)
{
	int r = layers_check(list, path, err);

	for (size_t i = 0; r == 0 && list && i < list->count; i++) {
		const char *hex = hex_of(text_of(list->items[i], "digest"));

		if (!hex)
			return malformed(path, "a layer without SHA-256", err);
		layer_add(m, mem_printf("blobs/sha256/%s", hex),
			  mem_strdup(hex));
	}
	return r;
}

static int oci_read(int root_fd, struct manifest *m, struct error *err)
{
	auto_free char *path = mem_strdup("index.json"), *digest = NULL;

	for (int depth = 0; depth < INDEX_DEPTH_MAX; depth++) {
		auto_json *json = NULL;
		const char *hex;
		int r = read_json(root_fd, path, digest, &json, err);

		if (r < 0)
			return r;
		/* One or the other, whatever its media type says
		 * (CVE-2021-41190: a document read as both). */
		const struct json *layers = json_get(json, "layers");
		const struct json *index = json_get(json, "manifests");

		if (layers && index)
			return malformed(path, "an index and a manifest in one",
					 err);
		if (!index)
			return oci_layers(array_of(json, "layers"), path, m,
					  err);
		r = index_choose(array_of(json, "manifests"), path, &hex, err);
		if (r < 0)
			return r;
		free(digest);
		free(path);
		digest = mem_strdup(hex);
		path = mem_printf("blobs/sha256/%s", digest);
	}
	return malformed(path, "indexes too deep", err);
}

int manifest_read(int root_fd, struct manifest *ret, struct error *err)
{
	auto_manifest m = { 0 };
	struct stat st;
	bool docker = fstatat(root_fd, "manifest.json", &st,
			      AT_SYMLINK_NOFOLLOW) == 0;
	int r = docker ? docker_read(root_fd, &m, err)
		       : oci_read(root_fd, &m, err);

	if (r < 0)
		return r;
	*ret = m;
	m = (struct manifest){ 0 };
	return 0;
}
