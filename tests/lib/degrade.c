/* SPDX-License-Identifier: Apache-2.0 */
/*
 * degrade SPEC... -- COMMAND [ARG]...: runs a command on a worse kernel, by a
 * system-call filter that it and all that it starts inherit.
 *
 *	NAME=ERRNO              the system call fails: openat2=ENOSYS
 *	userns=ERRNO            clone and unshare with CLONE_NEWUSER; clone3,
 *				whose flags no filter sees, is ENOSYS
 *	ns:FLAG=ERRNO           the same for other bits, a number
 *	ioctl:REQUEST=ERRNO     one request, a number
 *	socket:FAMILY=ERRNO     one family, a number
 *	prctl:OPTION=ERRNO      one option, a number
 *	mount:FLAG=ERRNO        mount(2) with this bit
 *	listener=ERRNO          a filter with SECCOMP_FILTER_FLAG_NEW_LISTENER
 *	write:SUFFIX=ERRNO      opening a file for writing whose path ends so;
 *				by a notification, so none can be had below
 *	profile=FILE            lines made of a container engine's profile:
 *				"default ERRNO", then "NAME [INDEX OP VALUE
 *				MASK]..." for each call that is allowed
 *
 * Without root it sets no_new_privs, as the kernel asks (seccomp(2)); --nnp
 * sets it for root too. Names that this kernel's libseccomp does not know are
 * left out, as engines do.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <seccomp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SUFFIXES_MAX = 8, ARGS_MAX = 6 };

struct degrade {
	scmp_filter_ctx filter;
	struct {
		const char *text;
		int code;
	} suffixes[SUFFIXES_MAX];
	unsigned suffix_count;
};

static void die(const char *what, const char *name)
{
	fprintf(stderr, "degrade: %s %s\n", what, name);
	exit(99);
}

static int errno_number(const char *name)
{
	static const struct {
		const char *name;
		int code;
	} known[] = {
		{ "EPERM", EPERM },   { "EACCES", EACCES },
		{ "EINVAL", EINVAL }, { "ENOSYS", ENOSYS },
		{ "ENOSPC", ENOSPC }, { "EAFNOSUPPORT", EAFNOSUPPORT },
		{ "ENODEV", ENODEV }, { "EBUSY", EBUSY },
		{ "EROFS", EROFS },   { "EDQUOT", EDQUOT },
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (strcmp(known[i].name, name) == 0)
			return known[i].code;
	if (strspn(name, "0123456789") == strlen(name))
		return atoi(name);
	die("no error number:", name);
	return 0;
}

/* Numbers that an older libseccomp does not know are not what is tested. */
static void refuse(struct degrade *d, const char *call, int code,
		   unsigned count, const struct scmp_arg_cmp *args)
{
	int nr = seccomp_syscall_resolve_name(call);

	if (nr < 0)
		die("no system call:", call);
	if (seccomp_rule_add_array(d->filter, SCMP_ACT_ERRNO((uint16_t)code),
				   nr, count, args) < 0)
		die("no rule for", call);
}

static void refuse_bit(struct degrade *d, const char *call, unsigned index,
		       uint64_t bit, int code)
{
	struct scmp_arg_cmp has =
		SCMP_CMP64(index, SCMP_CMP_MASKED_EQ, bit, bit);

	refuse(d, call, code, 1, &has);
}

static void refuse_value(struct degrade *d, const char *call, unsigned index,
			 uint64_t value, int code)
{
	struct scmp_arg_cmp is = SCMP_CMP64(index, SCMP_CMP_EQ, value, 0);

	refuse(d, call, code, 1, &is);
}

/* The two calls with flags that a filter can see. */
static void refuse_namespace(struct degrade *d, uint64_t flag, int code)
{
	refuse_bit(d, "clone", 0, flag, code);
	refuse_bit(d, "unshare", 0, flag, code);
	refuse(d, "clone3", ENOSYS, 0, NULL);
}

static void watch_opens(struct degrade *d, const char *suffix, int code)
{
	static const struct {
		const char *call;
		unsigned index;
	} opens[] = { { "openat", 2 }, { "open", 1 } };

	if (d->suffix_count == SUFFIXES_MAX)
		die("too many of", "write:");
	d->suffixes[d->suffix_count].text = suffix;
	d->suffixes[d->suffix_count++].code = code;
	for (size_t i = 0; i < 2 && d->suffix_count == 1; i++) {
		int nr = seccomp_syscall_resolve_name(opens[i].call);

		for (uint64_t mode = O_WRONLY; nr >= 0 && mode <= O_RDWR;
		     mode++)
			seccomp_rule_add(d->filter, SCMP_ACT_NOTIFY, nr, 1,
					 SCMP_CMP64(opens[i].index,
						    SCMP_CMP_MASKED_EQ,
						    O_ACCMODE, mode));
	}
}

