/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What tests need inside a box and a shell can't do: raw system calls, foreign
 * ones, floods of processes, files and output. Static, so that it runs in a
 * root that holds nothing else. It trusts its arguments: they come from tests.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const char *errno_name(int code)
{
	const char *name = strerrorname_np(code);

	return name ? name : "?";
}

/* One line, at once: a test may be waiting for it. */
static int say(long result)
{
	if (result < 0)
		printf("%s\n", errno_name(errno));
	else
		printf("%ld\n", result);
	fflush(stdout);
	return result < 0;
}

/* Zeroed, and never freed: some calls keep what they are given. */
static unsigned char *take(size_t size)
{
	static unsigned char store[1 << 20];
	static size_t used;

	if (size > sizeof(store) - used) {
		fprintf(stderr, "helper: arguments are too long\n");
		exit(2);
	}
	used += size;
	return store + used - size;
}

/*
 * "s:TEXT" is a pointer to TEXT, "b:SIZE" to so many zero bytes, "x:HEX" to
 * these bytes; all else is a number in C's forms.
 */
static long argument(char *s)
{
	if (!strncmp(s, "s:", 2))
		return (long)(intptr_t)(s + 2);
	if (!strncmp(s, "b:", 2))
		return (long)(intptr_t)take(strtoul(s + 2, NULL, 0));
	if (!strncmp(s, "x:", 2)) {
		size_t len = strlen(s + 2) / 2;
		unsigned char *data = take(len);

		for (size_t i = 0; i < len; i++) {
			char digits[] = { s[2 + 2 * i], s[3 + 2 * i], '\0' };

			data[i] = (unsigned char)strtoul(digits, NULL, 16);
		}
		return (long)(intptr_t)data;
	}
	return s[0] == '-' ? strtol(s, NULL, 0) : (long)strtoul(s, NULL, 0);
}

/* syscall NR [ARG]...: the result or the errno's name. */
static int do_syscall(int argc, char **argv)
{
	long a[7] = { 0 };

	for (int i = 1; i < argc && i <= 7; i++)
		a[i - 1] = argument(argv[i]);
	return say(syscall(a[0], a[1], a[2], a[3], a[4], a[5], a[6]));
}

/* i386: getpid(2) by the 32-bit entry, which a filter must not overlook. */
static int do_i386(int argc, char **argv)
{
	(void)argc;
	(void)argv;
#ifdef __x86_64__
	long result;

	__asm__ volatile("int $0x80" : "=a"(result) : "0"(20L) : "memory");
	if (result < 0) {
		errno = (int)-result;
		result = -1;
	}
	return say(result);
#else
	puts("ENOTSUP");
	return 1;
#endif
}

/* x32: getpid(2) by its x32 number. */
static int do_x32(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	return say(syscall(0x40000000L + SYS_getpid));
}

/*
 * forks N: as many of N sleeping children as there may be at once; prints the
 * number and what stopped it.
 */
static int do_forks(int argc, char **argv)
{
	long want = argc > 1 ? strtol(argv[1], NULL, 0) : 0, made = 0;
	int code = 0;

	pid_t *pids = calloc((size_t)want + 1, sizeof(*pids));

	if (!pids)
		return say(-1);
	while (made < want) {
		pid_t pid = fork();

		if (pid == 0) {
			pause();
			_exit(0);
		}
		if (pid < 0) {
			code = errno;
			break;
		}
		pids[made++] = pid;
	}
	printf("%ld %s\n", made, code ? errno_name(code) : "all");
	fflush(stdout);
	for (long i = 0; i < made; i++)
		kill(pids[i], SIGKILL);
	while (wait(NULL) > 0)
		;
	free(pids);
	return code != 0;
}

/* bomb: forks and forks, in sessions of their own, and never ends. */
static int do_bomb(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	signal(SIGTERM, SIG_IGN);
	signal(SIGCHLD, SIG_IGN);
	puts("lit");
	fflush(stdout);
	for (;;) {
		if (fork() == 0)
			setsid();
	}
	return 0;
}

/*
 * daemon: leaves a process that is nobody's child, in a session of its own,
 * with all descriptors open, deaf to all signals that one can be deaf to.
 */
static int do_daemon(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	if (fork() != 0)
		return 0;
	setsid();
	if (fork() != 0)
		_exit(0);
	for (int i = 1; i < NSIG; i++)
		signal(i, SIG_IGN);
	for (;;)
		pause();
	return 0;
}

/* deaf: says "ready", ignores every signal it can, waits for ever. */
static int do_deaf(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	for (int i = 1; i < NSIG; i++)
		signal(i, SIG_IGN);
	puts("ready");
	fflush(stdout);
	for (;;)
		pause();
	return 0;
}

/* wait: says "ready" and waits for a signal. */
static int do_wait(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	puts("ready");
	fflush(stdout);
	pause();
	return 0;
}

