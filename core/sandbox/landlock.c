/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/landlock.h"

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

/* As of linux/landlock.h of 6.12, which older headers lack. */
struct ruleset_attr {
	uint64_t handled_access_fs;
	uint64_t handled_access_net;
	uint64_t scoped;
};

enum {
	RULESET_VERSION = 1 << 0,
	SCOPE_ABSTRACT_UNIX_SOCKET = 1 << 0,
	SCOPE_SIGNAL = 1 << 1,
	ABI_SCOPES = 6,
};

int landlock_abi(void)
{
	int abi = (int)syscall(SYS_landlock_create_ruleset, NULL, 0,
			       RULESET_VERSION);

	return abi < 0 ? -errno : abi;
}

bool landlock_can_scope(void)
{
	return landlock_abi() >= ABI_SCOPES;
}

int landlock_scope(void)
{
	struct ruleset_attr attr = {
		.scoped = SCOPE_ABSTRACT_UNIX_SOCKET | SCOPE_SIGNAL,
	};
	int fd = (int)syscall(SYS_landlock_create_ruleset, &attr, sizeof(attr),
			      0);

	if (fd < 0)
		return -errno;
	int r = (int)syscall(SYS_landlock_restrict_self, fd, 0) < 0 ? -errno
								    : 0;

	close(fd);
	return r;
}
