/* SPDX-License-Identifier: Apache-2.0 */
/* policy check, show and schema. */
#include "policy/policy.h"

#include "base/error.h"
#include "base/json.h"
#include "cmd/box_options.h"
#include "cmd/output.h"
#include "cmd/parse.h"
#include "cmd/verb.h"

static int tell_errors(const char *file, const struct error_list *errors)
{
	for (size_t i = 0; i < errors->count; i++)
		output_error(&errors->items[i]);
	if (errors->dropped)
		output_line("%s: %zu more errors", file, errors->dropped);
	return errors->count ? STATUS_CHECK_FAILED : STATUS_OK;
}

int verb_policy_check(const struct verb *verb, const struct arguments *args,
		      struct error *err)
{
	const char *file = args->operands[0];
	struct error_list errors = { 0 };
	auto_policy policy;

	(void)verb;
	policy_init(&policy);
	int r = policy_load_file(&policy, file, &errors);

	if (r == 0)
		r = policy_finish(&policy, err);
	if (r < 0 && errors.count == 0)
		error_list_add(&errors, err);
	int status = tell_errors(file, &errors);

	error_list_release(&errors);
	return status;
}

int verb_policy_show(const struct verb *verb, const struct arguments *args,
		     struct error *err)
{
	auto_json_writer *w = json_writer_new(true);
	auto_policy policy;

	policy_init(&policy);
	if (box_options_policy(args, &policy, err) < 0) {
		verb_hint(verb, err);
		return output_error(err);
	}
	policy_write(&policy, true, w);
	return output_json(w);
}

int verb_policy_schema(const struct verb *verb, const struct arguments *args,
		       struct error *err)
{
	auto_json_writer *w = json_writer_new(true);

	(void)verb;
	(void)args;
	(void)err;
	policy_write_schema(w);
	return output_json(w);
}
