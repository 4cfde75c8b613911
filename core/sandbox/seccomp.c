/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Filters as the rest of core sees them: the ready program of a profile, or one
 * made live where the policy has lists of its own. First the profile's rules,
 * then what allow adds, then what deny takes away. The lists are the policy's
 * and so the caller's; init's filter stands whatever they say, and a list that
 * asks for what it refuses is an error, not a silent nothing.
 */
#include "sandbox/seccomp.h"

#include <errno.h>
#include <linux/seccomp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/error.h"
#include "base/mem.h"
#include "sandbox/seccomp_ready.h"
#include "sandbox/seccomp_rules.h"

#define READY(name)                                          \
	{                                                    \
		ready_##name, ARRAY_SIZE(ready_##name), NULL \
	}

static const struct filter ready_filters[FILTER_KINDS][EMULATIONS] = {
	[FILTER_DEFAULT] = { READY(default), READY(default_one),
			     READY(default_range) },
	[FILTER_STRICT] = { READY(strict), READY(strict_one),
			    READY(strict_range) },
	[FILTER_DEBUG] = { READY(debug), READY(debug_one), READY(debug_range) },
	[FILTER_INIT] = { READY(init) },
	[FILTER_VOLUMES] = { READY(volumes) },
	[FILTER_VOLUMES_REFUSED] = { READY(volumes_refused) },
};

void filter_release(struct filter *f)
{
	free(f->owned);
	*f = (struct filter){ 0 };
}

void filter_for_init(struct filter *ret)
{
	*ret = ready_filters[FILTER_INIT][EMULATE_NONE];
}

void filter_for_volumes(bool notified, struct filter *ret)
{
	*ret = ready_filters[notified ? FILTER_VOLUMES : FILTER_VOLUMES_REFUSED]
			    [EMULATE_NONE];
}

static int error_unknown(const char *list, const char *name, struct error *err)
{
	auto_strv names = { 0 };
	const struct call_group *group;
	char call[CALL_NAME_LEN];

	for (size_t i = 0; (group = rules_group(i)); i++) {
		const char *cursor = group->calls;

		strv_add(&names, group->name);
		while (rules_next_call(&cursor, call))
			strv_add(&names, call);
	}
	const char *nearest =
		nearest_name(name, (const char *const *)names.items);

	error_set(err, ERROR_POLICY, 0, "syscalls.%s: unknown %s \"%s\"", list,
		  *name == '@' ? "group of system calls" : "system call", name);
	return nearest ? error_hint(err, "did you mean \"%s\"?", nearest)
		       : error_hint(err,
				    "llmbox-policy(5) lists groups and the "
				    "calls that are in them");
}

/* One element of a list: changes the rule of one call. */
typedef int change_fn(struct rule_set *set, const char *call, const char *item,
		      struct error *err);

/*
 * The call gets the freest rule that any profile has for it, which is debug's;
 * checks of arguments that hold in all profiles stay (a socket of AF_VSOCK
 * would leave the box).
 */
static int allow_call(struct rule_set *set, const char *call, const char *item,
		      struct error *err)
{
	struct call_rule init = rules_of(call, FILTER_INIT, EMULATE_NONE);
	struct call_rule rule = rules_of(call, FILTER_DEBUG, EMULATE_NONE);
	int nr = rules_number(call, FILTER_ARCH_NATIVE);

	if (!rule_allows(&init)) {
		error_set(
			err, ERROR_POLICY, 0,
			"syscalls.allow: \"%s\": %s is never allowed in a box",
			item, call);
		return error_hint(err, "take it out of the list: no policy "
				       "changes this");
	}
	if (!rule_allows(&rule))
		rule = (struct call_rule){ NULL, 0, SECCOMP_RET_ALLOW };
	/* A call that emulation checks is allowed in every profile. */
	if (nr >= 0 && !rules_is_emulated(call))
		set->calls[nr] = rule;
	return 0;
}

/* What the program of init that starts a command must still be able to do once
 * the filter is loaded. */
static bool is_needed_to_start(const char *call)
{
	return strcmp(call, "execve") == 0 || strcmp(call, "exit_group") == 0;
}

static int deny_call(struct rule_set *set, const char *call, const char *item,
		     struct error *err)
{
	int nr = rules_number(call, FILTER_ARCH_NATIVE);

