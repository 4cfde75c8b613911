/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The verb table: every verb, once. Dispatch, help and completions go by it.
 */
#ifndef LLMBOX_CMD_VERB_H
#define LLMBOX_CMD_VERB_H

#include <stdbool.h>
#include <stddef.h>

struct arguments;
struct error;

enum { VERB_ALIASES_MAX = 2, OPERANDS_ANY = -1 };

/* What an operand is, for completions. */
enum operand_kind {
	OPERAND_NONE,
	OPERAND_COMMAND,
	OPERAND_FILE,
	OPERAND_IMAGE,
	OPERAND_SHELL,
	OPERAND_VERB,
};

struct verb {
	const char *name; /* one word, or two: "image list" */
	const char *aliases[VERB_ALIASES_MAX]; /* never shown */
	const char *operands; /* as the synopsis has them, or "" */
	enum operand_kind operand;
	int min, max;     /* operands; max may be OPERANDS_ANY */
	unsigned groups;  /* of options */
	const char *doc;  /* one clause */
	const char *more; /* paragraph of --help, or NULL */
	/*
	 * Returns the exit status. err may hold a usage error already, only
	 * where tells_errors: the verb then reports it in its own ways.
	 */
	int (*run)(const struct verb *verb, const struct arguments *args,
		   struct error *err);
	bool tells_errors;
};

/* By index, in the order of help; NULL at the end. */
const struct verb *verb_table(size_t index);

/*
 * The verb that the first words name. *ret_words is how many of them: 1 or 2;
 * *ret_verb is NULL where they name a group ("image") whose help is asked
 * for. ERROR_USAGE with the nearest name.
 */
int verb_find(char **words, const struct verb **ret_verb, int *ret_words,
	      struct error *err);

/* Is word the first of two-word verbs? */
bool verb_is_group(const char *word);

/* The second word of a verb's name, where group is the first; else NULL. */
const char *verb_second_word(const char *name, const char *group);

/* A usage error without a hint gets "try 'llmbox run --help'". */
void verb_hint(const struct verb *verb, struct error *err);

/* The verbs, one file each (run.c has two, image.c and policy.c theirs). */
int verb_run(const struct verb *verb, const struct arguments *args,
	     struct error *err);
int verb_shell(const struct verb *verb, const struct arguments *args,
	       struct error *err);
int verb_image_import(const struct verb *verb, const struct arguments *args,
		      struct error *err);
int verb_image_list(const struct verb *verb, const struct arguments *args,
		    struct error *err);
int verb_image_inspect(const struct verb *verb, const struct arguments *args,
		       struct error *err);
int verb_image_remove(const struct verb *verb, const struct arguments *args,
		      struct error *err);
int verb_image_prune(const struct verb *verb, const struct arguments *args,
		     struct error *err);
int verb_policy_check(const struct verb *verb, const struct arguments *args,
		      struct error *err);
int verb_policy_show(const struct verb *verb, const struct arguments *args,
		     struct error *err);
int verb_policy_schema(const struct verb *verb, const struct arguments *args,
		       struct error *err);
int verb_doctor(const struct verb *verb, const struct arguments *args,
		struct error *err);
int verb_completion(const struct verb *verb, const struct arguments *args,
		    struct error *err);
int verb_help(const struct verb *verb, const struct arguments *args,
	      struct error *err);

#endif
