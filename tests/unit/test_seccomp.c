/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The filters as data: the tables against libseccomp's names, the programs
 * against the tables for every number (computed as the kernel would), the
 * profiles against expectations written by hand, and a policy's lists.
 * test_seccomp_kernel.c has them in the kernel.
 */
#include "sandbox/seccomp.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/netlink.h>
#include <linux/sched.h>
#include <netinet/in.h>
#include <seccomp.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/mem.h"
#include "sandbox/seccomp_rules.h"
#include "tap.h"

enum {
	KNOWN_MAX = 600,
	X32 = 0x40000000,
	LONGEST = 250, /* instructions of a profile's program */
	SAMPLES_MAX = 64,
};

static const uint64_t HIGH_BIT = 1ULL << 32;

static const char *const kind_names[FILTER_KINDS] = {
	"default", "strict", "debug", "init", "volumes", "volumes, refused",
};

static const char *const emulation_names[EMULATIONS] = { "", ", one id",
							 ", a range" };

static const struct filter_arch *const arches[] = { &filter_arch_x86_64,
						    &filter_arch_aarch64 };

static const char *arch_name(const struct filter_arch *arch)
{
	return arch == &filter_arch_x86_64 ? "x86_64" : "aarch64";
}

/* ---- the tables */

static void test_every_call_has_a_group(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(arches); i++) {
		unsigned missing = 0;

		for (int nr = 0; nr < KNOWN_MAX; nr++) {
			auto_free char *name = seccomp_syscall_resolve_num_arch(
				arches[i]->audit, nr);

			if (!name)
				continue;
			if (!rules_group_of(name)) {
				printf("# %s is in no group\n", name);
				missing++;
			} else if (rules_number(name, arches[i]) != nr) {
				printf("# %s has a wrong number\n", name);
				missing++;
			}
		}
		is_int(missing, 0, "every call of %s that has a name is known",
		       arch_name(arches[i]));
	}
}

static void test_groups(void)
{
	const struct call_group *group;
	unsigned doubled = 0, homeless = 0, names = 0;
	char call[CALL_NAME_LEN];

	for (size_t i = 0; (group = rules_group(i)); i++) {
		const char *cursor = group->calls;

		while (rules_next_call(&cursor, call)) {
			names++;
			doubled += rules_group_of(call) != group;
			homeless += rules_number(call, arches[0]) < 0 &&
				    rules_number(call, arches[1]) < 0;
			if (rules_number(call, arches[0]) < 0 &&
			    rules_number(call, arches[1]) < 0)
				printf("# %s has no number\n", call);
		}
		is_str(cursor, "", "%s: all names are short enough",
		       group->name);
	}
	ok(names > 370, "the groups have %u calls", names);
	is_int(doubled, 0, "no call is in two groups");
	is_int(homeless, 0, "every call has a number on some architecture");
}

/* ---- the programs against the tables */

static bool condition_holds(const struct arg_condition *c,
			    const uint64_t args[6])
{
	uint32_t a = (uint32_t)args[c->arg];

	switch (c->op) {
	case ARG_IS:
		return (a & c->mask) == c->value;
	case ARG_IS_NOT:
		return (a & c->mask) != c->value;
	case ARG_HAS:
		return a & c->value;
	case ARG_ABOVE:
		return a > c->value;
	default:
		return true;
	}
}

static uint32_t rule_answer(const struct call_rule *rule,
			    const uint64_t args[6])
{
	for (size_t i = 0; i < rule->count; i++) {
		const struct arg_rule *r = &rule->checks[i];

		if (condition_holds(&r->when[0], args) &&
		    condition_holds(&r->when[1], args))
			return r->answer;
	}
	return rule->answer;
}

struct samples {
	uint64_t values[SAMPLES_MAX];
	size_t count;
};

static void add_sample(struct samples *s, uint64_t value)
{
	for (size_t i = 0; i < s->count; i++)
		if (s->values[i] == value)
			return;
	if (s->count == SAMPLES_MAX)
		abort();
	s->values[s->count++] = value;
}

