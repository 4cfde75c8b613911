/* SPDX-License-Identifier: Apache-2.0 */
/* The table, in the order of help, and how words find their row. */
#include "cmd/verb.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"
#include "cmd/options.h"

static const struct verb verbs[] = {
	{ "run", .operands = "[--] COMMAND [ARG]...",
	  .operand = OPERAND_COMMAND, .min = 1, .max = OPERANDS_ANY,
	  .groups = GROUP_POLICY | GROUP_RUN | GROUP_CAPTURE,
	  .doc = "run one command in a fresh box",
	  .more = "The box is gone when the command ends. The exit status is "
		  "the command's own; 124 for a time limit, 125 where llmbox "
		  "itself failed, 126 where the command can't be executed, 127 "
		  "where it is not found, 128+n for signal n.",
	  .run = verb_run, .tells_errors = true },
	{ "shell", .operands = "[--] [COMMAND [ARG]...]",
	  .operand = OPERAND_COMMAND, .max = OPERANDS_ANY,
	  .groups = GROUP_POLICY | GROUP_RUN,
	  .doc = "an interactive session in a fresh box",
	  .more = "As run, with a terminal of its own; without COMMAND the "
		  "shell of the box's user.",
	  .run = verb_shell, .tells_errors = true },
	{ "image import", .operands = "FILE|- [NAME]", .operand = OPERAND_FILE,
	  .min = 1, .max = 2, .groups = GROUP_IMPORT,
	  .doc = "unpack an archive into the store",
	  .more = "Prints the image's name and id. NAME defaults to the "
		  "archive's, without directory and suffix; with - for "
		  "standard input it has to be given to find the image again.",
	  .run = verb_image_import },
	{ "image list", .aliases = { "images", "image ls" }, .operands = "",
	  .groups = GROUP_LIST, .doc = "the images of the store",
	  .run = verb_image_list },
	{ "image inspect", .operands = "NAME", .operand = OPERAND_IMAGE,
	  .min = 1, .max = 1, .doc = "all about one image, as JSON",
	  .run = verb_image_inspect },
	{ "image remove", .aliases = { "image rm", "rmi" },
	  .operands = "NAME...", .operand = OPERAND_IMAGE, .min = 1,
	  .max = OPERANDS_ANY, .doc = "remove images from the store",
	  .run = verb_image_remove },
	{ "image prune", .operands = "",
	  .doc = "remove images without a name and what crashes left",
	  .run = verb_image_prune },
	{ "policy check", .operands = "FILE", .operand = OPERAND_FILE, .min = 1,
	  .max = 1, .doc = "say what is wrong with a policy file",
	  .more = "Prints nothing and exits with 0 where nothing is. Else up "
		  "to 20 errors on standard error, and the exit status is 1.",
	  .run = verb_policy_check },
	{ "policy show", .operands = "", .groups = GROUP_POLICY,
	  .doc = "the policy that run would use with these options",
	  .more = "As JSON: each field with its value and where it came from.",
	  .run = verb_policy_show },
	{ "policy schema", .operands = "",
	  .doc = "the JSON Schema of policy files", .run = verb_policy_schema },
	{ "doctor", .operands = "", .groups = GROUP_DOCTOR,
	  .doc = "what this host offers, found by trying it",
	  .more = "Each line that is not 'yes' says what a box has not and what "
		  "to type. The exit status is 0 where the built-in policy can "
		  "be held, so that 'llmbox run -- true' works, else 1.",
	  .run = verb_doctor },
	{ "completion", .operands = "bash|zsh|fish", .operand = OPERAND_SHELL,
	  .min = 1, .max = 1, .doc = "print completions for a shell",
	  .more = "For bash: eval \"$(llmbox completion bash)\".",
	  .run = verb_completion },
	{ "help", .operands = "[COMMAND]", .operand = OPERAND_VERB, .max = 2,
	  .doc = "help on llmbox or on one command", .run = verb_help },
};

const struct verb *verb_table(size_t index)
{
	return index < ARRAY_SIZE(verbs) ? &verbs[index] : NULL;
}

static const struct verb *find_exact(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(verbs); i++) {
		const struct verb *v = &verbs[i];

		if (strcmp(v->name, name) == 0)
			return v;
		for (size_t j = 0; j < VERB_ALIASES_MAX; j++)
			if (v->aliases[j] && strcmp(v->aliases[j], name) == 0)
				return v;
	}
	return NULL;
}

const char *verb_second_word(const char *name, const char *group)
{
	size_t len = strlen(group);

	if (strncmp(name, group, len) != 0 || name[len] != ' ')
		return NULL;
	return name + len + 1;
}

bool verb_is_group(const char *word)
{
	for (size_t i = 0; i < ARRAY_SIZE(verbs); i++)
		if (verb_second_word(verbs[i].name, word))
			return true;
	return false;
}

static int unknown_command(const char *wrong, const struct strv *names,
			   struct error *err)
{
	const char *last = strrchr(wrong, ' ');
	const char *near = nearest_name(last ? last + 1 : wrong,
					(const char *const *)names->items);

	if (near)
		error_set(err, ERROR_USAGE, 0,
			  "unknown command '%s'; did you mean '%s'?", wrong,
			  near);
	else
		error_set(err, ERROR_USAGE, 0, "unknown command '%s'", wrong);
	return error_hint(err, "try 'llmbox help'");
}

static int find_in_group(char **words, const struct verb **ret_verb,
			 int *ret_words, struct error *err)
{
	auto_strv names = { 0 };
	auto_free char *both = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(verbs); i++) {
		const char *word = verb_second_word(verbs[i].name, words[0]);

		if (word)
			strv_add(&names, word);
	}
	if (!words[1] || words[1][0] == '-') {
		bool help = words[1] && (strcmp(words[1], "-h") == 0 ||
					 strcmp(words[1], "--help") == 0);
		auto_buf list = { 0 };

		*ret_verb = NULL;
		*ret_words = 1;
		if (help)
			return 0;
		for (size_t i = 0; i < names.count; i++)
			buf_addf(&list, "%s%s", i ? ", " : "", names.items[i]);
		return error_set(err, ERROR_USAGE, 0, "%s needs one of %s",
				 words[0], list.data);
	}
	both = mem_printf("%s %s", words[0], words[1]);
	*ret_verb = find_exact(both);
	*ret_words = 2;
	return *ret_verb ? 0 : unknown_command(both, &names, err);
}

int verb_find(char **words, const struct verb **ret_verb, int *ret_words,
	      struct error *err)
{
	auto_strv names = { 0 };

	if (verb_is_group(words[0]))
		return find_in_group(words, ret_verb, ret_words, err);
	*ret_verb = find_exact(words[0]);
	*ret_words = 1;
	if (*ret_verb && strchr(words[0], ' '))
		*ret_verb = NULL; /* 'image list' as one word */
	if (*ret_verb)
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(verbs); i++) {
		const char *name = verbs[i].name;
		auto_free char *first = mem_strndup(name, strcspn(name, " "));

		strv_add(&names, first);
	}
	return unknown_command(words[0], &names, err);
}

void verb_hint(const struct verb *verb, struct error *err)
{
	if (err->kind == ERROR_USAGE && !err->hint[0])
		error_hint(err, "try 'llmbox %s --help'", verb->name);
}