/* signal N: by its own hand, with the default action. */
static int do_signal(int argc, char **argv)
{
	int number = argc > 1 ? (int)strtol(argv[1], NULL, 0) : SIGTERM;
	struct rlimit none = { 0, 0 };

	setrlimit(RLIMIT_CORE, &none);
	signal(number, SIG_DFL);
	kill(getpid(), number);
	pause();
	return 0;
}

/* fill PATH [BYTES]: writes until it can't; prints bytes and the reason. */
static int do_fill(int argc, char **argv)
{
	static char block[65536];
	uintmax_t max = argc > 2 ? strtoumax(argv[2], NULL, 0) : UINTMAX_MAX;
	uintmax_t total = 0;
	int code = 0;
	int fd = argc > 1 ? open(argv[1], O_WRONLY | O_CREAT | O_CLOEXEC, 0600)
			  : -1;

	signal(SIGXFSZ, SIG_IGN);
	if (fd < 0)
		return say(-1);
	while (total < max) {
		uintmax_t left = max - total;
		size_t part = left < sizeof(block) ? left : sizeof(block);
		ssize_t n = write(fd, block, part);

		if (n < 0) {
			code = errno;
			break;
		}
		total += (uintmax_t)n;
	}
	printf("%" PRIuMAX " %s\n", total, code ? errno_name(code) : "all");
	return code != 0;
}

/* files DIR N: empty files until it can't. */
static int do_files(int argc, char **argv)
{
	long want = argc > 2 ? strtol(argv[2], NULL, 0) : 0, made = 0;
	int code = 0;

	for (; made < want; made++) {
		char name[4096];

		snprintf(name, sizeof(name), "%s/%ld", argv[1], made);
		int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
			      0600);

		if (fd < 0) {
			code = errno;
			break;
		}
		close(fd);
	}
	printf("%ld %s\n", made, code ? errno_name(code) : "all");
	return code != 0;
}

/* print BYTES [FD]: so many 'x' without a newline. */
static int do_print(int argc, char **argv)
{
	static char block[65536];
	uintmax_t left = argc > 1 ? strtoumax(argv[1], NULL, 0) : 0;
	int fd = argc > 2 ? (int)strtol(argv[2], NULL, 0) : 1;

	memset(block, 'x', sizeof(block));
	while (left > 0) {
		size_t part = left < sizeof(block) ? left : sizeof(block);
		ssize_t n = write(fd, block, part);

		if (n < 0)
			return 1;
		left -= (uintmax_t)n;
	}
	return 0;
}

/* descriptors: the open ones up to 4096, each with its type's letter. */
static int do_descriptors(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	for (int fd = 0; fd < 4096; fd++) {
		struct stat st;

		if (fstat(fd, &st) < 0)
			continue;
		mode_t type = st.st_mode & S_IFMT;

		printf("%d%c ", fd,
		       type == S_IFIFO    ? 'p'
		       : type == S_IFSOCK ? 's'
		       : type == S_IFCHR  ? (isatty(fd) ? 't' : 'c')
		       : type == S_IFREG  ? 'f'
		       : type == S_IFDIR  ? 'd'
					  : '?');
	}
	putchar('\n');
	return 0;
}

