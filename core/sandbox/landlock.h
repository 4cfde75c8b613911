/* SPDX-License-Identifier: Apache-2.0 */
/* Landlock (landlock(7)): here for what a network namespace would have held. */
#ifndef LLMBOX_LANDLOCK_H
#define LLMBOX_LANDLOCK_H

#include <stdbool.h>

/* The kernel's version of its interface, or -ENOSYS, -EOPNOTSUPP. */
int landlock_abi(void);

/* Can processes be kept from abstract sockets outside (ABI 6, Linux 6.12)? */
bool landlock_can_scope(void);

/* Keeps the calling process and its children from abstract unix sockets and
 * signals outside. no_new_privs is set already. 0 or -errno. */
int landlock_scope(void);

#endif