/* What an argument is compared with, its neighbours, and high halves. */
static void collect_samples(const struct call_rule *rule, unsigned arg,
			    struct samples *s)
{
	*s = (struct samples){ { 0, ~0ULL, HIGH_BIT }, 3 };
	for (size_t i = 0; i < rule->count; i++)
		for (size_t j = 0; j < ARG_CONDITIONS; j++) {
			const struct arg_condition *c =
				&rule->checks[i].when[j];

			if (c->op == ARG_ALWAYS || c->arg != arg)
				continue;
			add_sample(s, c->value);
			add_sample(s, c->value + 1);
			add_sample(s, HIGH_BIT | c->value);
			add_sample(s, c->value | (~c->mask & SOCK_CLOEXEC));
			if (c->op == ARG_HAS)
				add_sample(s, c->value & -c->value);
		}
}

enum { SAMPLED_ARGS = 4 };

/* All combinations of samples, the last argument first. */
static unsigned compare_call(const struct filter *f,
			     const struct call_rule *rule,
			     struct seccomp_data *data)
{
	struct samples s[SAMPLED_ARGS];
	size_t at[SAMPLED_ARGS] = { 0 };
	unsigned wrong = 0;

	for (unsigned arg = 0; arg < SAMPLED_ARGS; arg++)
		collect_samples(rule, arg, &s[arg]);
	for (;;) {
		unsigned arg = 0;
		uint64_t args[6];

		for (unsigned i = 0; i < SAMPLED_ARGS; i++)
			data->args[i] = s[i].values[at[i]];
		memcpy(args, data->args, sizeof(args));
		wrong += filter_decide(f, data) != rule_answer(rule, args);
		while (arg < SAMPLED_ARGS && ++at[arg] == s[arg].count)
			at[arg++] = 0;
		if (arg == SAMPLED_ARGS)
			return wrong;
	}
}

static void compare_foreign(const struct filter *f,
			    const struct filter_arch *arch,
			    const struct rule_set *set, const char *what)
{
	static const uint32_t others[] = { AUDIT_ARCH_I386, AUDIT_ARCH_ARM,
					   AUDIT_ARCH_RISCV64, 0, ~0U };
	struct seccomp_data data = { .nr = 1 };
	unsigned wrong = 0;

	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		data.arch = others[i];
		wrong += filter_decide(f, &data) != SECCOMP_RET_KILL_PROCESS;
	}
	is_int(wrong, 0, "%s: foreign architectures are killed", what);
	data.arch = arch->audit;
	wrong = 0;
	for (int nr = 0; nr < KNOWN_MAX; nr++) {
		data.nr = X32 + nr;
		wrong += filter_decide(f, &data) !=
			 (arch->x32 ? SECCOMP_RET_KILL_PROCESS
				    : set->other.answer);
	}
	is_int(wrong, 0, "%s: numbers of x32 are %s", what,
	       arch->x32 ? "killed" : "nothing special");
	data.nr = -1;
	ok(filter_decide(f, &data) == set->other.answer,
	   "%s: a debugger's -1 is not killed", what);
}

static void compare_program(enum filter_kind kind, enum emulation emulation,
			    const struct filter_arch *arch)
{
	struct sock_filter code[FILTER_LEN_MAX];
	struct seccomp_data data = { .arch = arch->audit };
	struct rule_set set;
	unsigned wrong = 0;

	rules_fill(&set, kind, emulation, arch);
	int count = filter_build(&set, arch, code);
	auto_free char *what =
		mem_printf("%s%s on %s", kind_names[kind],
			   emulation_names[emulation], arch_name(arch));

	ok(count > 0 && count <= LONGEST, "%s: %d instructions", what, count);
	if (count <= 0)
		return;
	struct filter f = { code, (unsigned short)count, NULL };

	for (int nr = 0; nr < KNOWN_MAX; nr++) {
		const struct call_rule *rule =
			nr < CALLS_MAX ? &set.calls[nr] : &set.other;

		data.nr = nr;
		wrong += compare_call(&f, rule, &data);
	}
	is_int(wrong, 0, "%s: the program does what the tables say", what);
	compare_foreign(&f, arch, &set, what);
}

