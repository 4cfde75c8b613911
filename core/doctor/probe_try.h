/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Private to the probes: what one of them is given, and how it answers. Each
 * runs in a process of its own, so it may enter namespaces, mount and fork, and
 * leaves by returning; all that is in its process group is killed then.
 */
#ifndef LLMBOX_PROBE_TRY_H
#define LLMBOX_PROBE_TRY_H

#include "base/error.h"
#include "doctor/probe.h"
#include "sandbox/explain.h"
#include "sandbox/idmap.h"

struct probe_try {
	const struct probe_input *in;
	struct idmap ids;         /* as a run would choose them */
	struct error ids_error;   /* why none could be chosen, if so */
	char mark[32];            /* a name that no other process uses */
	struct probe_result *ret; /* shared with the process that waits */
};

/* The answer; the last one counts. */
void probe_yes(struct probe_try *t, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void probe_soft(struct probe_try *t, enum cure cure, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void probe_no(struct probe_try *t, enum cure cure, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* No, with errno's text, and the cure that fits it (else otherwise). */
void probe_failed(struct probe_try *t, int code, enum cure otherwise,
		  const char *format, ...)
	__attribute__((format(printf, 4, 5)));
/* One more line of cure. */
void probe_add_cure(struct probe_try *t, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * Enters a new user namespace with the ids of a run, and new namespaces of the
 * kinds in flags (CLONE_NEW...). 0, or -errno with the answer given.
 */
int probe_enter(struct probe_try *t, int flags);

/* Waits for a child of the probe. True where it exited with 0. */
bool probe_child_succeeded(int pid);

/* ---- the probes, by file ---- */

/* probe_ids.c */
void probe_userns(struct probe_try *t);
void probe_namespaces(struct probe_try *t);
void probe_identity(struct probe_try *t);
void probe_pids(struct probe_try *t);
/* probe_kernel.c */
void probe_pidfd(struct probe_try *t);
void probe_openat2(struct probe_try *t);
void probe_filter(struct probe_try *t);
void probe_notify(struct probe_try *t);
void probe_keyring(struct probe_try *t);
void probe_landlock(struct probe_try *t);
/* probe_mount.c */
void probe_mounts(struct probe_try *t);
void probe_proc(struct probe_try *t);
void probe_sysfs(struct probe_try *t);
void probe_devpts(struct probe_try *t);
void probe_tmpfs(struct probe_try *t);
/* probe_store.c */
void probe_store(struct probe_try *t);
void probe_overlay(struct probe_try *t);
void probe_overlay_disk(struct probe_try *t);
void probe_idmapped(struct probe_try *t);
/* probe_net.c */
void probe_loopback(struct probe_try *t);
void probe_ping(struct probe_try *t);
void probe_relay(struct probe_try *t);
/* probe_cgroup.c */
void probe_cgroup(struct probe_try *t);
/* Takes away what a probe that was ended may have left. */
void probe_cgroup_clean(const struct probe_try *t);
/* probe_box.c */
void probe_limits(struct probe_try *t);
void probe_box(struct probe_try *t);
void probe_image(struct probe_try *t);

#endif
