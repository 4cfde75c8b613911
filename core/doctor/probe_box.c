/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Probes: a box itself, with the built-in policy, as a run makes it; the same
 * with a tree as its root; and by which means that policy's limits are held.
 * These decide: the other probes tell why.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/fd.h"
#include "base/mem.h"
#include "doctor/probe_try.h"
#include "policy/policy.h"
#include "sandbox/box.h"
#include "sandbox/plan.h"

static void tell_error(struct probe_try *t, const struct error *err)
{
	probe_no(t, CURE_NONE, "%s%s%s", err->message, err->code ? ": " : "",
		 err->code ? strerror(err->code) : "");
	if (err->hint[0])
		probe_add_cure(t, "%s", err->hint);
}

/* As cmd's run makes it of no options and no files. The plan points into the
 * policy. */
static int make_plan(struct probe_try *t, struct policy *policy,
		     const char *tree, const char *disk, struct plan *ret,
		     struct error *err)
{
	static const char *const argv[] = { "true", NULL };
	static const struct strv none;
	struct plan_input in = {
		.policy = policy,
		.tree = tree,
		.tree_idmap = tree && t->ids.identity == IDENTITY_SHIFTED &&
			      idmap_is_supported(tree),
		.disk = disk,
		.ids = &t->ids,
		.argv = argv,
		.named_files = &none,
	};

	if (t->ids_error.kind != ERROR_NONE) {
		*err = t->ids_error;
		return -EINVAL;
	}
	int r = policy_finish(policy, err);

	return r < 0 ? r : plan_build(&in, ret, err);
}

/* ---- limits ---- */

static void add_name(struct buf *list, const struct guarantee *g)
{
	buf_addf(list, "%s%s", list->len ? ", " : "", g->name);
}

void probe_limits(struct probe_try *t)
{
	auto_buf held = { 0 }, soft = { 0 }, missing = { 0 };
	struct error err = { 0 };
	auto_plan plan = { 0 };
	auto_policy policy;

	policy_init(&policy);
	if (make_plan(t, &policy, NULL, NULL, &plan, &err) < 0) {
		tell_error(t, &err);
		return;
	}
	for (size_t i = 0; i < plan.guarantee_count; i++) {
		const struct guarantee *g = &plan.guarantees[i];

		/* What nobody asks for by default is not missed. */
		if (strcmp(g->name, "landlock") == 0)
			continue;
		if (strcmp(g->means, "none") == 0)
			add_name(&missing, g);
		else
			add_name(g->soft ? &soft : &held, g);
	}
	if (!soft.len && !missing.len)
		probe_yes(t, "%s", held.data);
	else
		probe_soft(t, CURE_NONE, "%s%s%s%s%s", held.data,
			   soft.len ? "; soft: " : "",
			   soft.len ? soft.data : "",
			   missing.len ? "; not held: " : "",
			   missing.len ? missing.data : "");
}

/* ---- boxes ---- */

/* True when it ended well. ret: how it went on until then. */
static bool follow(struct probe_try *t, struct box *box, bool empty)
{
	struct box_event event;
	struct error err = { 0 };

	for (;;) {
		if (box_next(box, &event, &err) < 0 || err.kind != ERROR_NONE) {
			/* A root with no programs in it: it was reached. */
			if (empty && event.type == BOX_EXEC_FAILED)
				return true;
			tell_error(t, &err);
			return false;
		}
		fd_close(&event.pty);
		if (event.type == BOX_GONE) {
			probe_no(t, CURE_NONE, "the box is gone");
			return false;
		}
		if (event.type == BOX_EXITED && event.status == 0)
			return true;
		if (event.type == BOX_EXITED) {
			probe_no(t, CURE_NONE, "the command failed: %#x",
				 event.status);
			return false;
		}
	}
}

static bool run_box(struct probe_try *t, const struct plan *plan, bool empty)
{
	struct error err = { 0 };
	struct box box = BOX_INIT;
	int stdio[3];

	for (int i = 0; i < 3; i++)
		stdio[i] = open("/dev/null", O_RDWR | O_CLOEXEC);
	bool well = box_start(plan, stdio, &box, &err) == 0;

	if (well)
		well = follow(t, &box, empty);
	else
		tell_error(t, &err);
	box_release(&box);
	for (int i = 0; i < 3; i++)
		fd_close(&stdio[i]);
	return well;
}

void probe_box(struct probe_try *t)
{
	struct error err = { 0 };
	auto_plan plan = { 0 };
	auto_policy policy;

	policy_init(&policy);
	if (make_plan(t, &policy, NULL, NULL, &plan, &err) < 0)
		tell_error(t, &err);
	else if (run_box(t, &plan, false))
		probe_yes(t, "with the built-in policy, it ran 'true'");
}

/* With the writes where this kernel's tmpfs makes a run have them. */
static void image_box(struct probe_try *t, const char *tree, const char *disk)
{
	struct error err = { 0 };
	auto_plan plan = { 0 };
	auto_policy policy;

	policy_init(&policy);
	bool on_disk = plan_wants_disk(&policy, true);

	if (make_plan(t, &policy, tree, on_disk ? disk : NULL, &plan, &err) < 0)
		tell_error(t, &err);
	else if (run_box(t, &plan, true))
		probe_yes(t, "with a tree as its root, it was set up%s",
			  on_disk ? ", writes on disk" : "");
}

void probe_image(struct probe_try *t)
{
	auto_free char *tree =
		t->in->place ? mem_printf("%s/tree", t->in->place) : NULL;
	auto_free char *disk =
		t->in->place ? mem_printf("%s/disk", t->in->place) : NULL;

	if (!tree || !disk)
		probe_no(t, CURE_STORE, "no directory can be made");
	else if ((mkdir(tree, 0755) < 0 || mkdir(disk, 0700) < 0) &&
		 errno != EEXIST)
		probe_failed(t, errno, CURE_STORE, "make a directory");
	else
		image_box(t, tree, disk);
}