/* Programs far longer than any real one: jumps beyond 255 instructions. */
static void test_far_jumps(void)
{
	struct sock_filter code[FILTER_LEN_MAX];
	struct seccomp_data data = { .arch = arches[0]->audit };
	struct rule_set set;
	unsigned wrong = 0;

	rules_fill(&set, FILTER_DEFAULT, EMULATE_NONE, arches[0]);
	for (int nr = 0; nr < CALLS_MAX; nr++)
		if (!set.calls[nr].count)
			set.calls[nr].answer =
				SECCOMP_RET_ERRNO | (uint32_t)(nr % 7);
	int count = filter_build(&set, arches[0], code);
	struct filter f = { code, (unsigned short)count, NULL };

	ok(count > 500, "another answer for each number: %d instructions",
	   count);
	for (int nr = 0; count > 0 && nr < CALLS_MAX; nr++) {
		data.nr = nr;
		wrong += compare_call(&f, &set.calls[nr], &data);
	}
	is_int(wrong, 0, "jumps beyond 255 instructions arrive");
	for (int nr = 0; nr < CALLS_MAX; nr++)
		set.calls[nr] =
			(struct call_rule){ NULL, 0,
					    SECCOMP_RET_ERRNO | (uint32_t)nr };
	is_int(filter_build(&set, arches[0], code), -E2BIG,
	       "a program that does not fit is an error");
}

static int last_emulation(int kind)
{
	return kind < FILTER_INIT ? EMULATE_RANGE : EMULATE_NONE;
}

static void get_filter(int kind, enum emulation emulation, struct filter *ret)
{
	static const struct strv none;

	if (kind > FILTER_INIT)
		filter_for_volumes(kind == FILTER_VOLUMES, ret);
	else if (kind == FILTER_INIT)
		filter_for_init(ret);
	else
		filter_for_policy((enum profile)kind, emulation, &none, &none,
				  ret, NULL);
}

static void check_ready(int kind, int emulation)
{
	struct sock_filter code[FILTER_LEN_MAX];
	struct rule_set set;
	struct filter f;

	rules_fill(&set, (enum filter_kind)kind, (enum emulation)emulation,
		   FILTER_ARCH_NATIVE);
	int count = filter_build(&set, FILTER_ARCH_NATIVE, code);

	get_filter(kind, (enum emulation)emulation, &f);
	ok(count == f.count && !memcmp(code, f.code, f.count * sizeof(*code)),
	   "%s%s: the ready program is the live one", kind_names[kind],
	   emulation_names[emulation]);
	ok(!f.owned, "%s%s: nothing is made at run time", kind_names[kind],
	   emulation_names[emulation]);
}

static void test_ready_is_live(void)
{
	for (int kind = 0; kind < FILTER_KINDS; kind++)
		for (int e = 0; e <= last_emulation(kind); e++)
			check_ready(kind, e);
}

/* ---- the profiles against what they should be */

#define A    SECCOMP_RET_ALLOW
#define E(e) (SECCOMP_RET_ERRNO | (e))
#define N    SECCOMP_RET_USER_NOTIF

