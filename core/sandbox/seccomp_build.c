/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a set of rules to a classic BPF program (seccomp(2), "Filters"): the
 * architecture's check, a binary search over ranges of numbers with the same
 * answer, and behind it one chain of comparisons for each list of argument
 * checks. The search is balanced, and not ordered by how often calls are made:
 * the kernel remembers which numbers are always allowed and does not run the
 * program for them (seccomp_cache_prepare(), Linux 5.11). What counts is how
 * few instructions must be loaded for each command.
 *
 * BPF jumps forward only, so the program is made from its end: whatever is
 * jumped to exists already. An instruction that would be the same as an earlier
 * one is that one. A conditional jump reaches 255 instructions; where more are
 * between, a copy of the answer or an unconditional jump is put in reach.
 */
#include "sandbox/seccomp_rules.h"

#include <errno.h>

enum {
	JUMP_MAX = 255,
	X32_FIRST = 0x40000000,
	/* -1 is what a debugger writes to skip a call; the kernel knows none
	 * of that number, on x86_64 it does not count as x32's. */
	NO_CALL = -1,
};

/* yes is the next one where there is only one. */
struct node {
	uint16_t code;
	uint32_t k;
	unsigned yes, no; /* indices of nodes */
};

struct builder {
	struct node nodes[FILTER_LEN_MAX]; /* the program's last one first */
	struct sock_filter code[FILTER_LEN_MAX];
	unsigned count;
	bool full;
};

static unsigned append(struct builder *b, struct node node, uint8_t jt,
		       uint8_t jf, uint32_t k)
{
	if (b->count == FILTER_LEN_MAX) {
		b->full = true;
		return 0;
	}
	b->nodes[b->count] = node;
	b->code[b->count] = (struct sock_filter){ node.code, jt, jf, k };
	return b->count++;
}

/* How many instructions the next one would jump over to get to target. */
static unsigned distance(const struct builder *b, unsigned target)
{
	return b->count - 1 - target;
}

static bool is_return(const struct node *n)
{
	return BPF_CLASS(n->code) == BPF_RET;
}

/* A node that does what target does, at most max instructions away. */
static unsigned reach(struct builder *b, unsigned target, unsigned max)
{
	if (b->full || distance(b, target) <= max)
		return target;
	struct node n = b->nodes[target];

	if (is_return(&n))
		return append(b, n, 0, 0, n.k);
	return append(b, (struct node){ BPF_JMP | BPF_JA, 0, target, 0 }, 0, 0,
		      distance(b, target));
}

/* The nearest same node that there is, or -1. */
static int find(const struct builder *b, const struct node *n)
{
	for (unsigned i = b->count; i-- > 0;) {
		const struct node *o = &b->nodes[i];

		if (o->code == n->code && o->k == n->k && o->yes == n->yes &&
		    o->no == n->no)
			return (int)i;
	}
	return -1;
}

static unsigned emit(struct builder *b, struct node n)
{
	int same = find(b, &n);

	if (same >= 0)
		return (unsigned)same;
	if (is_return(&n))
		return append(b, n, 0, 0, n.k);
	if (BPF_CLASS(n.code) != BPF_JMP) {
		reach(b, n.yes, 0);
		return append(b, n, 0, 0, n.k);
	}
	/* The second call of reach may put one instruction more between. */
	unsigned no = reach(b, n.no, JUMP_MAX - 1);
	unsigned yes = reach(b, n.yes, JUMP_MAX);

	return append(b, n, (uint8_t)distance(b, yes), (uint8_t)distance(b, no),
		      n.k);
}

static unsigned emit_answer(struct builder *b, uint32_t answer)
{
	return emit(b, (struct node){ BPF_RET | BPF_K, answer, 0, 0 });
}

static unsigned emit_jump(struct builder *b, unsigned op, uint32_t k,
			  unsigned yes, unsigned no)
{
	return emit(b, (struct node){ (uint16_t)(BPF_JMP | op | BPF_K), k, yes,
				      no });
}

static unsigned emit_load(struct builder *b, size_t offset, unsigned next)
{
	return emit(b, (struct node){ BPF_LD | BPF_W | BPF_ABS,
				      (uint32_t)offset, next, 0 });
}

/* What the accumulator holds: an argument's low half under a mask. */
struct loaded {
	bool any;
	unsigned arg;
	uint32_t mask;
};

