/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run and shell. In this order: the report is opened, so that every later
 * failure reaches it; files and options become a policy; identities and the
 * image are chosen; all of it becomes a plan; the plan is printed or carried
 * out; the result is told: to the report, to stdout (--json), to people, and as
 * the exit status.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/fd.h"
#include "base/json.h"
#include "base/mem.h"
#include "cmd/box_options.h"
#include "cmd/output.h"
#include "cmd/parse.h"
#include "cmd/progress.h"
#include "cmd/report_file.h"
#include "cmd/scratch.h"
#include "cmd/verb.h"
#include "policy/policy.h"
#include "rootfs/image.h"
#include "sandbox/accounts.h"
#include "sandbox/idmap.h"
#include "sandbox/placeholder.h"
#include "sandbox/plan.h"
#include "super/report.h"
#include "super/run.h"

struct run {
	const struct arguments *args;
	pid_t caller;
	bool shell, json, quiet, dry_run;
	struct report_file report;
	struct policy policy;
	struct idmap ids;
	uid_t uid; /* of the policy's user, in the box */
	gid_t gid;
	struct image image;
	struct scratch scratch;
	struct plan plan;
	bool planned; /* plan is whole */
	struct placeholders placeholders;
	struct result result;
};

static void run_init(struct run *run, const struct arguments *args, bool shell)
{
	*run = (struct run){
		.args = args,
		.caller = getppid(),
		.shell = shell,
		.json = arguments_has(args, OPTION_JSON),
		.quiet = arguments_has(args, OPTION_QUIET),
		.dry_run = arguments_has(args, OPTION_DRY_RUN),
		.report = { .fd = -1 },
		.image = IMAGE_INIT,
		.scratch = SCRATCH_INIT,
		.placeholders = PLACEHOLDERS_INIT,
	};
	policy_init(&run->policy);
}

/* The plan points into the policy. */
static void run_release(struct run *run)
{
	result_release(&run->result);
	plan_release(&run->plan);
	scratch_release(&run->scratch);
	image_release(&run->image);
	policy_release(&run->policy);
	fd_close(&run->report.fd);
}
#define auto_run __attribute__((cleanup(run_release))) struct run

static int open_report(struct run *run, struct error *err)
{
	const struct option_use *use = arguments_last(run->args, OPTION_REPORT);

	return use ? report_file_open(use->value, &run->report, err) : 0;
}

static int open_image(struct run *run, struct error *err)
{
	struct id_layout layout;
	struct progress progress;

	if (!run->policy.image)
		return 0;
	layout = image_layout(&run->ids);
	progress_init(&progress);
	int r = image_open(run->policy.image, &layout,
			   run->quiet ? NULL : &progress.to, &run->image, err);

	progress_end(&progress);
	if (r == 0 && run->image.note && !run->quiet)
		output_line("%s", run->image.note);
	return r;
}

/*
 * Which id inside is the caller's own depends on the image's accounts, and with
 * a range a tree of the image depends on that: a name is looked up in the tree
 * for root, of which everybody may read the accounts.
 */
static int choose_identity(struct run *run, struct error *err)
{
	const struct policy *policy = &run->policy;
	bool known = accounts_ids_known(policy->user, &run->uid, &run->gid);
	int r = idmap_choose(policy->identity, known ? run->uid : 0,
			     known ? run->gid : 0, &run->ids, err);

	if (r == 0)
		r = open_image(run, err);
	if (r < 0 || known)
		return r;
	r = accounts_ids(policy->user, run->image.tree, &run->uid, &run->gid,
			 err);
	if (r < 0 || run->ids.identity == IDENTITY_SHIFTED)
		return r;
	bool one = run->ids.identity == IDENTITY_ONE;

	r = idmap_choose(policy->identity, run->uid, run->gid, &run->ids, err);
	return r < 0 || one ? r : open_image(run, err);
}

/* The volume of -C whose changes are thrown away at the end, or NULL. */
static const struct policy_mount *find_project(const struct policy *policy)
{
	for (size_t i = policy->mount_count; i > 0; i--) {
		const struct policy_mount *m = &policy->mounts[i - 1];

		if (m->project)
			return m->access == ACCESS_OVERLAY ? m : NULL;
	}
	return NULL;
}

/* What llmbox opens by name: a box that can write one of them could make it a
 * link to another file of the caller's before the next run. */
static void name_files(const struct run *run, struct strv *names)
{
	for (size_t i = 0; i < run->policy.files.count; i++)
		strv_add(names, run->policy.files.items[i]);
	if (run->report.fd >= 0 && strncmp(run->report.name, "fd:", 3) != 0)
		strv_add(names, run->report.name);
	if (run->policy.image && strchr(run->policy.image, '/'))
		strv_add(names, run->policy.image);
}