static const struct expectation {
	const char *call;
	uint64_t args[4];
	/* default, strict, debug, init, and the volumes' two where they do not
	 * allow: 0, which kills a thread, is never meant. */
	uint32_t want[FILTER_KINDS];
} expectations[] = {
	{ "read", { 0 }, { A, A, A, A } },
	{ "openat", { 0 }, { A, A, A, A } },
	{ "execve", { 0 }, { A, A, A, A } },
	{ "exit_group", { 0 }, { A, A, A, A } },
	{ "statx", { 0 }, { A, A, A, A } },
	{ "faccessat2", { 0 }, { A, A, A, A } },
	{ "openat2", { 0 }, { A, A, A, A, E(ENOSYS), E(ENOSYS) } },
	{ "prlimit64", { 0 }, { A, A, A, A } },
	{ "prlimit64", { 1 }, { A, A, A, E(EPERM) } },
	{ "prlimit64", { 1ULL << 32 | 1 }, { A, A, A, E(EPERM) } },
	{ "prlimit64", { 10 }, { A, A, A, A } },
	{ "fchmod", { 3, 0755 }, { A, A, A, A } },
	{ "fchmod", { 3, 04755 }, { A, A, A, A, N, E(EPERM) } },
	{ "fchmodat", { 3, 0, 02755 }, { A, A, A, A, N, E(EPERM) } },
	{ "fchmodat2", { 3, 0, 04000 }, { A, A, A, A, N, E(EPERM) } },
	{ "mknodat", { 3, 0, 0104755 }, { A, A, A, A, N, E(EPERM) } },
	{ "openat", { 3, 0, O_CREAT, 0644 }, { A, A, A, A } },
	{ "openat", { 3, 0, O_CREAT, 04755 }, { A, A, A, A, N, E(EPERM) } },
	{ "openat", { 3, 0, O_TMPFILE, 06755 }, { A, A, A, A, N, E(EPERM) } },
	{ "openat", { 3, 0, O_RDONLY, 06755 }, { A, A, A, A } },
	{ "close_range", { 0 }, { A, A, A, A } },
	{ "rseq", { 0 }, { A, A, A, A } },
	{ "membarrier", { 0 }, { A, A, A, A } },
	{ "pkey_alloc", { 0 }, { A, A, A, A } },
	{ "cachestat", { 0 }, { A, A, A, A } },
	{ "fchmodat2", { 0 }, { A, A, A, A } },
	{ "mseal", { 0 }, { A, A, A, A } },
	{ "futex_requeue", { 0 }, { A, A, A, A } },
	{ "seccomp", { 0 }, { A, A, A, A } },
	{ "landlock_restrict_self", { 0 }, { A, A, A, A, N, A } },
	{ "pidfd_open", { 0 }, { A, A, A, A } },
	{ "chroot", { 0 }, { A, E(EPERM), A, A } },
	{ "ptrace", { 0 }, { A, E(EPERM), A, A } },
	{ "process_vm_readv", { 0 }, { A, E(EPERM), A, A } },
	{ "shmget", { 0 }, { A, E(EPERM), A, A } },
	{ "io_setup", { 0 }, { A, E(EPERM), A, A } },
	{ "kcmp", { 0 }, { E(EPERM), E(EPERM), A, A } },
	{ "pidfd_getfd", { 0 }, { E(EPERM), E(EPERM), A, A } },
	{ "userfaultfd", { 0 }, { E(EPERM), E(EPERM), E(EPERM), A } },
	{ "fanotify_init", { 0 }, { E(EPERM), E(EPERM), E(EPERM), A } },
	{ "clone3", { 0 }, { E(ENOSYS), E(ENOSYS), E(ENOSYS), A } },
	{ "statmount", { 0 }, { E(ENOSYS), E(ENOSYS), E(ENOSYS), A } },
	{ "nfsservctl", { 0 }, { E(ENOSYS), E(ENOSYS), E(ENOSYS), A } },

	{ "clone", { SIGCHLD }, { A, A, A, A } },
	{ "clone", { CLONE_VM | CLONE_THREAD | 0xff }, { A, A, A, A } },
	{ "clone",
	  { CLONE_NEWUSER | SIGCHLD },
	  { E(EPERM), E(EPERM), E(EPERM), A } },
	{ "clone", { CLONE_NEWNS }, { E(EPERM), E(EPERM), E(EPERM), A } },
	{ "unshare", { CLONE_FILES | CLONE_FS }, { A, A, A, A } },
	{ "unshare", { CLONE_NEWUSER }, { E(EPERM), E(EPERM), E(EPERM), A } },
	{ "unshare", { CLONE_NEWTIME }, { E(EPERM), E(EPERM), E(EPERM), A } },
	{ "unshare", { CLONE_NEWCGROUP }, { E(EPERM), E(EPERM), E(EPERM), A } },

	{ "personality", { PER_LINUX }, { A, A, A, A } },
	{ "personality", { 0xffffffff }, { A, A, A, A } },
	{ "personality", { ~0ULL }, { A, A, A, A } },
	{ "personality", { PER_LINUX32 | UNAME26 }, { A, A, A, A } },
	{ "personality", { ADDR_NO_RANDOMIZE }, { E(EPERM), E(EPERM), A, A } },
	{ "personality",
	  { READ_IMPLIES_EXEC },
	  { E(EPERM), E(EPERM), E(EPERM), A } },

	{ "ioctl", { 0, TCGETS }, { A, A, A, A } },
	{ "ioctl", { 0, TIOCSCTTY }, { A, A, A, A } },
	{ "ioctl", { 0, TIOCSTI }, { E(EPERM), E(EPERM), E(EPERM), A } },
	{ "ioctl",
	  { 0, 1ULL << 32 | TIOCSTI },
	  { E(EPERM), E(EPERM), E(EPERM), A } },
	{ "ioctl", { 0, TIOCLINUX }, { E(EPERM), E(EPERM), E(EPERM), A } },
	{ "ioctl",
	  { 0, 0xffffffffULL << 32 | TIOCLINUX },
	  { E(EPERM), E(EPERM), E(EPERM), A } },
	{ "ioctl", { 0, TIOCSETD }, { E(EPERM), E(EPERM), E(EPERM), A } },
	{ "ioctl", { 0, TIOCCONS }, { E(EPERM), E(EPERM), E(EPERM), A } },

	{ "socket", { AF_UNIX, SOCK_STREAM }, { A, A, A, A } },
	{ "socket",
	  { AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC },
	  { A, A, A, A } },
	{ "socket", { AF_INET, SOCK_STREAM | SOCK_NONBLOCK }, { A, A, A, A } },
	{ "socket", { AF_INET, SOCK_STREAM, IPPROTO_TCP }, { A, A, A, A } },
	{ "socket", { AF_INET6, SOCK_DGRAM, IPPROTO_UDP }, { A, A, A, A } },
	{ "socket", { AF_INET6, SOCK_DGRAM, IPPROTO_ICMPV6 }, { A, A, A, A } },
	{ "socket",
	  { AF_INET, SOCK_RAW, IPPROTO_ICMP },
	  { E(EPERM), E(EPERM), E(EPERM), A } },
	{ "socket",
	  { AF_INET, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_TCP },
	  { E(EPERM), E(EPERM), E(EPERM), A } },
	{ "socket", { AF_INET, 10 }, { E(EPERM), E(EPERM), E(EPERM), A } },
	{ "socket",
	  { AF_INET, SOCK_STREAM, IPPROTO_SCTP },
	  { E(EPROTONOSUPPORT), E(EPROTONOSUPPORT), E(EPROTONOSUPPORT), A } },
	{ "socket",
	  { AF_INET, SOCK_STREAM, 262 /* MPTCP */ },
	  { E(EPROTONOSUPPORT), E(EPROTONOSUPPORT), E(EPROTONOSUPPORT), A } },
	{ "socket",
	  { AF_INET, SOCK_DCCP },
	  { E(EPROTONOSUPPORT), E(EPROTONOSUPPORT), E(EPROTONOSUPPORT), A } },
	{ "socket",
	  { AF_NETLINK, SOCK_RAW, NETLINK_ROUTE },
	  { A, E(EAFNOSUPPORT), A, A } },
	{ "socket",
	  { AF_NETLINK, SOCK_RAW, NETLINK_AUDIT },
	  { E(EPROTONOSUPPORT), E(EAFNOSUPPORT), E(EPROTONOSUPPORT), A } },
	{ "socket",
	  { AF_VSOCK, SOCK_STREAM },
	  { E(EAFNOSUPPORT), E(EAFNOSUPPORT), E(EAFNOSUPPORT), A } },
	{ "socket",
	  { 1ULL << 32 | AF_VSOCK, SOCK_STREAM },
	  { E(EAFNOSUPPORT), E(EAFNOSUPPORT), E(EAFNOSUPPORT), A } },
	{ "socket",
	  { AF_ALG, SOCK_SEQPACKET },
	  { E(EAFNOSUPPORT), E(EAFNOSUPPORT), E(EAFNOSUPPORT), A } },
	{ "socket",
	  { AF_PACKET, SOCK_RAW },
	  { E(EAFNOSUPPORT), E(EAFNOSUPPORT), E(EAFNOSUPPORT), A } },
	{ "socketpair", { AF_UNIX, SOCK_STREAM }, { A, A, A, A } },
	{ "socketpair",
	  { AF_TIPC, SOCK_STREAM },
	  { E(EAFNOSUPPORT), E(EAFNOSUPPORT), E(EAFNOSUPPORT), A } },

	{ "mmap", { 0, 0, PROT_READ | PROT_WRITE }, { A, A, A, A } },
	{ "mmap", { 0, 0, PROT_READ | PROT_EXEC }, { A, A, A, A } },
	{ "mmap",
	  { 0, 0, PROT_READ | PROT_WRITE | PROT_EXEC },
	  { A, E(EPERM), A, A } },
	{ "mprotect", { 0, 0, PROT_WRITE | PROT_EXEC }, { A, E(EPERM), A, A } },
	{ "pkey_mprotect",
	  { 0, 0, PROT_WRITE | PROT_EXEC },
	  { A, E(EPERM), A, A } },
};

