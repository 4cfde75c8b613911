/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Limits and guarantees: one table says for each by which means it can be held
 * here. A back end (process limits, the sized tmpfs, the supervisor; cgroups
 * when there are some) is a function of a row.
 */
#ifndef LLMBOX_LIMITS_H
#define LLMBOX_LIMITS_H

struct error;
struct plan;
struct policy;

/*
 * Fills plan->limits and plan->guarantees. plan->root, ids, network are decided
 * already. ERROR_LIMIT where a limit that was asked for, or a guarantee that is
 * required, can't be held; it names the option.
 */
int limits_plan(const struct policy *policy, struct plan *plan,
		struct error *err);

#endif