/* "NAME:VALUE" of a name with a colon; else NULL. */
static char *value_of(char *name)
{
	char *colon = strchr(name, ':');

	if (colon)
		*colon++ = '\0';
	return colon;
}

static void add(struct degrade *d, char *spec)
{
	static const struct {
		const char *name, *call;
		unsigned index;
		bool bit;
	} by_argument[] = {
		{ "ioctl", "ioctl", 1, false },
		{ "socket", "socket", 0, false },
		{ "prctl", "prctl", 0, false },
		{ "mount", "mount", 3, true },
	};
	char *equals = strchr(spec, '=');

	if (!equals)
		die("not NAME=ERRNO:", spec);
	*equals = '\0';
	int code = errno_number(equals + 1);
	char *value = value_of(spec);
	uint64_t number = value ? strtoull(value, NULL, 0) : 0;

	if (strcmp(spec, "userns") == 0) {
		refuse_namespace(d, CLONE_NEWUSER, code);
		return;
	}
	if (strcmp(spec, "listener") == 0) {
		refuse_bit(d, "seccomp", 1, SECCOMP_FILTER_FLAG_NEW_LISTENER,
			   code);
		return;
	}
	if (!value) {
		refuse(d, spec, code, 0, NULL);
		return;
	}
	if (strcmp(spec, "ns") == 0) {
		refuse_namespace(d, number, code);
		return;
	}
	if (strcmp(spec, "write") == 0) {
		watch_opens(d, value, code);
		return;
	}
	for (size_t i = 0; i < sizeof(by_argument) / sizeof(by_argument[0]);
	     i++) {
		if (strcmp(by_argument[i].name, spec) != 0)
			continue;
		if (by_argument[i].bit)
			refuse_bit(d, by_argument[i].call, by_argument[i].index,
				   number, code);
		else
			refuse_value(d, by_argument[i].call,
				     by_argument[i].index, number, code);
		return;
	}
	die("nothing is known by the name", spec);
}

/* ---- a container engine's profile ---- */

static enum scmp_compare compare_named(const char *name)
{
	static const struct {
		const char *name;
		enum scmp_compare op;
	} known[] = {
		{ "SCMP_CMP_NE", SCMP_CMP_NE },
		{ "SCMP_CMP_LT", SCMP_CMP_LT },
		{ "SCMP_CMP_LE", SCMP_CMP_LE },
		{ "SCMP_CMP_EQ", SCMP_CMP_EQ },
		{ "SCMP_CMP_GE", SCMP_CMP_GE },
		{ "SCMP_CMP_GT", SCMP_CMP_GT },
		{ "SCMP_CMP_MASKED_EQ", SCMP_CMP_MASKED_EQ },
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (strcmp(known[i].name, name) == 0)
			return known[i].op;
	die("no comparison:", name);
	return 0;
}

static void allow_line(struct degrade *d, char *line)
{
	struct scmp_arg_cmp args[ARGS_MAX];
	char *call = strtok(line, " \n"), *word;
	unsigned count = 0, action_errno = 0;
	uint32_t action = SCMP_ACT_ALLOW;

	while ((word = strtok(NULL, " \n"))) {
		if (sscanf(word, "errno=%u", &action_errno) == 1) {
			action = SCMP_ACT_ERRNO((uint16_t)action_errno);
			continue;
		}
		char *op = strtok(NULL, " \n"), *a = strtok(NULL, " \n");
		char *b = strtok(NULL, " \n");

		if (!b || count == ARGS_MAX)
			die("not understood: a rule of", call);
		args[count++] = (struct scmp_arg_cmp){
			.arg = (unsigned)atoi(word),
			.op = compare_named(op),
			.datum_a = strtoull(a, NULL, 10),
			.datum_b = strtoull(b, NULL, 10),
		};
	}
	int nr = call ? seccomp_syscall_resolve_name(call) : -1;

	if (nr < 0)
		return;
	int r = seccomp_rule_add_array(d->filter, action, nr, count, args);

	if (r < 0 && r != -EACCES) /* what the default says already */
		die("no rule for", call);
}

static void take_profile(struct degrade *d, const char *path)
{
	FILE *f = fopen(path, "re");
	char line[512];
	int code = 0;

	if (!f || !fgets(line, sizeof(line), f) ||
	    sscanf(line, "default %d", &code) != 1)
		die("not a profile:", path);
	d->filter = seccomp_init(SCMP_ACT_ERRNO((uint16_t)code));
	if (!d->filter)
		die("no filter for", path);
	while (fgets(line, sizeof(line), f))
		allow_line(d, line);
	fclose(f);
}

/* ---- files that may not be written ---- */

static int answer(const struct degrade *d, pid_t pid, uint64_t address)
{
	char path[64], name[4096] = "";

	snprintf(path, sizeof(path), "/proc/%d/mem", pid);
	int mem = open(path, O_RDONLY | O_CLOEXEC);
	/* The page's rest may not be there. */
	size_t most = 4096 - address % 4096;
	ssize_t n =
		mem < 0 ? -1
			: pread(mem, name,
				most < sizeof(name) ? most : sizeof(name) - 1,
				(off_t)address);

	if (mem >= 0)
		close(mem);
	if (n > 0 && (size_t)n == most && !memchr(name, 0, most)) {
		mem = open(path, O_RDONLY | O_CLOEXEC);
		(void)!pread(mem, name + most, sizeof(name) - 1 - most,
			     (off_t)(address + most));
		close(mem);
	}
	for (unsigned i = 0; i < d->suffix_count; i++) {
		size_t len = strlen(name);
		size_t tail = strlen(d->suffixes[i].text);

		if (len >= tail &&
		    strcmp(name + len - tail, d->suffixes[i].text) == 0)
			return d->suffixes[i].code;
	}
	return 0;
}

static void notify_loop(const struct degrade *d, int fd)
{
	struct seccomp_notif *request;
	struct seccomp_notif_resp *response;
	int open_nr = seccomp_syscall_resolve_name("open");

	if (seccomp_notify_alloc(&request, &response) < 0)
		_exit(1);
	for (;;) {
		memset(request, 0, sizeof(*request));
		if (ioctl(fd, SECCOMP_IOCTL_NOTIF_RECV, request) < 0) {
			if (errno == EINTR)
				continue;
			_exit(0); /* ENOENT: nobody is left */
		}
		unsigned index = request->data.nr == open_nr ? 0 : 1;
		int code = answer(d, (pid_t)request->pid,
				  request->data.args[index]);

		memset(response, 0, sizeof(*response));
		response->id = request->id;
		response->error = -code;
		if (!code)
			response->flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
		ioctl(fd, SECCOMP_IOCTL_NOTIF_SEND, response);
	}
}

static int receive_fd(int socket)
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int))];
	char byte;
	struct iovec part = { &byte, 1 };
	struct msghdr h = { .msg_iov = &part,
			    .msg_iovlen = 1,
			    .msg_control = control,
			    .msg_controllen = sizeof(control) };
	int fd;

	if (recvmsg(socket, &h, 0) != 1 || !CMSG_FIRSTHDR(&h))
		return -1;
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&h)), sizeof(fd));
	return fd;
}

