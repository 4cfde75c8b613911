/* SPDX-License-Identifier: Apache-2.0 */
/*
 * zsh: _arguments(zshcompsys) does the work. Saved as _llmbox in $fpath, or
 * evaluated: the last lines tell which.
 */
#include "cmd/completion.h"

#include "base/buf.h"
#include "base/mem.h"
#include "cmd/options.h"
#include "cmd/verb.h"

static const char head[] =
	"#compdef llmbox\n"
	"# zsh completion for llmbox; made by 'llmbox completion zsh'\n"
	"_llmbox_images() {\n"
	"\tlocal -a names\n"
	"\tnames=(${(f)\"$(_call_program images llmbox image list -q "
	"2>/dev/null)\"})\n"
	"\t_alternative 'images:image:compadd -a names' 'files:file:_files'\n"
	"}\n";

static const char tail[] =
	"_llmbox() {\n"
	"\tlocal curcontext=$curcontext state line verb ret=1\n"
	"\t_arguments -C '(- :)'{-h,--help}'[help]' '(- :)--version[version]' "
	"\\\n"
	"\t\t'1:command:_llmbox_verbs' '*::argument:->argument' && ret=0\n"
	"\tif [[ $state == argument ]]; then\n"
	"\t\tverb=$words[1]\n"
	"\t\tif (( $+functions[_llmbox_verbs_$verb] )); then\n"
	"\t\t\tif (( CURRENT == 2 )); then\n"
	"\t\t\t\t_llmbox_verbs_$verb\n"
	"\t\t\t\treturn\n"
	"\t\t\tfi\n"
	"\t\t\tverb+=\" $words[2]\"\n"
	"\t\t\tshift words\n"
	"\t\t\t(( CURRENT-- ))\n"
	"\t\tfi\n"
	"\t\t_llmbox_verb \"$verb\" && ret=0\n"
	"\tfi\n"
	"\treturn ret\n"
	"}\n"
	"if [[ $funcstack[1] == _llmbox ]]; then\n"
	"\t_llmbox \"$@\"\n"
	"else\n"
	"\tcompdef _llmbox llmbox\n"
	"fi\n";

static const char *const value_actions[] = {
	[VALUE_TEXT] = " ",
	[VALUE_FILE] = "_files",
	[VALUE_DIR] = "_files -/",
	[VALUE_IMAGE] = "_llmbox_images",
};

static const char *const operand_specs[] = {
	[OPERAND_NONE] = NULL,
	[OPERAND_COMMAND] = "*:: :_normal",
	[OPERAND_FILE] = "*:file:_files",
	[OPERAND_IMAGE] = "*:image:_llmbox_images",
	[OPERAND_SHELL] = "1:shell:(bash zsh fish)",
	[OPERAND_VERB] = "1:command:_llmbox_verbs",
};

/* Inside single quotes, where _arguments and _describe take ':' and brackets
 * for their own. */
static void add_escaped(struct buf *out, const char *text)
{
	for (; *text; text++) {
		if (*text == ':' || *text == '[' || *text == ']' ||
		    *text == '\\')
			buf_adds(out, "\\");
		completion_quote(out, (char[]){ *text, '\0' }, "'\\''");
	}
}

static void add_option(struct buf *out, const struct option_info *o)
{
	const char *plus = o->arg ? "+" : "", *equals = o->arg ? "=" : "";

	buf_adds(out, " \\\n\t\t'*'");
	if (o->letter)
		buf_addf(out, "{-%c%s,--%s%s}", o->letter, plus, o->name,
			 equals);
	else
		buf_addf(out, "--%s%s", o->name, equals);
	buf_adds(out, "'[");
	add_escaped(out, o->doc);
	buf_adds(out, "]");
	if (o->arg) {
		buf_adds(out, ":");
		add_escaped(out, o->arg);
		buf_adds(out, ":");
		if (o->choices)
			buf_addf(out, "(%s)", o->choices);
		else
			buf_adds(out, value_actions[o->value]);
	}
	buf_adds(out, "'");
}

static void add_verb(struct buf *out, const struct verb *v)
{
	const struct option_info *o;

	buf_addf(out, "\t'%s')\n\t\t_arguments -s -S -A '-*'", v->name);
	for (size_t i = 0; (o = option_table(i)); i++)
		if (completion_offers(v, o))
			add_option(out, o);
	if (operand_specs[v->operand])
		buf_addf(out, " \\\n\t\t'%s'", operand_specs[v->operand]);
	buf_adds(out, "\n\t\t;;\n");
}

/* A function that describes the second words of a group. */
static void add_group(struct buf *out, const char *group)
{
	const struct verb *v;

	buf_addf(out, "_llmbox_verbs_%s() {\n\tlocal -a verbs\n\tverbs=(\n",
		 group);
	for (size_t i = 0; (v = verb_table(i)); i++) {
		const char *word = verb_second_word(v->name, group);

		if (!word)
			continue;
		buf_addf(out, "\t\t'%s:", word);
		add_escaped(out, v->doc);
		buf_adds(out, "'\n");
	}
	buf_adds(out, "\t)\n\t_describe command verbs\n}\n");
}

static void add_first_words(struct buf *out)
{
	buf_adds(out, "_llmbox_verbs() {\n\tlocal -a verbs\n\tverbs=(\n");
	for (size_t i = 0; verb_table(i); i++) {
		bool group;
		auto_free char *word = completion_first_word(i, &group);

		if (!word)
			continue;
		buf_addf(out, "\t\t'%s:", word);
		add_escaped(out,
			    group ? "see its commands" : verb_table(i)->doc);
		buf_adds(out, "'\n");
	}
	buf_adds(out, "\t)\n\t_describe command verbs\n}\n");
}

void completion_zsh(struct buf *out)
{
	const struct verb *v;

	buf_adds(out, head);
	add_first_words(out);
	for (size_t i = 0; verb_table(i); i++) {
		bool group;
		auto_free char *word = completion_first_word(i, &group);

		if (word && group)
			add_group(out, word);
	}
	buf_adds(out, "_llmbox_verb() {\n\tcase $1 in\n");
	for (size_t i = 0; (v = verb_table(i)); i++)
		add_verb(out, v);
	buf_adds(out, "\tesac\n}\n");
	buf_adds(out, tail);
}
