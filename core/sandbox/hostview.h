/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The host view: what a box without an image shows of the host. /usr and the
 * usual links into it, and an /etc made of these lists; nothing of anybody's
 * home, /var, /root or /run.
 */
#ifndef LLMBOX_HOSTVIEW_H
#define LLMBOX_HOSTVIEW_H

/* Names directly below / that are shown where the host has them: a symbolic
 * link into /usr is made again, a directory is bound read-only. NULL-ended. */
extern const char *const hostview_top[];

/* Names below /etc, bound read-only where the host has them and their owner is
 * root; never one with private keys or passwords. NULL-ended. */
extern const char *const hostview_etc[];

/* The accounts: /etc/passwd and /etc/group. */
extern const char hostview_passwd[], hostview_group[];
extern const char hostview_nsswitch[];

#endif
