/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parent's side. Order: choose the ids, prepare the mount (host root),
 * fork, feed the archive through a pipe, read the result, reap.
 *
 * The child is hostile from the moment it sees the archive: it gets two pipes
 * and a page of counters, its result is one bounded struct whose strings are
 * ended and whose numbers are only told. A result that comes before all of the
 * archive was taken is an error, since the digest would not be the tree's.
 */
#include "rootfs/extract.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/fd.h"
#include "base/mem.h"
#include "rootfs/confine.h"
#include "rootfs/extract_child.h"
#include "rootfs/tree_copy.h"
#include "sandbox/explain.h"
#include "sandbox/idmap.h"

enum {
	EXTRACT_CHUNK = 256 << 10,
	EXTRACT_PIPE = 1 << 20, /* what an ordinary user may ask for, pipe(7) */
};

struct extraction {
	const struct extract_input *in;
	pid_t pid;
	int data, result; /* our ends */
	volatile struct writer_counts *counts;
	struct digest digest;
	uint64_t fed;
	bool all_fed;
	int64_t told; /* monotonic milliseconds */
};

static void tell(struct extraction *x)
{
	const struct image_progress *p = x->in->progress;
	struct timespec now;

	if (!p)
		return;
	clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	int64_t ms = now.tv_sec * 1000LL + now.tv_nsec / 1000000;

	if (!x->told)
		x->told = ms;
	if (ms - x->told < 1000)
		return;
	x->told = ms;
	p->tell(p->arg, x->in->copy_of ? "copying" : "unpacking",
		x->counts->entries, x->counts->bytes);
}

/* 0 at the end of the archive, or when the child takes no more. */
static int feed(struct extraction *x, struct error *err)
{
	auto_free uint8_t *chunk = mem_alloc(EXTRACT_CHUNK);

	for (;;) {
		ssize_t n = read(x->in->fd, chunk, EXTRACT_CHUNK);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return error_set(err, ERROR_IMAGE, errno,
					 "read the archive");
		if (n == 0) {
			x->all_fed = true;
			return 0;
		}
		digest_add(&x->digest, chunk, (size_t)n);
		x->fed += (uint64_t)n;
		int r = fd_write_all(x->data, chunk, (size_t)n);

		if (r == -EPIPE)
			return 0;
		if (r < 0)
			return error_set(err, ERROR_INTERNAL, -r,
					 "hand over the archive");
		tell(x);
	}
}

/* A child that has gone must be an EPIPE here, not the end of llmbox. */
static int feed_without_sigpipe(struct extraction *x, struct error *err)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN }, old;

	sigaction(SIGPIPE, &ignore, &old);
	int r = feed(x, err);

	sigaction(SIGPIPE, &old, NULL);
	fd_close(&x->data);
	return r;
}

static int read_result(struct extraction *x, struct extract_answer *ret,
		       struct error *err)
{
	size_t got = 0;

	while (got < sizeof(*ret)) {
		struct pollfd p = { .fd = x->result, .events = POLLIN };

		if (poll(&p, 1, 1000) == 0) {
			tell(x);
			continue;
		}
		ssize_t n =
			read(x->result, (char *)ret + got, sizeof(*ret) - got);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		got += (size_t)n;
	}
	if (got == sizeof(*ret) && ret->magic == EXTRACT_MAGIC)
		return 0;
	return error_set(err, ERROR_IMAGE, 0,
			 "the process that unpacks the archive ended early");
}

/* What a hostile process wrote becomes an error that is safe to handle. */
static int answer_error(struct extract_answer *a, struct error *err)
{
	static const enum error_kind kinds[] = { ERROR_IMAGE, ERROR_HOST,
						 ERROR_STATE, ERROR_INTERNAL };
	enum error_kind kind = ERROR_IMAGE;

	a->error.message[sizeof(a->error.message) - 1] = '\0';
	a->error.hint[sizeof(a->error.hint) - 1] = '\0';
	a->error.file[sizeof(a->error.file) - 1] = '\0';
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (a->error.kind == kinds[i])
			kind = kinds[i];
	if (a->error.code < 0 || a->error.code > 4095)
		a->error.code = 0;
	/* The system's own words on user namespaces come from outside. */
	if (a->userns_refused)
		return explain_userns(a->error.code, err);
	int r = error_set(err, kind, a->error.code, "%s", a->error.message);

	if (a->error.file[0])
		r = error_at(err, a->error.file, a->error.line,
			     a->error.column);
	if (a->error.hint[0])
		r = error_hint(err, "%s", a->error.hint);
	if (kind == ERROR_HOST || a->error.code == ENOSYS)
		r = explain_error(err);
	/* Of what it does before it unpacks nothing else is ever refused. */
	if (kind == ERROR_HOST && !err->hint[0] &&
	    (a->error.code == EPERM || a->error.code == EACCES))
		r = explain_maps(err);
	return r;
}

static void reap(struct extraction *x, int *ret_status)
{
	while (waitpid(x->pid, ret_status, 0) < 0 && errno == EINTR)
		;
}

static int follow(struct extraction *x, struct extract_result *ret,
		  struct error *err)
{
	struct extract_answer answer = { 0 };
	bool copy = x->in->copy_of;
	int status = 0, r = copy ? 0 : feed_without_sigpipe(x, err);

