/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Only files of the host's kernel are read, and marks that container engines
 * leave (/.dockerenv, /run/.containerenv, the environment of a pod). Those can
 * be wrong or forged at no harm: they choose between two sentences.
 */
#include "sandbox/explain.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/fd.h"
#include "base/mem.h"

/* ---- looking ---- */

static bool setting_is(const char *path, const char *value)
{
	auto_buf text = { 0 };

	return file_read(AT_FDCWD, path, 64, &text) == 0 && text.data &&
	       strncmp(text.data, value, strlen(value)) == 0 &&
	       (text.data[strlen(value)] == '\n' || !text.data[strlen(value)]);
}

static bool file_has(const char *path, const char *line)
{
	auto_buf text = { 0 };

	return file_read(AT_FDCWD, path, 16384, &text) == 0 && text.data &&
	       strstr(text.data, line);
}

/*
 * In a chroot clone(2) gives EPERM. One to a plain directory has no mount at
 * "/" (proc_pid_mountinfo(5): field 5); one to a mount point looks as any root.
 */
static bool is_chrooted(void)
{
	auto_buf text = { 0 };

	if (file_read(AT_FDCWD, "/proc/self/mountinfo", 1 << 20, &text) < 0 ||
	    !text.data)
		return false;
	for (const char *line = text.data; line && *line;) {
		char at[3];

		if (sscanf(line, "%*s %*s %*s %*s %2s", at) == 1 &&
		    strcmp(at, "/") == 0)
			return false;
		line = strchr(line, '\n');
		line = line ? line + 1 : NULL;
	}
	return true;
}

static bool is_filtered(void)
{
	return file_has("/proc/self/status", "Seccomp:\t2");
}

/* A profile that denies: docker-default, or one of the host's admin. */
static bool is_profiled(void)
{
	return file_has("/proc/self/attr/current", "(enforce)");
}

enum container {
	CONTAINER_NONE,
	CONTAINER_DOCKER,
	CONTAINER_PODMAN,
	CONTAINER_POD,
	CONTAINERS
};

static enum container container_of_caller(void)
{
	if (getenv("KUBERNETES_SERVICE_HOST"))
		return CONTAINER_POD;
	if (access("/run/.containerenv", F_OK) == 0)
		return CONTAINER_PODMAN;
	if (access("/.dockerenv", F_OK) == 0)
		return CONTAINER_DOCKER;
	return CONTAINER_NONE;
}

/* ---- cures ---- */

/* By what the caller is in; one text for all where it does not matter. */
static const char *const cures[CURES][CONTAINERS] = {
	[CURE_MAX_USERNS] = { "as root: sysctl user.max_user_namespaces=15000" },
	[CURE_USERNS_CLONE] = { "as root: sysctl "
				"kernel.unprivileged_userns_clone=1" },
	[CURE_APPARMOR_USERNS] = { "as root: an AppArmor profile for llmbox with 'userns,' "
				   "('llmbox doctor' prints it), or sysctl "
				   "kernel.apparmor_restrict_unprivileged_userns=0" },
	[CURE_CHROOT] = { "start llmbox outside, or use pivot_root(8)" },
	[CURE_FILTER] = { "start llmbox without that filter; in docker: --security-opt "
			  "seccomp=docker-seccomp.json, from llmbox's examples; in a "
			  "pod: seccompProfile, as in its pod.yaml",
			  "docker run --security-opt seccomp=docker-seccomp.json, "
			  "from llmbox's examples",
			  "podman run --security-opt seccomp=docker-seccomp.json, "
			  "from llmbox's examples",
			  "securityContext: {seccompProfile: {type: Localhost, "
			  "localhostProfile: llmbox.json}}, as in llmbox's "
			  "examples/pod.yaml" },
	[CURE_PROC] = { "start llmbox where nothing covers parts of /proc; in docker: "
			"--security-opt systempaths=unconfined, in a pod: procMount: "
			"Unmasked",
			"docker run --security-opt systempaths=unconfined",
			"podman run --security-opt unmask=ALL",
			"securityContext: {procMount: Unmasked}" },
	[CURE_APPARMOR_BOX] = { "start llmbox without that AppArmor profile",
				"docker run --security-opt apparmor=unconfined",
				"podman run --security-opt apparmor=unconfined",
				"securityContext: {appArmorProfile: {type: Unconfined}}" },
	[CURE_MODULE] = { "what denied it is in the kernel's log, as root: "
			  "dmesg | grep -i denied" },
	[CURE_KERNEL] = { "start llmbox on a newer kernel (Linux 5.15 or, for "
			  "all of it, 6.12)" },
	[CURE_OVERLAY] = { "as root: modprobe overlay" },
	[CURE_NF_TABLES] = { "as root: modprobe -a nf_tables nft_tproxy" },
	[CURE_UIDMAP] = { "as root: apt-get install uidmap" },
	[CURE_CGROUP] = { "systemd-run --user --scope -p Delegate=yes "
			  "llmbox ..." },
	[CURE_CGROUP1] = { "run llmbox as root, or boot with "
			   "systemd.unified_cgroup_hierarchy=1" },
	[CURE_STORE] = { "set XDG_DATA_HOME to a directory of your own" },
};

