/* SPDX-License-Identifier: Apache-2.0 */
/* fish: one complete(1) command for each option of each verb. */
#include "cmd/completion.h"

#include "base/buf.h"
#include "base/mem.h"
#include "cmd/options.h"
#include "cmd/verb.h"

static const char head[] =
	"# fish completion for llmbox; made by 'llmbox completion fish'\n"
	"function __llmbox_words # true where exactly these words were given\n"
	"\tset -l words (commandline -opc)\n"
	"\tset -e words[1]\n"
	"\ttest \"$words\" = \"$argv\"\n"
	"end\n"
	"function __llmbox_in # true where these are the first words\n"
	"\tset -l words (commandline -opc)\n"
	"\tset -e words[1]\n"
	"\tset -l n (count $argv)\n"
	"\ttest (count $words) -ge $n\n"
	"\tand test \"$words[1..$n]\" = \"$argv\"\n"
	"end\n"
	"complete -c llmbox -f\n"
	"complete -c llmbox -n '__llmbox_words' -l help -d 'print help'\n"
	"complete -c llmbox -n '__llmbox_words' -l version "
	"-d 'print the version'\n";

static const char *const value_actions[] = {
	[VALUE_TEXT] = "-x",
	[VALUE_FILE] = "-r -F",
	[VALUE_DIR] = "-x -a '(__fish_complete_directories)'",
	[VALUE_IMAGE] = "-r -F -a '(llmbox image list -q 2>/dev/null)'",
};

static const char *const operand_actions[] = {
	[OPERAND_NONE] = NULL,
	[OPERAND_COMMAND] = "-a '(__fish_complete_subcommand --fcs-skip=2)'",
	[OPERAND_FILE] = "-F",
	[OPERAND_IMAGE] = "-a '(llmbox image list -q 2>/dev/null)'",
	[OPERAND_SHELL] = "-a 'bash zsh fish'",
};

static void add_doc(struct buf *out, const char *doc)
{
	buf_adds(out, " -d '");
	completion_quote(out, doc, "\\'");
	buf_adds(out, "'\n");
}

static void add_option(struct buf *out, const struct verb *v,
		       const struct option_info *o)
{
	buf_addf(out, "complete -c llmbox -n '__llmbox_in %s' -l %s", v->name,
		 o->name);
	if (o->letter)
		buf_addf(out, " -s %c", o->letter);
	if (o->choices)
		buf_addf(out, " -x -a '%s'", o->choices);
	else if (o->arg)
		buf_addf(out, " %s", value_actions[o->value]);
	add_doc(out, o->doc);
}

/* The word that is to come after these; condition is "" for the first. */
static void add_word(struct buf *out, const char *condition, const char *word,
		     const char *doc)
{
	buf_addf(out, "complete -c llmbox -n '__llmbox_words%s' -a %s",
		 condition, word);
	add_doc(out, doc);
}

static void add_words(struct buf *out, const char *condition)
{
	for (size_t i = 0; verb_table(i); i++) {
		bool group;
		auto_free char *word = completion_first_word(i, &group);

		if (word)
			add_word(out, condition, word,
				 group ? "see its commands"
				       : verb_table(i)->doc);
	}
}

static void add_second_words(struct buf *out, const char *group)
{
	auto_free char *condition = mem_printf(" %s", group);
	const struct verb *v;

	for (size_t i = 0; (v = verb_table(i)); i++) {
		const char *word = verb_second_word(v->name, group);

		if (word)
			add_word(out, condition, word, v->doc);
	}
}

static void add_verb(struct buf *out, const struct verb *v)
{
	const struct option_info *o;

	for (size_t i = 0; (o = option_table(i)); i++)
		if (completion_offers(v, o))
			add_option(out, v, o);
	if (v->operand == OPERAND_VERB)
		add_words(out, " help");
	else if (operand_actions[v->operand])
		buf_addf(out, "complete -c llmbox -n '__llmbox_in %s' %s\n",
			 v->name, operand_actions[v->operand]);
}

void completion_fish(struct buf *out)
{
	const struct verb *v;

	buf_adds(out, head);
	add_words(out, "");
	for (size_t i = 0; (v = verb_table(i)); i++) {
		bool group;
		auto_free char *word = completion_first_word(i, &group);

		if (word && group)
			add_second_words(out, word);
		add_verb(out, v);
	}
}