/* memory BYTES: memory that is really used; prints how much there was. */
static int do_memory(int argc, char **argv)
{
	size_t len = argc > 1 ? strtoul(argv[1], NULL, 0) : 4096;
	char *p = mmap(NULL, len, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return say(-1);
	for (size_t i = 0; i < len; i += 4096)
		p[i] = 1;
	return say((long)len);
}

/* spin: uses the processor for ever. */
static int do_spin(int argc, char **argv)
{
	(void)argv;
	for (volatile int i = argc; i; i |= 1)
		;
	return 0;
}

/* cat [FILE]: for roots that hold nothing else. */
static int do_cat(int argc, char **argv)
{
	char block[65536];
	ssize_t n;
	int fd = argc > 1 ? open(argv[1], O_RDONLY | O_CLOEXEC) : 0;

	if (fd < 0)
		return say(-1);
	while ((n = read(fd, block, sizeof(block))) > 0)
		if (write(1, block, (size_t)n) != n)
			return 1;
	return n < 0 ? say(-1) : 0;
}

static int do_echo(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		printf("%s%s", i > 1 ? " " : "", argv[i]);
	putchar('\n');
	return 0;
}

/* tmpfile DIR NAME MODE: a file without a name, then with one. */
static int do_tmpfile(int argc, char **argv)
{
	char link[64];

	if (argc < 4)
		return 2;
	int fd = open(argv[1], O_TMPFILE | O_WRONLY | O_CLOEXEC,
		      (mode_t)strtoul(argv[3], NULL, 8));

	if (fd < 0)
		return say(-1);
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	return say(
		linkat(AT_FDCWD, link, AT_FDCWD, argv[2], AT_SYMLINK_FOLLOW));
}

/* create PATH MODE [TEXT]: opens with O_CREAT and writes; prints the number of
 * the descriptor. */
static int do_create(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	int fd = open(argv[1], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC,
		      (mode_t)strtoul(argv[2], NULL, 8));

	if (argc > 3 && fd >= 0 &&
	    write(fd, argv[3], strlen(argv[3])) != (ssize_t)strlen(argv[3]))
		return say(-1);
	return say(fd);
}

/* modes PATH N: so many chmod(2) with the setuid bit; how many nanoseconds each
 * took, and each of as many without it. */
static int do_modes(int argc, char **argv)
{
	long n = argc > 2 ? strtol(argv[2], NULL, 0) : 1;

	for (int i = 0; i < 2 && argc > 1; i++) {
		struct timespec start, end;

		clock_gettime(CLOCK_MONOTONIC, &start);
		for (long j = 0; j < n; j++)
			if (chmod(argv[1], i ? 0755 : 04755) < 0)
				return say(-1);
		clock_gettime(CLOCK_MONOTONIC, &end);
		printf("%ld ", ((end.tv_sec - start.tv_sec) * 1000000000 +
				end.tv_nsec - start.tv_nsec) /
				       n);
	}
	putchar('\n');
	return 0;
}

/* Exchanges A and B, or puts their names into path in turn; never ends. */
static void disturb(char *path, const char *a, const char *b)
{
	for (unsigned i = 0;; i++)
		if (path)
			snprintf(path, 4096, "%s", i % 2 ? a : b);
		else
			renameat2(AT_FDCWD, a, AT_FDCWD, b, RENAME_EXCHANGE);
}

/*
 * race memory A B N: chmod(2) with setuid bits, N times, while another process
 * puts the names A and B into the memory of the path in turn.
 * race swap A B N: the same of A/f, while another exchanges A and B.
 * Prints how many succeeded.
 */
static int do_race(int argc, char **argv)
{
	char *path = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (argc < 5 || path == MAP_FAILED)
		return 2;
	bool swap = strcmp(argv[1], "swap") == 0;
	long n = strtol(argv[4], NULL, 0), done = 0;

	snprintf(path, 4096, swap ? "%s/f" : "%s", argv[2]);
	pid_t pid = fork();

	if (pid == 0)
		disturb(swap ? NULL : path, argv[2], argv[3]);
	for (long i = 0; i < n; i++)
		done += chmod(path, 06755) == 0;
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	return say(done);
}

static int run_rest(int argc, char **argv)
{
	if (argc < 2)
		return 0;
	execv(argv[1], argv + 1);
	return say(-1);
}

/* filtered COMMAND...: with a system-call filter of its own. Prints what asking
 * for a listener gave. */
static int do_filtered(int argc, char **argv)
{
	struct sock_filter allow = { BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW };
	struct sock_fprog program = { 1, &allow };

	say(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
		    SECCOMP_FILTER_FLAG_NEW_LISTENER, &program));
	if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) < 0)
		return say(-1);
	return run_rest(argc, argv);
}

/* landlocked COMMAND...: may neither make nor write a file, by its own rules.
 */
static int do_landlocked(int argc, char **argv)
{
	uint64_t handled =
		LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_MAKE_REG;
	int fd = (int)syscall(SYS_landlock_create_ruleset, &handled,
			      sizeof(handled), 0);

	if (fd < 0 || syscall(SYS_landlock_restrict_self, fd, 0) < 0)
		return say(-1);
	return run_rest(argc, argv);
}

static int do_exit(int argc, char **argv)
{
	return argc > 1 ? (int)strtol(argv[1], NULL, 0) : 0;
}

static const struct {
	const char *name;
	int (*run)(int argc, char **argv);
} commands[] = {
	{ "syscall", do_syscall },   { "i386", do_i386 },
	{ "x32", do_x32 },           { "forks", do_forks },
	{ "bomb", do_bomb },         { "daemon", do_daemon },
	{ "deaf", do_deaf },         { "wait", do_wait },
	{ "signal", do_signal },     { "fill", do_fill },
	{ "files", do_files },       { "print", do_print },
	{ "memory", do_memory },     { "descriptors", do_descriptors },
	{ "spin", do_spin },         { "cat", do_cat },
	{ "echo", do_echo },         { "exit", do_exit },
	{ "tmpfile", do_tmpfile },   { "create", do_create },
	{ "modes", do_modes },       { "race", do_race },
	{ "filtered", do_filtered }, { "landlocked", do_landlocked },
};

int main(int argc, char **argv)
{
	for (size_t i = 0; argc > 1 && i < sizeof(commands) / sizeof(*commands);
	     i++)
		if (!strcmp(argv[1], commands[i].name))
			return commands[i].run(argc - 1, argv + 1);
	fprintf(stderr, "helper: no such command\n");
	return 2;
}