	if (is_needed_to_start(call)) {
		error_set(
			err, ERROR_POLICY, 0,
			"syscalls.deny: \"%s\": without %s no command can start",
			item, call);
		return error_hint(err, "take it out of the list%s",
				  *item == '@' ? ", and name single calls of it"
					       : "");
	}
	/* What is refused already keeps its error, which may be ENOSYS. */
	if (nr >= 0 && rule_allows(&set->calls[nr]))
		set->calls[nr] =
			(struct call_rule){ NULL, 0,
					    SECCOMP_RET_ERRNO | EPERM };
	return 0;
}

static int change_group(struct rule_set *set, const struct call_group *group,
			change_fn *change, struct error *err)
{
	const char *cursor = group->calls;
	char call[CALL_NAME_LEN];
	int r = 0;

	while (r == 0 && rules_next_call(&cursor, call))
		r = change(set, call, group->name, err);
	return r;
}

static int change_rules(struct rule_set *set, const char *list,
			const struct strv *items, change_fn *change,
			struct error *err)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < items->count; i++) {
		const char *item = items->items[i];
		const struct call_group *group = rules_group_named(item);

		if (group)
			r = change_group(set, group, change, err);
		else if (rules_group_of(item))
			r = change(set, item, item, err);
		else
			r = error_unknown(list, item, err);
	}
	return r;
}

int filter_for_policy(enum profile profile, enum emulation emulation,
		      const struct strv *allow, const struct strv *deny,
		      struct filter *ret, struct error *err)
{
	struct sock_filter code[FILTER_LEN_MAX];
	struct rule_set set;

	if (!allow->count && !deny->count) {
		*ret = ready_filters[profile][emulation];
		return 0;
	}
	rules_fill(&set, (enum filter_kind)profile, emulation,
		   FILTER_ARCH_NATIVE);
	int r = change_rules(&set, "allow", allow, allow_call, err);

	if (r == 0)
		r = change_rules(&set, "deny", deny, deny_call, err);
	if (r < 0)
		return r;
	int count = filter_build(&set, FILTER_ARCH_NATIVE, code);

	if (count < 0)
		return error_set(err, ERROR_POLICY, -count,
				 "syscalls: the lists make the filter longer "
				 "than %d instructions",
				 FILTER_LEN_MAX);
	ret->owned = mem_resize(NULL, (size_t)count, sizeof(*code));
	memcpy(ret->owned, code, (size_t)count * sizeof(*code));
	ret->code = ret->owned;
	ret->count = (unsigned short)count;
	return 0;
}

static int load(const struct filter *f, unsigned long flags)
{
	struct sock_fprog program = {
		.len = f->count,
		.filter = (struct sock_filter *)f->code, /* only read */
	};
	long r = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);

	return r < 0 ? -errno : (int)r;
}

int filter_load(const struct filter *f)
{
	return load(f, 0);
}

/* seccomp_unotify(2); the second flag is there from Linux 5.19 on. */
int filter_load_listener(const struct filter *f)
{
	int r = load(f, SECCOMP_FILTER_FLAG_NEW_LISTENER |
				SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV);

	return r == -EINVAL ? load(f, SECCOMP_FILTER_FLAG_NEW_LISTENER) : r;
}

static bool jump_holds(unsigned op, uint32_t a, uint32_t k)
{
	switch (op) {
	case BPF_JEQ:
		return a == k;
	case BPF_JGT:
		return a > k;
	case BPF_JGE:
		return a >= k;
	default: /* BPF_JSET */
		return a & k;
	}
}

/* What the generator never makes ends in a kill, as does a jump too far. */
unsigned filter_decide(const struct filter *f, const struct seccomp_data *data)
{
	uint32_t a = 0;

	for (size_t i = 0; i < f->count; i++) {
		const struct sock_filter *in = &f->code[i];

		switch (in->code) {
		case BPF_LD | BPF_W | BPF_ABS:
			if (in->k > sizeof(*data) - sizeof(a))
				return SECCOMP_RET_KILL_PROCESS;
			memcpy(&a, (const char *)data + in->k, sizeof(a));
			break;
		case BPF_ALU | BPF_AND | BPF_K:
			a &= in->k;
			break;
		case BPF_JMP | BPF_JA:
			i += in->k;
			break;
		case BPF_JMP | BPF_JEQ | BPF_K:
		case BPF_JMP | BPF_JGT | BPF_K:
		case BPF_JMP | BPF_JGE | BPF_K:
		case BPF_JMP | BPF_JSET | BPF_K:
			i += jump_holds(BPF_OP(in->code), a, in->k) ? in->jt
								    : in->jf;
			break;
		case BPF_RET | BPF_K:
			return in->k;
		default:
			return SECCOMP_RET_KILL_PROCESS;
		}
	}
	return SECCOMP_RET_KILL_PROCESS;
}
