/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The option table: every option of every verb, once. Parsing, --help, the
 * completions and the manuals' synopses come from it or are checked against it.
 */
#ifndef LLMBOX_CMD_OPTIONS_H
#define LLMBOX_CMD_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

struct error;
struct option_use;
struct policy;

/* Which verbs have an option: bits, matched against the verb's. */
enum {
	GROUP_ALL = 1 << 0,
	GROUP_POLICY = 1 << 1, /* whatever makes a policy */
	GROUP_RUN = 1 << 2,    /* run and shell */
	GROUP_CAPTURE = 1 << 3,
	GROUP_IMPORT = 1 << 4,
	GROUP_LIST = 1 << 5,
	GROUP_DOCTOR = 1 << 6,
};

/* What its value is, for completions. */
enum value_kind { VALUE_TEXT, VALUE_FILE, VALUE_DIR, VALUE_IMAGE };

/* What a verb looks for in its options; those of a policy need none. */
enum option_id {
	OPTION_POLICY_SET, /* field or apply */
	OPTION_POLICY_FILE,
	OPTION_ALLOW_ROOT_VOLUME,
	OPTION_HELP,
	OPTION_TTY,
	OPTION_NO_TTY,
	OPTION_INTERACTIVE,
	OPTION_REPORT,
	OPTION_JSON,
	OPTION_QUIET,
	OPTION_VERBOSE,
	OPTION_DRY_RUN,
};

struct option_info {
	const char *name;    /* long, without "--" */
	char letter;         /* short, or 0 */
	const char *arg;     /* what its value is called; NULL: takes none */
	const char *section; /* of --help */
	unsigned groups;
	enum option_id id;
	const char *field; /* of the policy, set from the text */
	int (*apply)(struct policy *p, const struct option_use *use,
		     struct error *err); /* where that does not do */
	enum value_kind value;
	const char *choices; /* words with a space between */
	const char *doc;     /* one clause */
};

/* By index; NULL at the end. */
const struct option_info *option_table(size_t index);

#endif
