/* SPDX-License-Identifier: Apache-2.0 */
/* image import, list, inspect, remove and prune. */
#include "rootfs/image.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/fd.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/units.h"
#include "cmd/output.h"
#include "cmd/parse.h"
#include "cmd/progress.h"
#include "cmd/verb.h"
#include "policy/policy.h"
#include "sandbox/idmap.h"

static int open_archive(const char *name, struct error *err)
{
	bool standard_input = strcmp(name, "-") == 0;

	if (standard_input && isatty(STDIN_FILENO)) {
		error_set(err, ERROR_USAGE, 0,
			  "standard input is a terminal, not an archive");
		return error_hint(err, "llmbox image import - NAME <FILE");
	}
	int fd = standard_input ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)
				: open(name, O_RDONLY | O_CLOEXEC | O_NOCTTY);

	return fd < 0 ? error_set(err, ERROR_IMAGE, errno, "open %s", name)
		      : fd;
}

static int import(const struct arguments *args, struct image *image,
		  struct error *err)
{
	const char *file = args->operands[0], *name = args->operands[1];
	bool standard_input = strcmp(file, "-") == 0;
	struct progress progress;
	struct idmap ids;
	int r = idmap_choose(IDENTITY_AUTO, 0, 0, &ids, err);

	if (r < 0)
		return r;
	auto_close int fd = open_archive(file, err);

	if (fd < 0)
		return fd;
	struct id_layout layout = image_layout(&ids);

	progress_init(&progress);
	r = image_import(
		fd, standard_input ? "standard input" : file, name, &layout,
		arguments_has(args, OPTION_QUIET) ? NULL : &progress.to, image,
		err);
	progress_end(&progress);
	return r;
}

int verb_image_import(const struct verb *verb, const struct arguments *args,
		      struct error *err)
{
	struct image image = IMAGE_INIT;
	auto_buf line = { 0 };

	(void)verb;
	if (import(args, &image, err) < 0)
		return output_error(err);
	if (image.note && !arguments_has(args, OPTION_QUIET))
		output_line("%s", image.note);
	if (image.name[0])
		buf_addf(&line, "%s ", image.name);
	buf_addf(&line, "%s\n", image.id);
	image_release(&image);
	return output_text(line.data, line.len);
}

/* The list as values; the store knows only how to write it. */
static int read_list(struct json **ret, struct error *err)
{
	auto_json_writer *w = json_writer_new(false);
	int r = image_list(w, err);
	size_t len;

	if (r < 0)
		return r;
	auto_free char *text = json_writer_take(w, &len);

	return json_parse(text, len, "image list", ret, err);
}

static const char *text_of(const struct json *object, const char *key)
{
	const struct json *value = json_get(object, key);

	return value && value->type == JSON_STRING ? value->string : "";
}

/* All names of an image, with separator behind each but the last. */
static char *names_of(const struct json *image, const char *separator)
{
	const struct json *names = json_get(image, "names");
	auto_buf out = { 0 };

	for (size_t i = 0; names && i < names->count; i++)
		buf_addf(&out, "%s%s", i ? separator : "",
			 names->items[i]->string);
	return buf_take(&out);
}

/* A source is a stranger's text. */
static char *escaped(const char *text)
{
	auto_buf out = { 0 };

	buf_add_escaped(&out, text, strlen(text));
	return buf_take(&out);
}

static const char *const columns[] = { "NAME", "ID", "SIZE", "CREATED",
				       "SOURCE" };
enum { COLUMNS = ARRAY_SIZE(columns), ID_SHOWN = 12 };

static void add_row(struct strv *cells, const struct json *image)
{
	const struct json *bytes = json_get(image, "bytes");

	strv_add_take(cells, names_of(image, ","));
	strv_add_take(cells, mem_strndup(text_of(image, "id"), ID_SHOWN));
	strv_addf(cells, "%lld MiB",
		  bytes ? (long long)(bytes->integer >> 20) : 0LL);
	strv_add(cells, text_of(image, "created"));
	strv_add_take(cells, escaped(text_of(image, "source")));
}

static void add_table(struct buf *out, const struct json *list)
{
	auto_strv cells = { 0 };
	size_t width[COLUMNS] = { 0 };

	for (size_t i = 0; i < COLUMNS; i++)
		strv_add(&cells, columns[i]);
	for (size_t i = 0; i < list->count; i++)
		add_row(&cells, list->items[i]);
	for (size_t i = 0; i < cells.count; i++)
		if (strlen(cells.items[i]) > width[i % COLUMNS])
			width[i % COLUMNS] = strlen(cells.items[i]);
	for (size_t i = 0; i < cells.count; i++) {
		size_t column = i % COLUMNS;

		if (column < COLUMNS - 1)
			buf_addf(out, "%-*s  ", (int)width[column],
				 cells.items[i]);
		else
			buf_addf(out, "%s\n", cells.items[i]);
	}
}

/* One a line, for programs. */
static void add_names(struct buf *out, const struct json *list)
{
	for (size_t i = 0; i < list->count; i++) {
		auto_free char *names = names_of(list->items[i], "\n");

		if (*names)
			buf_addf(out, "%s\n", names);
	}
}

static int print_json_list(struct error *err)
{
	auto_json_writer *w = json_writer_new(true);

	return image_list(w, err) < 0 ? output_error(err) : output_json(w);
}

int verb_image_list(const struct verb *verb, const struct arguments *args,
		    struct error *err)
{
	auto_json *list = NULL;
	auto_buf out = { 0 };

	(void)verb;
	if (arguments_has(args, OPTION_JSON))
		return print_json_list(err);
	if (read_list(&list, err) < 0)
		return output_error(err);
	if (arguments_has(args, OPTION_QUIET))
		add_names(&out, list);
	else
		add_table(&out, list);
	return output_text(out.data, out.len);
}

int verb_image_inspect(const struct verb *verb, const struct arguments *args,
		       struct error *err)
{
	auto_json_writer *w = json_writer_new(true);

	(void)verb;
	if (image_inspect(args->operands[0], w, err) < 0)
		return output_error(err);
	return output_json(w);
}

/* One that can't be removed does not keep the others. */
int verb_image_remove(const struct verb *verb, const struct arguments *args,
		      struct error *err)
{
	int status = STATUS_OK;

	(void)verb;
	for (int i = 0; i < args->operand_count; i++)
		if (image_remove(args->operands[i], err) < 0)
			status = output_error(err);
	return status;
}

int verb_image_prune(const struct verb *verb, const struct arguments *args,
		     struct error *err)
{
	uint64_t removed, bytes;
	auto_free char *text = NULL;

	(void)verb;
	(void)args;
	if (image_prune(&removed, &bytes, err) < 0)
		return output_error(err);
	text = mem_printf("%llu removed, %llu MiB\n",
			  (unsigned long long)removed,
			  (unsigned long long)(bytes >> 20));
	return output_text(text, strlen(text));
}
