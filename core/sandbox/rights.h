/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The capabilities that box root keeps, within its own user namespace: what
 * container engines keep by default and programs need. Never SYS_ADMIN,
 * NET_ADMIN, NET_RAW, SYS_PTRACE, MKNOD or DAC_READ_SEARCH.
 */
#ifndef LLMBOX_RIGHTS_H
#define LLMBOX_RIGHTS_H

#include <linux/capability.h>
#include <stdint.h>

#include "sandbox/plan.h"

#define RIGHTS_KEPT                                                          \
	(1ULL << CAP_CHOWN | 1ULL << CAP_DAC_OVERRIDE | 1ULL << CAP_FOWNER | \
	 1ULL << CAP_FSETID | 1ULL << CAP_SETUID | 1ULL << CAP_SETGID |      \
	 1ULL << CAP_SETFCAP | 1ULL << CAP_KILL |                            \
	 1ULL << CAP_NET_BIND_SERVICE | 1ULL << CAP_SYS_CHROOT)

/*
 * With writable volumes of a shifted box without SETFCAP: a capability that a
 * box root writes onto a file of an idmapped mount has the owner's id as its
 * root (capabilities(7)), and that of a volume of host root's is host root.
 */
static inline uint64_t rights_of(const struct plan *plan)
{
	if (plan->writable_volumes && plan->ids.identity == IDENTITY_SHIFTED)
		return RIGHTS_KEPT & ~(1ULL << CAP_SETFCAP);
	return RIGHTS_KEPT;
}

#endif
