/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bash: one function that finds the verb and where options end, with two tables
 * of cases: a verb's words, and what an option's value is.
 */
#include "cmd/completion.h"

#include "base/buf.h"
#include "base/mem.h"
#include "cmd/options.h"
#include "cmd/verb.h"

static const char head[] =
	"# bash completion for llmbox; made by 'llmbox completion bash'\n";

/* '=' is a word of its own in COMP_WORDS (COMP_WORDBREAKS, bash(1)). */
static const char tail[] =
	"_llmbox_offer() { # KIND CURRENT-WORD\n"
	"\tcase $1 in\n"
	"\tfile) compopt -o filenames\n"
	"\t\tmapfile -t COMPREPLY < <(compgen -f -- \"$2\") ;;\n"
	"\tdir) compopt -o filenames\n"
	"\t\tmapfile -t COMPREPLY < <(compgen -d -- \"$2\") ;;\n"
	"\timage) compopt -o filenames\n"
	"\t\tmapfile -t COMPREPLY < <(compgen -W \\\n"
	"\t\t\t\"$(\"${COMP_WORDS[0]}\" image list -q 2>/dev/null)\" \\\n"
	"\t\t\t-- \"$2\"; compgen -f -- \"$2\") ;;\n"
	"\tcommand) mapfile -t COMPREPLY < <(compgen -c -- \"$2\") ;;\n"
	"\twords*) mapfile -t COMPREPLY < \\\n"
	"\t\t<(compgen -W \"${1#words}\" -- \"$2\") ;;\n"
	"\tesac\n"
	"}\n"
	"_llmbox() {\n"
	"\tlocal cur=$2 verb='' word kind words operand i=1\n"
	"\tCOMPREPLY=()\n"
	"\t[[ $cur == = ]] && cur=''\n"
	"\twhile ((i < COMP_CWORD)); do\n"
	"\t\tword=${COMP_WORDS[i++]}\n"
	"\t\tif [[ -z $verb ]]; then\n"
	"\t\t\tverb=$word\n"
	"\t\t\t_llmbox_verb \"$verb\"\n"
	"\t\t\tif [[ $operand == group ]] && ((i < COMP_CWORD)); then\n"
	"\t\t\t\tverb+=\" ${COMP_WORDS[i++]}\"\n"
	"\t\t\tfi\n"
	"\t\t\tcontinue\n"
	"\t\tfi\n"
	"\t\tif [[ $word == -- || $word != -* ]]; then\n"
	"\t\t\t[[ $word == -- ]] || ((i--))\n"
	"\t\t\t_llmbox_verb \"$verb\"\n"
	"\t\t\tif [[ $operand == command ]] && ((i < COMP_CWORD)); then\n"
	"\t\t\t\tif declare -F _command_offset >/dev/null; then\n"
	"\t\t\t\t\t_command_offset \"$i\"\n"
	"\t\t\t\t\treturn\n"
	"\t\t\t\tfi\n"
	"\t\t\t\toperand=file\n"
	"\t\t\tfi\n"
	"\t\t\t_llmbox_offer \"$operand\" \"$cur\"\n"
	"\t\t\treturn\n"
	"\t\tfi\n"
	"\t\t_llmbox_kind \"$word\"\n"
	"\t\t[[ -n $kind ]] || continue\n"
	"\t\t[[ ${COMP_WORDS[i]} == = ]] && ((i < COMP_CWORD)) && ((i++))\n"
	"\t\tif ((i == COMP_CWORD)); then\n"
	"\t\t\t_llmbox_offer \"$kind\" \"$cur\"\n"
	"\t\t\treturn\n"
	"\t\tfi\n"
	"\t\t((i++))\n"
	"\tdone\n"
	"\t_llmbox_verb \"$verb\"\n"
	"\tif [[ -z $verb || $operand == group || $cur == -* ]]; then\n"
	"\t\t_llmbox_offer \"words$words\" \"$cur\"\n"
	"\telse\n"
	"\t\t_llmbox_offer \"$operand\" \"$cur\"\n"
	"\tfi\n"
	"}\n"
	"complete -F _llmbox llmbox\n";

static const char *const value_kinds[] = {
	[VALUE_TEXT] = "text",
	[VALUE_FILE] = "file",
	[VALUE_DIR] = "dir",
	[VALUE_IMAGE] = "image",
};

static const char *const operand_kinds[] = {
	[OPERAND_NONE] = "none",
	[OPERAND_COMMAND] = "command",
	[OPERAND_FILE] = "file",
	[OPERAND_IMAGE] = "image",
	[OPERAND_SHELL] = "wordsbash zsh fish",
};

static void add_first_words(struct buf *out)
{
	for (size_t i = 0; verb_table(i); i++) {
		bool group;
		auto_free char *word = completion_first_word(i, &group);

		if (word)
			buf_addf(out, "%s ", word);
	}
}

static void add_second_words(struct buf *out, const char *group)
{
	const struct verb *v;

	for (size_t i = 0; (v = verb_table(i)); i++) {
		const char *word = verb_second_word(v->name, group);

		if (word)
			buf_addf(out, "%s ", word);
	}
}

static void add_groups(struct buf *out)
{
	for (size_t i = 0; verb_table(i); i++) {
		bool group;
		auto_free char *word = completion_first_word(i, &group);

		if (!word || !group)
			continue;
		buf_addf(out, "\t'%s') operand=group words='", word);
		add_second_words(out, word);
		buf_adds(out, "' ;;\n");
	}
}

static void add_verb(struct buf *out, const struct verb *v)
{
	const struct option_info *o;

	buf_addf(out, "\t'%s') operand='", v->name);
	if (v->operand == OPERAND_VERB) {
		buf_adds(out, "words");
		add_first_words(out);
	} else {
		buf_adds(out, operand_kinds[v->operand]);
	}
	buf_adds(out, "' words='");
	for (size_t i = 0; (o = option_table(i)); i++) {
		if (!completion_offers(v, o))
			continue;
		if (o->letter)
			buf_addf(out, "-%c ", o->letter);
		buf_addf(out, "--%s ", o->name);
	}
	buf_adds(out, "' ;;\n");
}

static void add_kind(struct buf *out, const struct option_info *o)
{
	if (!o->arg)
		return;
	buf_addf(out, "\t--%s", o->name);
	if (o->letter)
		buf_addf(out, " | -%c", o->letter);
	if (o->choices)
		buf_addf(out, ") kind='words%s' ;;\n", o->choices);
	else
		buf_addf(out, ") kind=%s ;;\n", value_kinds[o->value]);
}

void completion_bash(struct buf *out)
{
	const struct option_info *o;
	const struct verb *v;

	buf_adds(out, head);
	buf_adds(out, "_llmbox_verb() { # VERB: sets words and operand\n"
		      "\twords='' operand=none\n"
		      "\tcase $1 in\n"
		      "\t'') words='");
	add_first_words(out);
	buf_adds(out, "--help --version' ;;\n");
	add_groups(out);
	for (size_t i = 0; (v = verb_table(i)); i++)
		add_verb(out, v);
	buf_adds(out, "\tesac\n}\n"
		      "_llmbox_kind() { # OPTION: sets kind, '' for a flag\n"
		      "\tkind=''\n"
		      "\tcase $1 in\n");
	for (size_t i = 0; (o = option_table(i)); i++)
		add_kind(out, o);
	buf_adds(out, "\tesac\n}\n");
	buf_adds(out, tail);
}