static void send_fd(int socket, int fd)
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int))] = { 0 };
	struct iovec part = { (void *)(uintptr_t) "", 1 };
	struct msghdr h = { .msg_iov = &part,
			    .msg_iovlen = 1,
			    .msg_control = control,
			    .msg_controllen = sizeof(control) };
	struct cmsghdr *c = CMSG_FIRSTHDR(&h);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	if (sendmsg(socket, &h, 0) != 1)
		die("can't hand over", "the listener");
}

/* The listener belongs to a grandchild, which is no child of the command's. */
static int start_listener(const struct degrade *d)
{
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		die("no", "socket pair");
	pid_t pid = fork();

	if (pid == 0) {
		if (fork() != 0)
			_exit(0);
		close(pair[1]);
		for (int fd = 0; fd < 3; fd++)
			close(fd);
		int fd = receive_fd(pair[0]);

		if (fd >= 0)
			notify_loop(d, fd);
		_exit(1);
	}
	waitpid(pid, NULL, 0);
	close(pair[0]);
	return pair[1];
}

/* ---- */

static void load(struct degrade *d, bool no_new_privs)
{
	int socket = d->suffix_count ? start_listener(d) : -1;

	if (!no_new_privs)
		seccomp_attr_set(d->filter, SCMP_FLTATR_CTL_NNP, 0);
	int r = seccomp_load(d->filter);

	if (r < 0)
		die("can't load the filter:", strerror(-r));
	if (socket < 0)
		return;
	int fd = seccomp_notify_fd(d->filter);

	send_fd(socket, fd);
	close(fd);
	close(socket);
}

int main(int argc, char **argv)
{
	struct degrade d = { 0 };
	bool no_new_privs = geteuid() != 0;
	int i = 1;

	if (i < argc && strcmp(argv[i], "--nnp") == 0) {
		no_new_privs = true;
		i++;
	}
	if (i < argc && strncmp(argv[i], "profile=", 8) == 0)
		take_profile(&d, argv[i++] + 8);
	else
		d.filter = seccomp_init(SCMP_ACT_ALLOW);
	for (; i < argc && strcmp(argv[i], "--") != 0; i++)
		add(&d, argv[i]);
	if (i + 1 >= argc)
		die("usage:", "degrade SPEC... -- COMMAND [ARG]...");
	load(&d, no_new_privs);
	execvp(argv[i + 1], argv + i + 1);
	die(strerror(errno), argv[i + 1]);
}