static uint32_t decide(const struct filter *f, const char *call,
		       const uint64_t args[4])
{
	struct seccomp_data data = {
		.nr = rules_number(call, FILTER_ARCH_NATIVE),
		.arch = FILTER_ARCH_NATIVE->audit,
		.args = { args[0], args[1], args[2], args[3] },
	};

	return filter_decide(f, &data);
}

static void test_expectations(void)
{
	for (int kind = 0; kind < FILTER_KINDS; kind++) {
		unsigned wrong = 0;
		struct filter f;

		get_filter(kind, EMULATE_NONE, &f);
		for (size_t i = 0; i < ARRAY_SIZE(expectations); i++) {
			const struct expectation *e = &expectations[i];
			uint32_t got = decide(&f, e->call, e->args);
			uint32_t want = e->want[kind];

			if (kind > FILTER_INIT && !want)
				want = A;
			if (got == want)
				continue;
			wrong++;
			printf("# line %zu, %s: %#x, want %#x\n", i, e->call,
			       got, want);
		}
		is_int(wrong, 0, "%s answers as it should", kind_names[kind]);
	}
}

/* What no box ever needs, in the profiles' programs and init's; "!" in front:
 * ENOSYS. */
static const char never_allowed[] =
	"mount umount2 pivot_root move_mount open_tree fsopen fsconfig "
	"fsmount fspick mount_setattr open_tree_attr setns bpf "
	"perf_event_open kexec_load kexec_file_load init_module "
	"finit_module delete_module swapon swapoff reboot acct "
	"open_by_handle_at quotactl quotactl_fd iopl ioperm syslog vhangup "
	"settimeofday clock_settime lookup_dcookie !keyctl !add_key "
	"!request_key !io_uring_setup !io_uring_enter !io_uring_register";

