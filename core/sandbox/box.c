/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The supervisor's side: makes outer, writes the maps that it alone may write,
 * hands over mounts that only host root can make, waits until outer has made
 * init, and then talks to init.
 *
 * Outer runs in this process's memory, which saves a copy of the address space.
 * One of one id maps itself, so it runs like a vfork(2) child. Others wait for
 * their maps, so both run, but not at once: until outer is woken it only makes
 * its network namespace, the longest step, and reads from the pipe; from then
 * on this process waits for its end. In between nothing of struct
 * setup is changed here. They share errno too, so that a failure beside the
 * other may have a wrong one, but is a failure (outer.c).
 */
#include "sandbox/box.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "base/fd.h"
#include "base/mem.h"
#include "sandbox/explain.h"
#include "sandbox/setup.h"
#include "sandbox/submount.h"

enum { OUTER_STACK = 256 << 10 };

/* The address sanitizer knows nothing of a stack that it did not make. */
#ifdef __SANITIZE_ADDRESS__
enum { SHARES_MEMORY = false };
#else
enum { SHARES_MEMORY = true };
#endif

static void close_pair(int pair[2])
{
	fd_close(&pair[0]);
	fd_close(&pair[1]);
}

static void setup_close(struct setup *s)
{
	fd_close(&s->socket);
	close_pair(s->go);
	close_pair(s->ready);
	if (s->shared)
		munmap(s->shared, sizeof(*s->shared));
	s->shared = NULL;
}

