/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Why this host refuses, and what to type: the cures that llmbox names, in one
 * place, so that the error of a run and doctor say the same. What was tried and
 * failed is known already; here settings are read only to tell why.
 */
#ifndef LLMBOX_EXPLAIN_H
#define LLMBOX_EXPLAIN_H

struct buf;
struct error;

enum cure {
	CURE_NONE,
	CURE_MAX_USERNS, /* user.max_user_namespaces */
	CURE_USERNS_CLONE,
	CURE_APPARMOR_USERNS,
	CURE_CHROOT,
	CURE_FILTER,       /* a container's system-call filter */
	CURE_PROC,         /* a container's masked /proc */
	CURE_APPARMOR_BOX, /* a container's AppArmor profile */
	CURE_MODULE,       /* a security module, by elimination */
	CURE_KERNEL,       /* a system call that this kernel has not */
	CURE_OVERLAY,
	CURE_NF_TABLES,
	CURE_UIDMAP,
	CURE_CGROUP,  /* version 2, not the caller's */
	CURE_CGROUP1, /* version 1: root's only */
	CURE_STORE,
	CURES,
};

/* What to type or write: one line, for the container that this is, if any. */
const char *explain_cure(enum cure cure);

/*
 * Which cure fits a call that failed with this errno: a filter, an AppArmor
 * profile or a kernel that has not got it; else otherwise.
 */
enum cure explain_call(int code, enum cure otherwise);

/* Why user namespaces are refused to the caller: one sentence with the setting
 * and its value in *err, the cure as its hint. Returns what error_set does. */
int explain_userns(int code, struct error *err);

/* The same for a clone(2) with all namespaces of a box: which of them. */
int explain_namespaces(int code, struct error *err);

/* Only its cure; also where a user namespace was made, but gave no rights over
 * itself: code is what they were refused with. CURE_NONE: none is known. */
enum cure explain_userns_cure(int code);

/*
 * A step of set-up failed: *err becomes "set up the box: STEP", with the cause
 * as far as it can be found, and its cure as the hint. Returns what error_set
 * does.
 */
int explain_step(const char *step, int code, struct error *err);

/*
 * The maps of a new user namespace could not be written: adds to an error why,
 * as far as it can be found, and the cure. Returns what error_set returned for
 * *err.
 */
int explain_maps(struct error *err);

/*
 * Adds to an error with ENOSYS, EPERM or EACCES, where there is one, which of
 * the calls that every box needs is missing or refused here, and the cure.
 * Returns what error_set returned for *err.
 */
int explain_error(struct error *err);

/* An AppArmor profile that allows user namespaces to this binary (absolute). */
void explain_profile(const char *binary, struct buf *out);

#endif
