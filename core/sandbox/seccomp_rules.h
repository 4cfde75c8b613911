/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rules of the system-call filters as data, and the generator that turns
 * them into a program. Private to sandbox/seccomp*.c, mkfilter and tests; what
 * others use is seccomp.h. Nothing here needs the rest of core, since mkfilter
 * runs while core is being built.
 */
#ifndef LLMBOX_SECCOMP_RULES_H
#define LLMBOX_SECCOMP_RULES_H

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policy/policy.h"
#include "sandbox/seccomp.h"

/* The programs there are: one a profile, init's, and two for boxes with a
 * writable volume, of which a command has one (seccomp.h). */
enum filter_kind {
	FILTER_DEFAULT = PROFILE_DEFAULT,
	FILTER_STRICT = PROFILE_STRICT,
	FILTER_DEBUG = PROFILE_DEBUG,
	FILTER_INIT,
	FILTER_VOLUMES,
	FILTER_VOLUMES_REFUSED,
	FILTER_KINDS,
};

struct filter_arch {
	uint32_t audit; /* AUDIT_ARCH_..., which is libseccomp's token too */
	bool x32;       /* has x32's numbers from 0x40000000 on */
};

extern const struct filter_arch filter_arch_x86_64, filter_arch_aarch64;

#if defined(__x86_64__) && defined(__LP64__)
#define FILTER_ARCH_NATIVE (&filter_arch_x86_64)
#elif defined(__aarch64__) && defined(__AARCH64EL__) && defined(__LP64__)
#define FILTER_ARCH_NATIVE (&filter_arch_aarch64)
#else
#error "llmbox has system-call rules for x86_64 and aarch64 only"
#endif

/* Only the low 32 bits of an argument are looked at: all that are checked are
 * of 32 bits in the kernel, or have no meaning above. */
enum arg_op {
	ARG_ALWAYS, /* no condition */
	ARG_IS,     /* (argument & mask) == value */
	ARG_IS_NOT, /* (argument & mask) != value */
	ARG_HAS,    /* (argument & value) != 0 */
	ARG_ABOVE,  /* argument > value, without a sign */
};

struct arg_condition {
	enum arg_op op;
	unsigned arg;
	uint32_t mask, value;
};

enum { ARG_CONDITIONS = 2 };

/* The answer (SECCOMP_RET_...) where all conditions hold. */
struct arg_rule {
	uint32_t answer;
	struct arg_condition when[ARG_CONDITIONS];
};

/* The first of checks that holds gives the answer, else it is this one. */
struct call_rule {
	const struct arg_rule *checks;
	size_t count;
	uint32_t answer;
};

enum {
	CALLS_MAX = 512,       /* above all numbers that have a name */
	CALL_NAME_LEN = 32,    /* of the longest name, with its NUL */
	FILTER_LEN_MAX = 1024, /* instructions of any program */
};

struct rule_set {
	struct call_rule calls[CALLS_MAX]; /* by number */
	struct call_rule other;            /* all other numbers */
};

struct call_group {
	const char *name; /* "@file" */
	uint32_t answer[FILTER_INIT + 1];
	const char *calls; /* names with a space between two */
};

/* NULL behind the last one. */
const struct call_group *rules_group(size_t index);
const struct call_group *rules_group_named(const char *name);
/* The one group that a call is in; NULL: no such call. */
const struct call_group *rules_group_of(const char *call);

/* The next name of group->calls, copied; false at the end. Begin with *cursor
 * == group->calls. */
bool rules_next_call(const char **cursor, char ret_name[CALL_NAME_LEN]);

/* The number of a call, or -1: it has none on this architecture. */
int rules_number(const char *call, const struct filter_arch *arch);

/* The rule of a call that is in a group. */
struct call_rule rules_of(const char *call, enum filter_kind kind,
			  enum emulation emulation);

/* Does root emulation check the call? */
bool rules_is_emulated(const char *call);

void rules_fill(struct rule_set *set, enum filter_kind kind,
		enum emulation emulation, const struct filter_arch *arch);

/* Does a rule allow anything? */
bool rule_allows(const struct call_rule *rule);

/*
 * The program of a set: its length, or -E2BIG where it does not fit into
 * FILTER_LEN_MAX instructions.
 */
int filter_build(const struct rule_set *set, const struct filter_arch *arch,
		 struct sock_filter ret_code[FILTER_LEN_MAX]);

#endif
