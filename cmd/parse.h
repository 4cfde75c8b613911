/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From argv to a list of options and operands. Nothing is carried out here, so
 * that the order of options and policy files never matters.
 */
#ifndef LLMBOX_CMD_PARSE_H
#define LLMBOX_CMD_PARSE_H

#include <stdbool.h>
#include <stddef.h>

#include "cmd/options.h"

struct error;

/* One option as it was given. */
struct option_use {
	const struct option_info *info;
	char spelled[32];  /* "-m" or "--memory", whichever was written */
	const char *value; /* in argv; NULL where it takes none */
};

struct arguments {
	struct option_use *options;
	size_t option_count;
	bool help;       /* was asked for; the rest was not looked at */
	char **operands; /* in argv, NULL-terminated */
	int operand_count;
};

/*
 * Parses argv (NULL-terminated, without the verb's words) by the rows of the
 * table that belong to groups. Options end at the first operand or at "--";
 * "-it", "-m512m", "-m 512m", "--memory=512m", "--memory 512m"; names are not
 * to be shortened; -h with nothing behind it is help. After the first error
 * the rest of the options is still read, so that --json and --report hold for
 * errors too. ERROR_USAGE.
 */
int arguments_parse(unsigned groups, char **argv, struct arguments *ret,
		    struct error *err);
void arguments_release(struct arguments *a);
#define auto_arguments \
	__attribute__((cleanup(arguments_release))) struct arguments

/* The last use of an option, or NULL. */
const struct option_use *arguments_last(const struct arguments *a,
					enum option_id id);
bool arguments_has(const struct arguments *a, enum option_id id);

#endif
