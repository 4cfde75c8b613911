/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The program: makes sure of its descriptors and its rights, finds the verb in
 * the verb table, parses the options by the option table, calls the verb.
 * Everything on the command line is the caller's and trusted as such; of the
 * environment only LLMBOX_POLICY, XDG_* and HOME say anything to llmbox.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "base/error.h"
#include "cmd/help.h"
#include "cmd/output.h"
#include "cmd/parse.h"
#include "cmd/verb.h"

/*
 * A file that gets number 0, 1 or 2 would be taken for the caller's input or
 * written to by messages. open(2) gives the lowest free number.
 */
static int open_missing_stdio(struct error *err)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		if (fcntl(fd, F_GETFD) >= 0)
			continue;
		if (open("/dev/null", fd ? O_WRONLY : O_RDONLY) != fd)
			return error_set(err, ERROR_HOST, errno,
					 "open /dev/null in place of closed "
					 "descriptor %d",
					 fd);
	}
	return 0;
}

/* Set-user-ID, set-group-ID and file capabilities alike (getauxval(3)): all of
 * llmbox is written for a caller with the program's own rights. */
static int refuse_foreign_rights(struct error *err)
{
	if (!getauxval(AT_SECURE) && getuid() == geteuid() &&
	    getgid() == getegid())
		return 0;
	error_set(err, ERROR_USAGE, 0,
		  "refused: started set-user-ID, set-group-ID or with file "
		  "capabilities");
	return error_hint(err, "remove them from its file; it needs none");
}

static int fail(const struct verb *verb, struct error *err)
{
	verb_hint(verb, err);
	return output_error(err);
}

static int check_operands(const struct verb *verb, const struct arguments *args,
			  struct error *err)
{
	if (args->operand_count < verb->min) {
		error_set(err, ERROR_USAGE, 0, "%s: an argument is missing",
			  verb->name);
		return error_hint(err, "usage: llmbox %s [OPTION]... %s",
				  verb->name, verb->operands);
	}
	if (verb->max == OPERANDS_ANY)
		return 0;
	for (int i = 0; i < args->operand_count; i++) {
		const char *operand = args->operands[i];

		if (operand[0] == '-' && operand[1] && i > 0)
			return error_set(err, ERROR_USAGE, 0,
					 "option '%s' after an argument; "
					 "options come first",
					 operand);
		if (i >= verb->max)
			return error_set(err, ERROR_USAGE, 0,
					 "unexpected argument '%s'", operand);
	}
	return 0;
}

static int run_verb(const struct verb *verb, char **argv)
{
	auto_arguments args = { 0 };
	struct error err = { 0 };
	int r = arguments_parse(verb->groups, argv, &args, &err);

	if (r == 0 && args.help)
		return help_verb(verb);
	if (r == 0)
		r = check_operands(verb, &args, &err);
	if (r < 0 && !verb->tells_errors)
		return fail(verb, &err);
	return verb->run(verb, &args, &err);
}

/* What stands before any verb; -1 where the first word is not an option. */
static int run_top_option(const char *word)
{
	static const char version[] = "llmbox " PACKAGE_VERSION "\n";
	struct error err = { 0 };

	if (word[0] != '-')
		return -1;
	if (strcmp(word, "--version") == 0)
		return output_text(version, sizeof(version) - 1);
	if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)
		return help_general();
	error_set(&err, ERROR_USAGE, 0,
		  "unknown option '%s' before the command", word);
	error_hint(&err, "try 'llmbox help'");
	return output_error(&err);
}

int main(int argc, char **argv)
{
	const struct verb *verb = NULL;
	struct error err = { 0 };
	int words = 0;

	if (open_missing_stdio(&err) < 0 || refuse_foreign_rights(&err) < 0)
		return output_error(&err);
	if (argc < 2) {
		error_set(&err, ERROR_USAGE, 0, "a command is missing");
		error_hint(&err, "try 'llmbox help'");
		return output_error(&err);
	}
	int status = run_top_option(argv[1]);

	if (status >= 0)
		return status;
	if (verb_find(argv + 1, &verb, &words, &err) < 0)
		return output_error(&err);
	if (!verb)
		return help_group(argv[1]);
	return run_verb(verb, argv + 1 + words);
}
