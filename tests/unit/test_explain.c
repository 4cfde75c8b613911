/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Causes and cures: the AppArmor profile that doctor prints is the one that is
 * installed, and every cure is a sentence for every kind of container.
 */
#include "sandbox/explain.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/fd.h"
#include "base/mem.h"
#include "tests/unit/tap.h"

/* Without comments, and with "@bindir@" as /usr/bin. */
static char *installed_profile(void)
{
	const char *source = getenv("LLMBOX_SRC");
	auto_free char *path = mem_printf("%s/core/sandbox/apparmor.in",
					  source ? source : ".");
	auto_buf text = { 0 };
	struct buf out = { 0 };
	char *line, *rest;

	if (file_read(AT_FDCWD, path, 4096, &text) < 0 || !text.data)
		return buf_take(&out);
	rest = text.data;
	while ((line = strsep(&rest, "\n"))) {
		char *at = strstr(line, "@bindir@");

		if (line[0] == '#' || !rest)
			continue;
		if (at)
			buf_addf(&out, "%.*s/usr/bin%s\n", (int)(at - line),
				 line, at + strlen("@bindir@"));
		else
			buf_addf(&out, "%s\n", line);
	}
	return buf_take(&out);
}

static void test_profile(void)
{
	auto_free char *installed = installed_profile();
	auto_buf printed = { 0 }, odd = { 0 };

	explain_profile("/usr/bin/llmbox", &printed);
	ok(strcmp(installed, printed.data) == 0,
	   "the profile that is printed is the one that is installed");
	explain_profile("/a b/*[x]\"{y}/llmbox", &odd);
	ok(strstr(odd.data,
		  "profile llmbox \"/a b/\\*\\[x\\]\\\"\\{y\\}/llmbox\" flags"),
	   "a path with pattern characters is one path");
}

static void test_cures(void)
{
	static const char *const pods[] = { NULL, "10.0.0.1" };

	for (size_t i = 0; i < ARRAY_SIZE(pods); i++) {
		unsigned missing = 0;

		if (pods[i])
			setenv("KUBERNETES_SERVICE_HOST", pods[i], 1);
		else
			unsetenv("KUBERNETES_SERVICE_HOST");
		for (int c = CURE_NONE + 1; c < CURES; c++)
			missing += !explain_cure((enum cure)c);
		ok(missing == 0, "every cure has a text%s",
		   pods[i] ? " in a pod" : "");
	}
	ok(strstr(explain_cure(CURE_PROC), "procMount"),
	   "a pod is told what to write into its specification");
	unsetenv("KUBERNETES_SERVICE_HOST");
}

static void test_errors(void)
{
	struct error err = { 0 };

	ok(explain_userns(EPERM, &err) == -EPERM && err.kind == ERROR_HOST &&
		   err.message[0],
	   "a refused user namespace is an error of the host");
	ok(explain_call(EINVAL, CURE_STORE) == CURE_STORE,
	   "an errno that nobody's filter gives keeps its own cure");
	ok(explain_call(ENOSYS, CURE_STORE) != CURE_STORE,
	   "a call that is not there has the kernel's or the filter's");
}

int main(void)
{
	test_profile();
	test_cures();
	test_errors();
	return done_testing();
}