static unsigned emit_test(struct builder *b, const struct arg_condition *c,
			  unsigned yes, unsigned no)
{
	switch (c->op) {
	case ARG_HAS:
		return emit_jump(b, BPF_JSET, c->value, yes, no);
	case ARG_ABOVE:
		return emit_jump(b, BPF_JGT, c->value, yes, no);
	case ARG_IS_NOT:
		return emit_jump(b, BPF_JEQ, c->value, no, yes);
	default:
		return emit_jump(b, BPF_JEQ, c->value, yes, no);
	}
}

/* The low half, on machines that are little-endian. */
static size_t argument_offset(unsigned arg)
{
	return offsetof(struct seccomp_data, args) + arg * sizeof(uint64_t);
}

/* The checks from row and condition on. Depth and work are bounded by the
 * tables' size: a rule has ARG_CONDITIONS conditions at most. */
static unsigned emit_checks(struct builder *b, const struct call_rule *rule,
			    size_t row, size_t condition, struct loaded have)
{
	if (row == rule->count)
		return emit_answer(b, rule->answer);
	const struct arg_rule *r = &rule->checks[row];
	const struct arg_condition *c = &r->when[condition];

	if (condition == ARG_CONDITIONS || c->op == ARG_ALWAYS)
		return emit_answer(b, r->answer);
	struct loaded want = { true, c->arg, c->mask };
	unsigned yes = emit_checks(b, rule, row, condition + 1, want);
	unsigned no = emit_checks(b, rule, row + 1, 0, want);
	unsigned node = emit_test(b, c, yes, no);

	if (have.any && have.arg == want.arg && have.mask == want.mask)
		return node;
	if (c->mask != ~0U)
		node = emit(b, (struct node){ BPF_ALU | BPF_AND | BPF_K,
					      c->mask, node, 0 });
	return emit_load(b, argument_offset(c->arg), node);
}

static unsigned emit_rule(struct builder *b, const struct call_rule *rule)
{
	return emit_checks(b, rule, 0, 0, (struct loaded){ 0 });
}

/* Numbers from first up to the next segment's, all with one answer. */
struct segment {
	uint32_t first;
	unsigned node;
};

struct segments {
	struct segment items[CALLS_MAX + 3];
	size_t count;
};

static void add_segment(struct segments *s, uint32_t first, unsigned node)
{
	if (!s->count || s->items[s->count - 1].node != node)
		s->items[s->count++] = (struct segment){ first, node };
}

static void make_segments(struct builder *b, const struct rule_set *set,
			  const struct filter_arch *arch, struct segments *s)
{
	unsigned other = emit_rule(b, &set->other);

	s->count = 0;
	for (uint32_t nr = 0; nr < CALLS_MAX; nr++)
		add_segment(s, nr, emit_rule(b, &set->calls[nr]));
	add_segment(s, CALLS_MAX, other);
	if (arch->x32) {
		add_segment(s, X32_FIRST,
			    emit_answer(b, SECCOMP_RET_KILL_PROCESS));
		add_segment(s, (uint32_t)NO_CALL, other);
	}
}

/* Decides between the segments from low to high, both included. */
static unsigned emit_search(struct builder *b, const struct segment *s,
			    size_t low, size_t high)
{
	if (low == high)
		return s[low].node;
	size_t middle = low + (high - low + 1) / 2;

	/* One number in the midst of others: equality is one jump, not two. */
	if (high - low == 2 && s[low].node == s[high].node &&
	    s[middle].first + 1 == s[high].first)
		return emit_jump(b, BPF_JEQ, s[middle].first, s[middle].node,
				 s[low].node);
	unsigned above = emit_search(b, s, middle, high);
	unsigned below = emit_search(b, s, low, middle - 1);

	return emit_jump(b, BPF_JGE, s[middle].first, above, below);
}

int filter_build(const struct rule_set *set, const struct filter_arch *arch,
		 struct sock_filter ret_code[FILTER_LEN_MAX])
{
	struct builder b = { .count = 0 };
	struct segments s;

	make_segments(&b, set, arch, &s);
	unsigned kill = emit_answer(&b, SECCOMP_RET_KILL_PROCESS);
	unsigned node = emit_search(&b, s.items, 0, s.count - 1);

	node = emit_load(&b, offsetof(struct seccomp_data, nr), node);
	node = emit_jump(&b, BPF_JEQ, arch->audit, node, kill);
	node = emit_load(&b, offsetof(struct seccomp_data, arch), node);
	/* A node found instead of made would not be the program's first. */
	if (b.full || node != b.count - 1)
		return -E2BIG;
	for (unsigned i = 0; i < b.count; i++)
		ret_code[i] = b.code[b.count - 1 - i];
	return (int)b.count;
}
