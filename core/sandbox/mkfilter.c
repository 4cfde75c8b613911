/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints the ready programs as a C header (sandbox/seccomp_ready.h), while
 * llmbox is being built. It trusts nothing and reads nothing.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sandbox/seccomp_rules.h"

static const char *const names[FILTER_KINDS] = {
	[FILTER_DEFAULT] = "default",
	[FILTER_STRICT] = "strict",
	[FILTER_DEBUG] = "debug",
	[FILTER_INIT] = "init",
	[FILTER_VOLUMES] = "volumes",
	[FILTER_VOLUMES_REFUSED] = "volumes_refused",
};

static const char *const emulation_names[EMULATIONS] = {
	[EMULATE_NONE] = "",
	[EMULATE_ONE] = "_one",
	[EMULATE_RANGE] = "_range",
};

static int print_filter(enum filter_kind kind, enum emulation emulation)
{
	struct sock_filter code[FILTER_LEN_MAX];
	struct rule_set set;

	rules_fill(&set, kind, emulation, FILTER_ARCH_NATIVE);
	int count = filter_build(&set, FILTER_ARCH_NATIVE, code);

	if (count < 0) {
		fprintf(stderr, "mkfilter: %s%s: %s\n", names[kind],
			emulation_names[emulation], strerror(-count));
		return count;
	}
	printf("\nstatic const struct sock_filter ready_%s%s[%d] = {\n",
	       names[kind], emulation_names[emulation], count);
	for (int i = 0; i < count; i++)
		printf("\t{ 0x%02x, %u, %u, 0x%08x },\n", code[i].code,
		       code[i].jt, code[i].jf, code[i].k);
	printf("};\n");
	return 0;
}

int main(void)
{
	printf("/* Made by core/sandbox/mkfilter.c; not to be edited. */\n");
	for (int kind = 0; kind < FILTER_KINDS; kind++) {
		/* The others leave emulation to the profiles. */
		int last = kind < FILTER_INIT ? EMULATIONS : EMULATE_NONE + 1;

		for (int e = EMULATE_NONE; e < last; e++)
			if (print_filter((enum filter_kind)kind,
					 (enum emulation)e) < 0)
				return EXIT_FAILURE;
	}
	if (fflush(stdout) || ferror(stdout)) {
		perror("mkfilter: standard output");
		return EXIT_FAILURE;
	}
	return EXIT_SUCCESS;
}
