/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a volume may be, checked on the host before anything is made.
 * Directories are compared by walking ".." with device and inode, never as
 * text: a bind mount or a link elsewhere is the same directory.
 */
#ifndef LLMBOX_VOLUMES_H
#define LLMBOX_VOLUMES_H

#include <stdbool.h>

struct error;
struct plan;
struct plan_input;
struct plan_mount;

/* Fills plan->mounts from the policy's, in order. ERROR_POLICY names the
 * mount and, where it helps, the access that would be allowed. */
int volumes_plan(const struct plan_input *in, struct plan *plan,
		 struct error *err);

/* Can the box change a directory of the host by it? */
bool volume_is_writable_dir(const struct plan_mount *m);

#endif
