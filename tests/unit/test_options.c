/* SPDX-License-Identifier: Apache-2.0 */
/* The option table and the parser that works on it, without any verb. */
#include "cmd/parse.h"

#include "base/buf.h"
#include "base/error.h"
#include "policy/policy.h"
#include "tests/unit/tap.h"

enum { RUN = GROUP_POLICY | GROUP_RUN | GROUP_CAPTURE };

static int parse(char **argv, struct arguments *a, struct error *err)
{
	*err = (struct error){ 0 };
	return arguments_parse(RUN, argv, a, err);
}

#define ARGV(...) ((char **)(const char *[]){ __VA_ARGS__, NULL })

/* "NAME=VALUE ..." of all options, then "| OPERAND ...". */
static char *told(const struct arguments *a)
{
	struct buf out = { 0 };

	for (size_t i = 0; i < a->option_count; i++)
		buf_addf(&out, "%s=%s ", a->options[i].info->name,
			 a->options[i].value ? a->options[i].value : "");
	buf_adds(&out, "|");
	for (int i = 0; i < a->operand_count; i++)
		buf_addf(&out, " %s", a->operands[i]);
	return buf_take(&out);
}

static void gives(char **argv, const char *want)
{
	struct arguments a;
	struct error err;
	int r = parse(argv, &a, &err);
	char *got = told(&a);

	is_int(r, 0, "%s: no error", want);
	is_str(got, want, "%s", want);
	free(got);
	arguments_release(&a);
}

static void fails(char **argv, const char *message)
{
	struct arguments a;
	struct error err;

	ok(parse(argv, &a, &err) < 0, "%s: fails", message);
	is_int(err.kind, ERROR_USAGE, "%s: is usage", message);
	is_str(err.message, message, "%s", message);
	arguments_release(&a);
}

static void test_forms(void)
{
	gives(ARGV("-m512m", "x"), "memory=512m | x");
	gives(ARGV("-m", "512m", "x"), "memory=512m | x");
	gives(ARGV("-m=512m", "x"), "memory=512m | x");
	gives(ARGV("-m=", "x"), "memory= | x");
	gives(ARGV("--memory=512m", "x"), "memory=512m | x");
	gives(ARGV("--memory", "512m", "x"), "memory=512m | x");
	gives(ARGV("--memory=", "x"), "memory= | x");
	gives(ARGV("-it", "x"), "interactive= tty= | x");
	gives(ARGV("-itm", "1g", "x"), "interactive= tty= memory=1g | x");
	gives(ARGV("-itm1g", "x"), "interactive= tty= memory=1g | x");
	gives(ARGV("-eA=b", "-e", "C=d=e"), "env=A=b env=C=d=e |");
	gives(ARGV("-e", "-x"), "env=-x |");
}

static void test_ends(void)
{
	gives(ARGV("x", "-m", "1g"), "| x -m 1g");
	gives(ARGV("--", "-x"), "| -x");
	gives(ARGV("-q", "--", "--", "y"), "quiet= | -- y");
	gives(ARGV("-", "-q"), "| - -q");
	gives(ARGV("-q"), "quiet= |");
}

static void test_errors(void)
{
	fails(ARGV("--memroy", "1g"),
	      "unknown option '--memroy'; did you mean '--memory'?");
	fails(ARGV("--memroy=1g"),
	      "unknown option '--memroy'; did you mean '--memory'?");
	fails(ARGV("--mem", "1g"), "unknown option '--mem'");
	fails(ARGV("--xyzzy"), "unknown option '--xyzzy'");
	fails(ARGV("-Z"), "unknown option '-Z'");
	fails(ARGV("-iZ"), "unknown option '-Z' in '-iZ'");
	fails(ARGV("--memory"), "option '--memory' needs a value: SIZE");
	fails(ARGV("-m"), "option '-m' needs a value: SIZE");
	fails(ARGV("--json=yes"), "option '--json' takes no value");
	/* The first of several is told. */
	fails(ARGV("--quiet=1", "--xyzzy"), "option '--quiet' takes no value");
}

/* --json and --report hold for a command line that is wrong elsewhere. */
static void test_goes_on(void)
{
	struct arguments a;
	struct error err;

	ok(parse(ARGV("--xyzzy", "--json", "--report", "f", "x"), &a, &err) < 0,
	   "an error before --json");
	ok(arguments_has(&a, OPTION_JSON), "--json is seen");
	ok(arguments_has(&a, OPTION_REPORT), "--report is seen");
	is_int(a.operand_count, 1, "operands are seen");
	arguments_release(&a);
}

static bool is_help(unsigned groups, char **argv)
{
	struct arguments a;
	struct error err = { 0 };
	bool help = arguments_parse(groups, argv, &a, &err) == 0 && a.help;

	arguments_release(&a);
	return help;
}

static void test_help(void)
{
	ok(is_help(RUN, ARGV("-h")), "-h alone is help");
	ok(is_help(RUN, ARGV("-q", "-h")), "-h at the end is help");
	ok(is_help(RUN, ARGV("--help", "--xyzzy")), "--help is help");
	ok(!is_help(RUN, ARGV("-h", "name")), "-h NAME is the host name");
	ok(!is_help(RUN, ARGV("-hname")), "-hNAME is the host name");
	ok(is_help(GROUP_LIST, ARGV("-h", "name")),
	   "-h is help where there is no host name");
	gives(ARGV("-h", "name", "x"), "hostname=name | x");
}

static bool is_field(const char *name)
{
	const struct policy_field_info *field;

	for (size_t i = 0; (field = policy_field(i)); i++)
		if (strcmp(field->name, name) == 0)
			return true;
	return false;
}

static void test_table(void)
{
	const struct option_info *o, *other;

	for (size_t i = 0; (o = option_table(i)); i++) {
		ok(o->groups && o->doc && o->section, "--%s is complete",
		   o->name);
		ok(!o->arg ==
			   !(o->field || o->choices || (o->apply && o->arg) ||
			     o->id == OPTION_POLICY_FILE ||
			     o->id == OPTION_REPORT),
		   "--%s has a value exactly where something takes it",
		   o->name);
		const struct option_info *same = NULL;

		if (o->field)
			ok(is_field(o->field), "--%s: %s is a field", o->name,
			   o->field);

		for (size_t j = 0; j < i; j++) {
			other = option_table(j);
			if ((o->groups & other->groups) &&
			    (strcmp(o->name, other->name) == 0 ||
			     (o->letter && o->letter == other->letter)))
				same = other;
		}
		is_str(same ? same->name : NULL, NULL, "--%s is unique",
		       o->name);
	}
}

int main(void)
{
	test_forms();
	test_ends();
	test_errors();
	test_goes_on();
	test_help();
	test_table();
	return done_testing();
}