const char *explain_cure(enum cure cure)
{
	const char *text = cures[cure][container_of_caller()];

	return text ? text : cures[cure][CONTAINER_NONE];
}

enum cure explain_call(int code, enum cure otherwise)
{
	bool refused = code == EPERM || code == EACCES;

	/* apparmor(7) answers EACCES, a filter what it likes, mostly EPERM. */
	if (code == EACCES && is_profiled())
		return CURE_APPARMOR_BOX;
	if ((refused || code == ENOSYS) && is_filtered())
		return CURE_FILTER;
	return code == ENOSYS ? CURE_KERNEL : otherwise;
}

/* ---- user namespaces ---- */

static const struct userns_setting {
	const char *path, *closed;
	enum cure cure;
} userns_settings[] = {
	{ "/proc/sys/user/max_user_namespaces", "0", CURE_MAX_USERNS },
	{ "/proc/sys/kernel/unprivileged_userns_clone", "0",
	  CURE_USERNS_CLONE },
	{ "/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1",
	  CURE_APPARMOR_USERNS },
};

static const struct userns_setting *closed_setting(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(userns_settings); i++)
		if (setting_is(userns_settings[i].path,
			       userns_settings[i].closed))
			return &userns_settings[i];
	return NULL;
}

enum cure explain_userns_cure(int code)
{
	const struct userns_setting *s = closed_setting();

	if (s)
		return s->cure;
	if (code == ENOSPC || code == EUSERS)
		return CURE_MAX_USERNS;
	if (is_chrooted())
		return CURE_CHROOT;
	return explain_call(code, CURE_NONE);
}

/* Nothing that can be read tells which. */
static int explain_refused(int code, struct error *err)
{
	error_set(err, ERROR_HOST, code,
		  "no user namespace can be made: llmbox is perhaps in a "
		  "chroot, or refused it by a security module");
	return error_hint(err, "%s; %s", explain_cure(CURE_CHROOT),
			  explain_cure(CURE_MODULE));
}

int explain_userns(int code, struct error *err)
{
	const struct userns_setting *s = closed_setting();
	enum cure cure = explain_userns_cure(code);

	if (s)
		error_set(err, ERROR_HOST, code,
			  "this host refuses user namespaces: %s is %s",
			  s->path, s->closed);
	else if (cure == CURE_MAX_USERNS)
		error_set(err, ERROR_HOST, code,
			  "too many user namespaces, or too deeply nested");
	else if (cure == CURE_CHROOT)
		error_set(err, ERROR_HOST, code,
			  "no user namespace can be made in a chroot");
	else if (cure == CURE_FILTER)
		error_set(err, ERROR_HOST, code,
			  "the system-call filter that llmbox was started "
			  "under refuses user namespaces");
	else if (code == EPERM || code == EACCES)
		return explain_refused(code, err);
	else
		error_set(err, ERROR_HOST, code, "make a user namespace");
	return cure == CURE_NONE ? -code
				 : error_hint(err, "%s", explain_cure(cure));
}

/* apparmor.d(5), "Globbing": these would be patterns, and '"' ends the name. */
static void add_path(const char *path, struct buf *out)
{
	buf_adds(out, "\"");
	for (const char *c = path; *c; c++) {
		if (strchr("\"\\*?[]{}^", *c))
			buf_adds(out, "\\");
		buf_add(out, c, 1);
	}
	buf_adds(out, "\"");
}

void explain_profile(const char *binary, struct buf *out)
{
	buf_adds(out, "abi <abi/4.0>,\n"
		      "include <tunables/global>\n"
		      "\n"
		      "profile llmbox ");
	add_path(binary, out);
	buf_adds(out, " flags=(unconfined) {\n"
		      "  userns,\n"
		      "  include if exists <local/llmbox>\n"
		      "}\n");
}
