/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Accounts of a box, from its own /etc/passwd and /etc/group: files that an
 * attacker wrote. Read with a small parser, never through NSS, which would load
 * code that the tree names.
 */
#ifndef LLMBOX_ACCOUNTS_H
#define LLMBOX_ACCOUNTS_H

#include <stdbool.h>
#include <sys/types.h>

struct error;

enum { ACCOUNT_TEXT_MAX = 256, ACCOUNT_GROUPS_MAX = 64 };

struct account {
	uid_t uid;
	gid_t gid;
	char name[ACCOUNT_TEXT_MAX]; /* "" where the files don't know the uid */
	char home[ACCOUNT_TEXT_MAX]; /* absolute; "/" where unknown */
	char shell[ACCOUNT_TEXT_MAX]; /* absolute; "/bin/sh" where unknown */
	gid_t groups[ACCOUNT_GROUPS_MAX]; /* supplementary, without gid */
	unsigned group_count;
};

/*
 * Looks user up: NAME|UID[:GROUP|GID]. etc is the box's /etc, or -1. Numbers
 * need no entry. -ENOENT where a name is unknown. No allocation.
 */
int accounts_find(int etc, const char *user, struct account *ret);

/* The ids of user where no file is needed to know them: root and UID:GID. */
bool accounts_ids_known(const char *user, uid_t *ret_uid, gid_t *ret_gid);

/*
 * The ids of user before the box exists, as accounts_find will see them: for
 * the map of a one-id box and the owners of volumes. Root and UID:GID at once;
 * other from the tree's files, parsed in a child that can do nothing but
 * compute (seccomp's strict mode). tree NULL: the host view.
 */
int accounts_ids(const char *user, const char *tree, uid_t *ret_uid,
		 gid_t *ret_gid, struct error *err);

#endif