static void test_emulation(void)
{
	static const struct strv none;
	static const struct {
		const char *call;
		uint64_t args[4];
		uint32_t one, range;
	} cases[] = {
		{ "chown", { 0, 0, 0 }, A, A },
		{ "chown", { 0, 1, 0 }, E(0), A },
		{ "chown", { 0, 0, 33 }, E(0), A },
		{ "chown", { 0, 65536, 0 }, E(0), E(0) },
		{ "lchown", { 0, 65535, 65535 }, E(0), A },
		{ "fchown", { 3, 0xffffffff, 0 }, A, A },
		{ "fchown", { 3, ~0ULL, ~0ULL }, A, A },
		{ "fchownat", { 3, 0, 0, 1234567 }, E(0), E(0) },
		{ "fchownat", { 3, 0, 0, 0 }, A, A },
		{ "setuid", { 0 }, A, A },
		{ "setuid", { 1000 }, E(0), A },
		{ "setresuid", { 0, 0, 5 }, E(0), A },
		{ "setresgid", { ~0ULL, 0, ~0ULL }, A, A },
		{ "setreuid", { 0xffffffff, 70000 }, E(0), E(0) },
		{ "setgroups", { 1 }, E(0), A },
		{ "mknod", { 0, S_IFCHR | 0600, 0x103 }, E(0), E(0) },
		{ "mknod", { 0, S_IFCHR | 0600, 0 }, A, A },
		{ "mknod", { 0, S_IFIFO | 0600, 0 }, A, A },
		{ "mknod", { 0, S_IFREG | 0600, 0 }, A, A },
		{ "mknodat", { 3, 0, S_IFBLK | 0600, 0x800 }, E(0), E(0) },
	};

	for (int e = EMULATE_ONE; e <= EMULATE_RANGE; e++) {
		struct filter f;

		filter_for_policy(PROFILE_DEFAULT, (enum emulation)e, &none,
				  &none, &f, NULL);
		for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
			if (rules_number(cases[i].call, FILTER_ARCH_NATIVE) < 0)
				continue;
			is_int(decide(&f, cases[i].call, cases[i].args),
			       e == EMULATE_ONE ? cases[i].one : cases[i].range,
			       "emulation%s: %s, case %zu", emulation_names[e],
			       cases[i].call, i);
		}
	}
}