static int make_plan(struct run *run, struct error *err)
{
	auto_strv named = { 0 };
	bool told = run->report.fd >= 0 || run->json;
	struct plan_input in = {
		.policy = &run->policy,
		.tree = run->image.tree,
		.tree_idmap = run->ids.identity == IDENTITY_SHIFTED &&
			      run->image.layout == LAYOUT_PLAIN,
		.disk = run->scratch.path,
		.ids = &run->ids,
		.user_uid = run->uid,
		.user_gid = run->gid,
		.argv = (const char *const *)run->args->operands,
		.count_changes =
			told || (!run->quiet && find_project(&run->policy)),
		.allow_root_volume =
			arguments_has(run->args, OPTION_ALLOW_ROOT_VOLUME),
		.named_files = &named,
	};
	name_files(run, &named);
	int r = plan_build(&in, &run->plan, err);

	run->planned = r == 0;
	return r;
}

static void tell_choices(const struct run *run)
{
	const struct plan *plan = &run->plan;

	for (size_t i = 0; i < run->policy.files.count; i++)
		output_line("policy %s", run->policy.files.items[i]);
	output_line("identity %s%s%s", identity_name(run->ids.identity),
		    run->ids.reason[0] ? ": " : "", run->ids.reason);
	output_line("root filesystem %s",
		    run->image.tree ? run->image.tree : "of the host");
	for (size_t i = 0; i < plan->guarantee_count; i++) {
		const struct guarantee *g = &plan->guarantees[i];

		output_line("%s: %s%s", g->name,
			    strcmp(g->means, "none") == 0 ? "not held"
							  : g->means,
			    g->soft ? " (soft)" : "");
	}
}

static int prepare(struct run *run, struct error *err)
{
	int r = box_options_policy(run->args, &run->policy, err);

	scratch_sweep();
	placeholders_sweep();
	if (r == 0)
		r = choose_identity(run, err);
	if (r == 0 && plan_wants_disk(&run->policy, run->image.tree))
		r = scratch_make(&run->scratch, err);
	if (r == 0)
		r = make_plan(run, err);
	if (r == 0 && arguments_has(run->args, OPTION_VERBOSE))
		tell_choices(run);
	return r;
}

static int print_plan(const struct run *run)
{
	auto_json_writer *w = json_writer_new(true);

	plan_write(&run->plan, w);
	return output_json(w);
}

/* -t and -T: the last one counts. */
static enum run_tty choose_tty(const struct run *run)
{
	enum run_tty tty = run->shell ? RUN_TTY_ALWAYS : RUN_TTY_AUTO;

	for (size_t i = 0; i < run->args->option_count; i++) {
		enum option_id id = run->args->options[i].info->id;

		if (id == OPTION_TTY)
			tty = RUN_TTY_ALWAYS;
		else if (id == OPTION_NO_TTY)
			tty = RUN_TTY_NEVER;
	}
	return tty;
}

static void carry_out(struct run *run)
{
	struct error err = { 0 };
	struct run_options options = {
		.tty = choose_tty(run),
		.caller = run->caller,
		.capture = run->json,
		.capture_max = RUN_CAPTURE_MAX,
	};

	if (placeholders_hold(&run->plan, &run->placeholders, &err) < 0)
		result_from_error(&run->result, &err);
	else
		run_box(&run->plan, &options, &run->result, &err);
	placeholders_release(&run->placeholders);
}

static void tell_changes(const struct run *run)
{
	const struct policy_mount *project = find_project(&run->policy);
	const struct box_changes *c = &run->result.project;
	uint64_t all = c->added + c->changed + c->removed;

	if (run->quiet || run->json || !project || !c->known || all == 0)
		return;
	output_line("%s%llu file%s changed in %s (%llu added, %llu changed, "
		    "%llu removed), not kept; use -C %s:rw to keep changes",
		    c->partial ? "at least " : "", (unsigned long long)all,
		    all == 1 ? "" : "s", project->source,
		    (unsigned long long)c->added,
		    (unsigned long long)c->changed,
		    (unsigned long long)c->removed, project->source);
}

/* Tells the result in every way that was asked for; returns the status. */
static int tell_result(struct run *run)
{
	const struct plan *plan = run->planned ? &run->plan : NULL;
	auto_json_writer *w = json_writer_new(false);

	report_file_write(&run->report, &run->result, plan);
	if (run->json) {
		report_write(&run->result, plan, true, w);
		(void)output_json(w);
	}
	if (run->result.message)
		output_line("%s", run->result.message);
	tell_changes(run);
	return run->result.exit_code;
}

static int tell_failure(struct run *run, const struct verb *verb,
			struct error *err)
{
	verb_hint(verb, err);
	result_from_error(&run->result, err);
	return tell_result(run);
}

static int run_command(const struct verb *verb, const struct arguments *args,
		       bool shell, struct error *err)
{
	auto_run run;
	struct error report_err = { 0 };

	run_init(&run, args, shell);
	if (open_report(&run, &report_err) < 0)
		return tell_failure(&run, verb, &report_err);
	if (err->kind != ERROR_NONE || prepare(&run, err) < 0)
		return tell_failure(&run, verb, err);
	if (run.dry_run)
		return print_plan(&run);
	carry_out(&run);
	return tell_result(&run);
}

int verb_run(const struct verb *verb, const struct arguments *args,
	     struct error *err)
{
	return run_command(verb, args, false, err);
}

int verb_shell(const struct verb *verb, const struct arguments *args,
	       struct error *err)
{
	return run_command(verb, args, true, err);
}
