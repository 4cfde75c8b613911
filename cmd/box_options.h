/* SPDX-License-Identifier: Apache-2.0 */
/* From the command line to a policy. */
#ifndef LLMBOX_CMD_BOX_OPTIONS_H
#define LLMBOX_CMD_BOX_OPTIONS_H

struct arguments;
struct error;
struct option_use;
struct policy;

/*
 * The policy that a command line asks for, into an initialised one: the files,
 * then the options in their order, then the checks of the whole. Of several
 * errors in a file the first is told here, all of them by "policy check".
 * ERROR_POLICY or ERROR_USAGE.
 */
int box_options_policy(const struct arguments *args, struct policy *p,
		       struct error *err);

/* Handlers of the table. */
int box_option_project(struct policy *p, const struct option_use *use,
		       struct error *err);
int box_option_volume(struct policy *p, const struct option_use *use,
		      struct error *err);
int box_option_tmpfs(struct policy *p, const struct option_use *use,
		     struct error *err);
int box_option_read_only(struct policy *p, const struct option_use *use,
			 struct error *err);
int box_option_env(struct policy *p, const struct option_use *use,
		   struct error *err);
int box_option_env_file(struct policy *p, const struct option_use *use,
			struct error *err);
int box_option_allow(struct policy *p, const struct option_use *use,
		     struct error *err);

#endif