static void test_never_allowed(void)
{
	static const uint64_t no_args[4];
	char call[CALL_NAME_LEN];

	for (int kind = 0; kind <= FILTER_INIT; kind++) {
		const char *cursor = never_allowed;
		unsigned wrong = 0;
		struct filter f;

		get_filter(kind, EMULATE_NONE, &f);
		while (rules_next_call(&cursor, call)) {
			bool nosys = *call == '!';

			/* aarch64 has no iopl and ioperm. */
			if (rules_number(call + nosys, FILTER_ARCH_NATIVE) < 0)
				continue;
			if (decide(&f, call + nosys, no_args) ==
			    (nosys ? E(ENOSYS) : E(EPERM)))
				continue;
			printf("# %s\n", call);
			wrong++;
		}
		is_int(wrong, 0, "%s refuses what no box needs",
		       kind_names[kind]);
	}
}

/* ---- lists of a policy */

static int make_filter(enum profile profile, const char *allow,
		       const char *deny, struct filter *f, struct error *err)
{
	auto_strv allowed = { 0 }, denied = { 0 };
	char name[CALL_NAME_LEN];

	while (rules_next_call(&allow, name))
		strv_add(&allowed, name);
	while (rules_next_call(&deny, name))
		strv_add(&denied, name);
	return filter_for_policy(profile, EMULATE_NONE, &allowed, &denied, f,
				 err);
}

static void list_answers(enum profile profile, const char *allow,
			 const char *deny, const char *call, uint64_t arg0,
			 uint32_t want)
{
	const uint64_t args[4] = { arg0, 0, PROT_WRITE | PROT_EXEC };
	struct filter f = { 0 };
	struct error err = { 0 };
	int r = make_filter(profile, allow, deny, &f, &err);

	ok(r == 0 && f.owned && decide(&f, call, args) == want,
	   "%s, allow [%s], deny [%s]: %s gives %#x", kind_names[profile],
	   allow, deny, call, want);
	filter_release(&f);
}

static void list_fails(const char *allow, const char *deny, const char *message,
		       const char *hint)
{
	struct filter f = { 0 };
	struct error err = { 0 };
	int r = make_filter(PROFILE_DEFAULT, allow, deny, &f, &err);

	ok(r < 0 && err.kind == ERROR_POLICY && !f.code,
	   "allow [%s], deny [%s] is an error", allow, deny);
	is_str(err.message, message, "its message");
	is_str(err.hint, hint, "its hint");
}