	if (r < 0)
		kill(x->pid, SIGKILL);
	else
		r = read_result(x, &answer, err);
	if (r < 0) {
		/* Not waited for without: it may be stuck on purpose. */
		kill(x->pid, SIGKILL);
		reap(x, &status);
		if (WIFSIGNALED(status) && WTERMSIG(status) != SIGKILL)
			return error_set(err, ERROR_IMAGE, 0,
					 "the process that unpacks the archive "
					 "was ended by signal %d (%s)",
					 WTERMSIG(status),
					 strsignal(WTERMSIG(status)));
		return r;
	}
	reap(x, &status);
	if (answer.failed)
		return answer_error(&answer, err);
	if (!copy && !x->all_fed)
		return error_set(err, ERROR_INTERNAL, 0,
				 "the archive was not read to its end");
	if (copy)
		ret->digest[0] = '\0';
	else
		digest_finish(&x->digest, ret->digest);
	ret->archive_bytes = x->fed;
	ret->counts = answer.counts;
	return 0;
}

/* ---- set-up ---- */

/*
 * Host root: the child has no rights over the store's path, so it gets the tree
 * as a detached mount; idmapped where files are to lie plain on disk.
 */
static int prepare_mount(const struct extract_input *in,
			 struct confine_input *c, struct error *err)
{
	const struct idmap *m = &c->map;

	if (in->ids.layout == LAYOUT_PLAIN) {
		c->mount = idmap_clone_mount(AT_FDCWD, in->tree, c->userns,
					     false, 0, err);
		return c->mount < 0 ? explain_error(err) : 0;
	}
	if (chown(in->tree, m->uid[0].outside, m->gid[0].outside) < 0)
		return error_set(err, ERROR_STATE, errno,
				 "change the owner of %s", in->tree);
	c->mount = (int)syscall(SYS_open_tree, AT_FDCWD, in->tree,
				OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
	if (c->mount >= 0)
		return 0;
	error_set(err, ERROR_HOST, errno, "clone the mount of %s", in->tree);
	return explain_error(err);
}

static int prepare_map(const struct extract_input *in, struct idmap *map,
		       struct error *err)
{
	const struct id_layout *ids = &in->ids;

	if (in->copy_of) {
		idmap_range_fill_all(&in->copy_of->starts, map);
		return 0;
	}
	if (ids->layout == LAYOUT_RANGE) {
		idmap_range_fill(&ids->starts, ids->uid, ids->gid, map);
		return 0;
	}
	int r = idmap_choose(ids->layout == LAYOUT_ONE ? IDENTITY_ONE
						       : IDENTITY_SHIFTED,
			     0, 0, map, err);

	if (r == 0 && ids->layout == LAYOUT_SHIFTED &&
	    ids->shift != map->uid[0].outside)
		return error_set(err, ERROR_INTERNAL, 0,
				 "ids %u and on are not this host's block",
				 ids->shift);
	return r;
}

static int prepare(const struct extract_input *in, struct confine_input *c,
		   struct error *err)
{
	int r = prepare_map(in, &c->map, err);

	c->tree = in->tree;
	if (r < 0 || c->map.identity == IDENTITY_ONE)
		return r;
	c->userns = idmap_userns(&c->map, err);
	if (c->userns < 0)
		return c->userns;
	/* The caller of a range keeps its way to the tree. */
	return c->map.identity == IDENTITY_RANGE ? 0
						 : prepare_mount(in, c, err);
}

/* Our end in *ret_ours, the child's as the result. */
static int make_pipe(bool child_reads, int *ret_ours, struct error *err)
{
	int pair[2];

	if (pipe2(pair, O_CLOEXEC) < 0)
		return error_set(err, ERROR_HOST, errno, "make a pipe");
	*ret_ours = pair[child_reads];
	return pair[!child_reads];
}

static int start(struct extraction *x, const struct confine_input *c,
		 struct error *err)
{
	const struct extract_input *in = x->in;
	const struct id_layout *of = in->copy_of;
	auto_close int data_out = -1;
	auto_close int result_in = make_pipe(false, &x->result, err);
	struct tree_copy_ids ids = {
		.from_uid = of ? of->uid : 0,
		.from_gid = of ? of->gid : 0,
		.to_uid = in->ids.uid,
		.to_gid = in->ids.gid,
		.owners = in->ids.layout != LAYOUT_ONE,
	};
	struct extract_job job = {
		.fd = in->fd,
		.copy = of ? &ids : NULL,
		.owners = ids.owners,
	};

	if (result_in < 0)
		return result_in;
	if (!of) {
		job.fd = data_out = make_pipe(true, &x->data, err);
		if (data_out < 0)
			return data_out;
		/* Fewer switches between the two; not needed to work. */
		(void)fcntl(x->data, F_SETPIPE_SZ, EXTRACT_PIPE);
	}
	x->pid = fork();
	if (x->pid < 0)
		return error_set(err, ERROR_HOST, errno, "start a process");
	if (x->pid == 0)
		extract_child(c, &job, result_in, x->counts);
	return 0;
}

int extract(const struct extract_input *in, struct extract_result *ret,
	    struct error *err)
{
	struct confine_input c = { .userns = -1, .mount = -1 };
	struct extraction x = { .in = in, .data = -1, .result = -1 };
	void *page = mmap(NULL, sizeof(*x.counts), PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (page == MAP_FAILED)
		return error_set(err, ERROR_HOST, errno, "map a page");
	x.counts = page;
	digest_init(&x.digest);
	c.parent = getpid();
	int r = prepare(in, &c, err);

	if (r == 0)
		r = start(&x, &c, err);
	fd_close(&c.userns);
	fd_close(&c.mount);
	if (r == 0)
		r = follow(&x, ret, err);
	fd_close(&x.data);
	fd_close(&x.result);
	munmap(page, sizeof(*x.counts));
	return r;
}
