/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/help.h"

#include <string.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"
#include "cmd/options.h"
#include "cmd/output.h"
#include "cmd/parse.h"
#include "cmd/verb.h"

enum { HELP_WIDTH = 80, OPTION_COLUMN = 30, COMMAND_COLUMN = 18 };

/* Adds text in lines of HELP_WIDTH that begin at column; the first line is
 * there already, up to at. */
static void add_wrapped(struct buf *out, size_t at, size_t column,
			const char *text)
{
	if (at + 1 > column && column > 0) {
		buf_adds(out, "\n");
		at = 0;
	}
	buf_addf(out, "%*s", (int)(column - at), "");
	at = column;
	while (*text) {
		size_t len = strcspn(text, " ");

		if (at > column && at + 1 + len > HELP_WIDTH - 1) {
			buf_addf(out, "\n%*s", (int)column, "");
			at = column;
		} else if (at > column) {
			buf_adds(out, " ");
			at++;
		}
		buf_add(out, text, len);
		at += len;
		text += len;
		text += strspn(text, " ");
	}
	buf_adds(out, "\n");
}

static void add_commands(struct buf *out, const char *group)
{
	const struct verb *v;

	for (size_t i = 0; (v = verb_table(i)); i++) {
		if (group && !verb_second_word(v->name, group))
			continue;
		buf_addf(out, "  %s", v->name);
		add_wrapped(out, 2 + strlen(v->name), COMMAND_COLUMN, v->doc);
	}
}

int help_general(void)
{
	auto_buf out = { 0 };

	buf_adds(&out, "Usage: llmbox COMMAND [OPTION]... [ARG]...\n"
		       "\n"
		       "Runs commands that you did not write in a box: fresh "
		       "namespaces, a root\n"
		       "filesystem of its own, limits and a filter of system "
		       "calls.\n"
		       "\n"
		       "Commands:\n");
	add_commands(&out, NULL);
	buf_adds(&out,
		 "\n"
		 "  llmbox run -C . python3 untrusted.py\n"
		 "  llmbox run -r debian.tar.zst -m 512m --timeout 5m -- make\n"
		 "  llmbox shell -r debian.tar.zst\n"
		 "\n"
		 "'llmbox help COMMAND' has a command's options; llmbox(1) has "
		 "all.\n");
	return output_text(out.data, out.len);
}

int help_group(const char *group)
{
	auto_buf out = { 0 };

	buf_addf(&out, "Usage: llmbox %s COMMAND\n\nCommands:\n", group);
	add_commands(&out, group);
	return output_text(out.data, out.len);
}

static void add_option(struct buf *out, const struct option_info *o)
{
	auto_buf label = { 0 };

	if (o->letter)
		buf_addf(&label, "  -%c, --%s", o->letter, o->name);
	else
		buf_addf(&label, "      --%s", o->name);
	if (o->arg)
		buf_addf(&label, " %s", o->arg);
	buf_add(out, label.data, label.len);
	add_wrapped(out, label.len, OPTION_COLUMN, o->doc);
}

static void add_options(struct buf *out, unsigned groups)
{
	const char *section = "";
	const struct option_info *o;

	for (size_t i = 0; (o = option_table(i)); i++) {
		if (!(o->groups & (groups | GROUP_ALL)))
			continue;
		if (strcmp(o->section, section) != 0) {
			section = o->section;
			buf_addf(out, "\n%s:\n", section);
		}
		add_option(out, o);
	}
}

int help_verb(const struct verb *verb)
{
	auto_buf out = { 0 };

	buf_addf(&out, "Usage: llmbox %s [OPTION]...%s%s\n\n", verb->name,
		 verb->operands[0] ? " " : "", verb->operands);
	auto_free char *doc = mem_printf("%s.", verb->doc);

	if (doc[0] >= 'a' && doc[0] <= 'z')
		doc[0] = (char)(doc[0] - 'a' + 'A');
	add_wrapped(&out, 0, 0, doc);
	if (verb->more)
		add_wrapped(&out, 0, 0, verb->more);
	add_options(&out, verb->groups);
	return output_text(out.data, out.len);
}

int verb_help(const struct verb *verb, const struct arguments *args,
	      struct error *err)
{
	const struct verb *found = NULL;
	int words = 0;

	if (args->operand_count == 0)
		return help_general();
	if (args->operand_count == 1 && verb_is_group(args->operands[0]))
		return help_group(args->operands[0]);
	int r = verb_find(args->operands, &found, &words, err);

	bool whole = r == 0 && found && words == args->operand_count;

	if (r == 0 && !whole)
		error_set(err, ERROR_USAGE, 0, "unexpected argument '%s'",
			  args->operands[words]);
	if (!whole) {
		verb_hint(verb, err);
		return output_error(err);
	}
	return help_verb(found);
}