static int setup_open(struct setup *s, const struct plan *plan,
		      const int stdio[3], struct error *err)
{
	int pair[2];

	/* Every descriptor is -1; the sets of bytes agree on that. */
	memset(s, 0xff, sizeof(*s));
	s->plan = plan;
	memcpy(s->stdio, stdio, sizeof(s->stdio));
	s->detail[0] = '\0';
	s->kept = NULL;
	s->kept_count = 0;
	s->own_mount_count = 0;
	s->shared = mmap(NULL, sizeof(*s->shared), PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (s->shared == MAP_FAILED) {
		s->shared = NULL;
		return error_set(err, ERROR_HOST, errno, "map a shared page");
	}
	s->shared->sysfs = -1;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return error_set(err, ERROR_HOST, errno, "make a socket pair");
	s->supervisor_socket = pair[0];
	s->socket = pair[1];
	if (pipe2(s->go, O_CLOEXEC) < 0 || pipe2(s->ready, O_CLOEXEC) < 0)
		return error_set(err, ERROR_HOST, errno, "make a pipe");
	return 0;
}

/* ---- outer ---- */

static int outer_entry(void *arg)
{
	_exit(outer_main(arg) < 0 ? 1 : 0);
}

static pid_t copy_outer(struct setup *s, int flags)
{
	pid_t pid = (pid_t)syscall(SYS_clone, flags, NULL, NULL, NULL, NULL);

	if (pid == 0)
		outer_entry(s);
	return pid < 0 ? -errno : pid;
}

/* The stack is outer's until it has ended. */
static pid_t clone_outer(struct setup *s, char **ret_stack)
{
	int flags = CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWIPC | SIGCHLD;

	/* Others than one id: outer makes it while its maps are written here.
	 */
	if (s->plan->network != NETWORK_HOST &&
	    s->plan->ids.identity == IDENTITY_ONE)
		flags |= CLONE_NEWNET;
	if (!SHARES_MEMORY)
		return copy_outer(s, flags);
	char *stack = mmap(NULL, OUTER_STACK, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);

	if (stack == MAP_FAILED)
		return -errno;
	*ret_stack = stack;
	flags |= CLONE_VM;
	if (s->plan->ids.identity == IDENTITY_ONE)
		flags |= CLONE_VFORK;
	pid_t pid = clone(outer_entry, stack + OUTER_STACK, flags, s);

	return pid < 0 ? -errno : pid;
}

/* ---- mounts that only host root can make ---- */

struct handed {
	int fds[MESSAGE_FDS_MAX];
	unsigned count;
	/* The last volume's, since most have the same owner: -1 */
	int userns;
	uid_t owner;
	gid_t group;
};

static void handed_close(struct handed *h)
{
	for (unsigned i = 0; i < h->count; i++)
		close(h->fds[i]);
	fd_close(&h->userns);
}

static int hand_tree(const struct setup *s, int userns, struct handed *h,
		     struct error *err)
{
	const struct plan_root *root = &s->plan->root;
	int fd = idmap_clone_mount(
		AT_FDCWD, root->tree, root->idmapped ? userns : -1, false,
		MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_RDONLY, err);

	if (fd == -EPERM)
		return fd;
	if (fd < 0)
		return error_hint(err, "a box of host root needs a file system "
				       "that can be idmapped; of a directory "
				       "as image: tar -C DIR -c . | llmbox "
				       "image import - NAME");
	h->fds[h->count++] = fd;
	return 0;
}

/* Given to the box's root instead of being idmapped, which not every file
 * system can: so no file of a box is ever host root's on disk either. */
static int hand_disk(const struct plan *plan, struct handed *h,
		     struct error *err)
{
	uid_t uid;
	gid_t gid;
	int fd = idmap_clone_mount(AT_FDCWD, plan->root.disk, -1, false,
				   MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV, err);

	if (fd < 0)
		return fd;
	h->fds[h->count++] = fd;
	if (!idmap_to_host(plan->ids.uid, plan->ids.uid_count, 0, &uid) ||
	    !idmap_to_host(plan->ids.gid, plan->ids.gid_count, 0, &gid))
		return error_set(err, ERROR_INTERNAL, 0, "the box has no root");
	if (fchownat(fd, "", uid, gid, AT_EMPTY_PATH) < 0)
		return error_set(err, ERROR_STATE, errno, "give %s to the box",
				 plan->root.disk);
	return 0;
}

/* The source's owner is the box's user, and nobody else is mapped. */
static int volume_userns(const struct plan *plan, const struct plan_mount *m,
			 struct handed *h, struct error *err)
{
	struct idmap map = { .uid_count = 1, .gid_count = 1 };

	if (h->userns >= 0 && h->owner == m->owner && h->group == m->group)
		return h->userns;
	fd_close(&h->userns);
	map.uid[0] = (struct idmap_range){ m->owner, 0, 1 };
	map.gid[0] = (struct idmap_range){ m->group, 0, 1 };
	if (!idmap_to_host(plan->ids.uid, plan->ids.uid_count, plan->user_uid,
			   &map.uid[0].outside) ||
	    !idmap_to_host(plan->ids.gid, plan->ids.gid_count, plan->user_gid,
			   &map.gid[0].outside))
		return error_set(err, ERROR_POLICY, 0,
				 "user %s is outside the ids of the box",
				 plan->command.user);
	h->owner = m->owner;
	h->group = m->group;
	h->userns = idmap_userns(&map, err);
	return h->userns;
}

struct unmapped {
	int userns;
	const char *source;
	struct error *err;
};

static int name_unmapped(void *data, const char *path, const char *type)
{
	struct unmapped *u = data;
	auto_free char *whole = mem_printf("%s/%s", u->source, path);
	auto_close int fd =
		idmap_clone_mount(AT_FDCWD, whole, u->userns, false, 0, NULL);

	if (fd >= 0)
		return 0;
	error_set(u->err, ERROR_HOST, 0,
		  "%s, which is mounted in it (%s), can't be mapped to the ids "
		  "of the box",
		  whole, type);
	error_hint(u->err, "unmount it, or use access ro or overlay");
	return 1;
}

/* Which of the mounts below is it? Keeps *err where it is the source's own. */
static void explain_unmapped(const char *source, int userns, struct error *err)
{
	auto_free char *real = realpath(source, NULL);
	struct unmapped u = { userns, real, err };
	auto_close int own =
		idmap_clone_mount(AT_FDCWD, source, userns, false, 0, NULL);

	if (own >= 0 && real)
		(void)submounts_visit(real, name_unmapped, &u);
}

static int hand_volume(const struct plan *plan, const struct plan_mount *m,
		       struct handed *h, struct error *err)
{
	bool writable = m->mount->access == ACCESS_RW;
	uint64_t attr = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV |
			(writable ? 0 : MOUNT_ATTR_RDONLY);
	int userns = volume_userns(plan, m, h, err);
	struct stat st;

	if (userns < 0)
		return userns;
	int fd = idmap_clone_mount(AT_FDCWD, m->mount->source, userns, true,
				   attr, err);

	/* Reading needs no map where others may read. */
	if (fd < 0 && !writable)
		fd = idmap_clone_mount(AT_FDCWD, m->mount->source, -1, true,
				       attr, err);
	if (fd < 0) {
		explain_unmapped(m->mount->source, userns, err);
		return error_prefix(err, "volume %s", m->mount->source);
	}
	h->fds[h->count++] = fd;
	if (fstat(fd, &st) < 0 || st.st_dev != m->dev || st.st_ino != m->ino)
		return error_set(err, ERROR_HOST, 0,
				 "volume %s was replaced meanwhile",
				 m->mount->source);
	return 0;
}

static int hand_mounts(const struct setup *s, pid_t outer, struct error *err)
{
	const struct plan *plan = s->plan;
	struct message m = { .type = MESSAGE_MOUNTS };
	struct handed h = { .userns = -1 };
	char path[64];
	int r = 0;

	/* U1 maps to the same host ids as U2, which need not exist yet. */
	snprintf(path, sizeof(path), "/proc/%d/ns/user", outer);
	auto_close int userns = open(path, O_RDONLY | O_CLOEXEC);

	if (userns < 0)
		return error_set(err, ERROR_HOST, errno, "open %s", path);
	if (plan->root.tree)
		r = hand_tree(s, userns, &h, err);
	if (r == 0 && plan->root.disk)
		r = hand_disk(plan, &h, err);
	for (size_t i = 0; r == 0 && i < plan->mount_count; i++)
		if (plan->mounts[i].mount->source)
			r = hand_volume(plan, &plan->mounts[i], &h, err);
	if (r == 0) {
		r = message_send(s->supervisor_socket, &m, h.fds, h.count);
		if (r < 0)
			error_set(err, ERROR_HOST, -r, "hand over mounts");
	}
	handed_close(&h);
	return r;
}

/* Wakes outer last: see the head of this file. */
static int feed_outer(const struct setup *s, pid_t outer, struct error *err)
{
	if (s->plan->ids.identity == IDENTITY_ONE)
		return 0;
	int r = idmap_give(outer, &s->plan->ids, err);

	if (r == 0 && s->plan->ids.identity == IDENTITY_SHIFTED)
		r = hand_mounts(s, outer, err);
	if (r < 0)
		return r;
	return write(s->go[1], "", 1) == 1
		       ? 0
		       : error_set(err, ERROR_HOST, errno, "wake outer");
}

/* ---- starting ---- */

static int wait_status(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -1;
	return status;
}

static int start(struct setup *s, struct box *box, struct error *err)
{
	char *stack = NULL;
	pid_t outer = clone_outer(s, &stack);
	int r = outer < 0 ? explain_namespaces(-outer, err)
			  : feed_outer(s, outer, err);

	if (outer > 0 && r < 0)
		kill(outer, SIGKILL);
	int status = outer > 0 ? wait_status(outer) : 0;

	if (stack)
		munmap(stack, OUTER_STACK);
	/* Each end is held by one process only from here on, or an end of file
	 * would never come. */
	close_pair(s->go);
	close_pair(s->ready);
	fd_close(&s->socket);
	box->init = s->shared->init;
	/* An outer that failed before its maps came is the cause. */
	if (r < 0 && !s->shared->failed)
		return explain_error(err);
	if (status != 0 && s->shared->failed)
		return explain_step(s->shared->step, s->shared->failed, err);
	if (status != 0 || box->init <= 0)
		return error_set(err, ERROR_INTERNAL, 0,
				 "set up the box: outer ended early");
	/* No race: init is our own child, and nobody else reaps it. */
	box->pidfd = (int)syscall(SYS_pidfd_open, box->init, 0);
	if (box->pidfd < 0)
		return explain_step("init's pidfd", errno, err);
	return 0;
}

int box_start(const struct plan *plan, const int stdio[3], struct box *ret,
	      struct error *err)
{
	auto_free struct setup *s = mem_alloc(sizeof(*s));

	*ret = (struct box)BOX_INIT;
	int r = setup_open(s, plan, stdio, err);

	ret->socket = s->supervisor_socket;
	if (r == 0)
		r = start(s, ret, err);
	setup_close(s);
	if (r < 0)
		box_release(ret);
	return r;
}

/* ---- events ---- */

static int setup_failed(const struct message *m, struct box_event *ret,
			struct error *err)
{
	ret->type = BOX_SETUP_FAILED;
	explain_step(m->text, m->code, err);
	return 0;
}

static int exec_failed(const struct message *m, struct box_event *ret,
		       struct error *err)
{
	ret->type = BOX_EXEC_FAILED;
	error_set(err, ERROR_EXEC, m->code, "%s", m->text);
	return 0;
}

static int exited(const struct message *m, struct box_event *ret)
{
	ret->type = BOX_EXITED;
	ret->status = m->value;
	ret->usage = m->usage;
	ret->disk_full = m->disk_full;
	ret->project = m->project;
	ret->root = m->root;
	return 0;
}

int box_next(struct box *box, struct box_event *ret, struct error *err)
{
	struct message m;
	unsigned count;
	int fd = -1;

	memset(ret, 0, sizeof(*ret));
	ret->pty = -1;
	ret->type = BOX_GONE;
	if (message_receive(box->socket, &m, &fd, 1, &count) <= 0)
		return 0;
	if (m.type == MESSAGE_STARTED) {
		ret->type = BOX_STARTED;
		ret->pty = fd;
		return 0;
	}
	fd_close(&fd);
	switch (m.type) {
	case MESSAGE_SETUP_FAILED:
		return setup_failed(&m, ret, err);
	case MESSAGE_EXEC_FAILED:
		return exec_failed(&m, ret, err);
	case MESSAGE_EXITED:
		return exited(&m, ret);
	default:
		return 0;
	}
}

void box_signal(struct box *box, int signal)
{
	struct message m = { .type = MESSAGE_SIGNAL, .value = signal };

	/* A full socket means that init does not answer: the KILL that follows
	 * does not need it. */
	if (box->socket >= 0)
		message_send(box->socket, &m, NULL, 0);
}

void box_kill(struct box *box)
{
	if (box->init > 0)
		kill(box->init, SIGKILL);
}

void box_release(struct box *box)
{
	box_kill(box);
	if (box->init > 0)
		wait_status(box->init);
	box->init = 0;
	fd_close(&box->pidfd);
	fd_close(&box->socket);
}
