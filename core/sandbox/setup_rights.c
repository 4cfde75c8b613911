/* SPDX-License-Identifier: Apache-2.0 */
/* Set-up: names, keys, and the rights that nothing in the box gets back. */
#include <errno.h>
#include <linux/capability.h>
#include <linux/keyctl.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sandbox/landlock.h"
#include "sandbox/rights.h"
#include "sandbox/setup.h"

int setup_names(struct setup *s)
{
	const char *name = s->plan->hostname;

	return sethostname(name, strlen(name)) < 0 ? -errno : 0;
}

/* Keyrings are not namespaced: the caller's session keyring would be found
 * (keyrings(7)). A kernel without them has none to find, and where a filter
 * refuses to leave it, the box's filters refuse all calls that could reach it:
 * hold_keyring() in limits.c says so. */
int setup_keyring(struct setup *s)
{
	(void)s;
	if (syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, NULL) < 0 &&
	    errno != ENOSYS && errno != EPERM)
		return -errno;
	return 0;
}

/* Only the bounding set: init itself still needs its own for the ids, kills and
 * cgroup namespaces of commands. */
int setup_bounding(struct setup *s)
{
	uint64_t kept = rights_of(s->plan);

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return setup_fail(s, "no_new_privs");
	for (int cap = 0; cap < 64; cap++) {
		if (kept >> cap & 1)
			continue;
		if (prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) < 0) {
			if (errno == EINVAL && cap > CAP_WAKE_ALARM)
				break; /* more than this kernel has */
			return setup_fail(s, "capability %d", cap);
		}
	}
	return 0;
}

int setup_landlock(struct setup *s)
{
	if (s->plan->network != NETWORK_HOST || !landlock_can_scope())
		return 0;
	return landlock_scope();
}

int setup_filter(struct setup *s)
{
	return filter_load(&s->plan->init_filter);
}