static void test_lists(void)
{
	list_answers(PROFILE_DEFAULT, "", "ptrace", "ptrace", 0, E(EPERM));
	list_answers(PROFILE_DEFAULT, "", "ptrace", "kill", 0, A);
	list_answers(PROFILE_DEFAULT, "", "@socket", "connect", 0, E(EPERM));
	list_answers(PROFILE_DEFAULT, "", "@socket", "socket", AF_UNIX,
		     E(EPERM));
	list_answers(PROFILE_DEFAULT, "kcmp", "", "kcmp", 0, A);
	list_answers(PROFILE_DEFAULT, "kcmp", "", "userfaultfd", 0, E(EPERM));
	list_answers(PROFILE_DEFAULT, "@privileged", "", "userfaultfd", 0, A);
	list_answers(PROFILE_DEFAULT, "kcmp", "@debug", "kcmp", 0, E(EPERM));
	list_answers(PROFILE_DEFAULT, "clone3", "", "clone3", 0, A);
	list_answers(PROFILE_DEFAULT, "", "clone3", "clone3", 0, E(ENOSYS));
	list_answers(PROFILE_DEFAULT, "", "@keyring", "keyctl", 0, E(ENOSYS));
	list_answers(PROFILE_STRICT, "@ptrace", "", "ptrace", 0, A);
	list_answers(PROFILE_STRICT, "", "kill", "mmap", 0, E(EPERM));
	list_answers(PROFILE_STRICT, "@memory", "", "mmap", 0, A);
	list_answers(PROFILE_STRICT, "@ipc", "shmat", "shmget", 0, A);
	list_answers(PROFILE_STRICT, "@ipc", "shmat", "shmat", 0, E(EPERM));
	list_answers(PROFILE_DEFAULT, "@process", "", "unshare", CLONE_NEWUSER,
		     E(EPERM));
	for (int p = PROFILE_DEFAULT; p <= PROFILE_DEBUG; p++)
		list_answers((enum profile)p, "socket", "", "socket", AF_VSOCK,
			     E(EAFNOSUPPORT));
	list_fails("", "ptarce",
		   "syscalls.deny: unknown system call \"ptarce\"",
		   "did you mean \"ptrace\"?");
	list_fails("@sokcet", "",
		   "syscalls.allow: unknown group of system calls \"@sokcet\"",
		   "did you mean \"@socket\"?");
	list_fails("", "nothing_like_it",
		   "syscalls.deny: unknown system call \"nothing_like_it\"",
		   "llmbox-policy(5) lists groups and the calls that are in "
		   "them");
	list_fails("kill mount", "",
		   "syscalls.allow: \"mount\": mount is never allowed in a box",
		   "take it out of the list: no policy changes this");
	list_fails("@bpf", "",
		   "syscalls.allow: \"@bpf\": bpf is never allowed in a box",
		   "take it out of the list: no policy changes this");
	list_fails("", "execve",
		   "syscalls.deny: \"execve\": without execve no command can "
		   "start",
		   "take it out of the list");
	list_fails("", "@process",
		   "syscalls.deny: \"@process\": without execve no command can "
		   "start",
		   "take it out of the list, and name single calls of it");
}

/* Every call but one of each two denied: the longest program lists can make. */
static void test_longest_list(void)
{
	auto_strv none = { 0 }, deny = { 0 };
	struct filter f = { 0 };

	for (int nr = 0; nr < CALLS_MAX; nr += 2) {
		auto_free char *name = seccomp_syscall_resolve_num_arch(
			FILTER_ARCH_NATIVE->audit, nr);

		if (name && strcmp(name, "execve") != 0 &&
		    strcmp(name, "exit_group") != 0)
			strv_add(&deny, name);
	}
	int r = filter_for_policy(PROFILE_STRICT, EMULATE_RANGE, &none, &deny,
				  &f, NULL);

	is_int(r, 0, "a filter with %zu calls denied is made: %u instructions",
	       deny.count, f.count);
	filter_release(&f);
}

int main(void)
{
	test_every_call_has_a_group();
	test_groups();
	for (size_t i = 0; i < ARRAY_SIZE(arches); i++)
		for (int kind = 0; kind < FILTER_KINDS; kind++)
			for (int e = 0; e <= last_emulation(kind); e++)
				compare_program((enum filter_kind)kind,
						(enum emulation)e, arches[i]);
	test_far_jumps();
	test_ready_is_live();
	test_expectations();
	test_emulation();
	test_never_allowed();
	test_lists();
	test_longest_list();
	return done_testing();
}
