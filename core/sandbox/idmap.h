/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Identities: which host ids stand for the ids of a box, and the user
 * namespaces and idmapped mounts made from such a map (user_namespaces(7),
 * mount_setattr(2)). The map is never 0 to 0: a box root that is host root
 * could write /proc/sys.
 */
#ifndef LLMBOX_IDMAP_H
#define LLMBOX_IDMAP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "policy/policy.h"
#include "sandbox/idmap_range.h"

struct error;
struct buf;

struct idmap_range {
	uint32_t inside, outside, count;
};

enum { IDMAP_RANGES_MAX = 3, IDMAP_RANGE_LEN = 65536 };

struct idmap {
	enum identity identity; /* as chosen: never IDENTITY_AUTO */
	char reason[192];       /* why not the better one, or "" */
	struct idmap_range uid[IDMAP_RANGES_MAX], gid[IDMAP_RANGES_MAX];
	unsigned uid_count, gid_count;
	/* Of IDENTITY_RANGE: the subordinate ids, and who inside is the caller.
	 */
	struct idmap_starts starts;
	uid_t own_uid;
	gid_t own_gid;
};

/*
 * Chooses for the calling user: host root shifted; anybody else a range where
 * it can be had, else one id. uid and gid are the ids inside that the caller's
 * own is to be (0 for root). Shifted takes root's range of /etc/subuid, else a
 * block of 65536 that no account and no subordinate range uses, chosen once and
 * recorded in the state directory. ERROR_POLICY where asked can't be had, with
 * the reason and the cure.
 */
int idmap_choose(enum identity asked, uid_t uid, gid_t gid, struct idmap *ret,
		 struct error *err);

/* The text of uid_map and gid_map. */
void idmap_format(const struct idmap_range *ranges, unsigned count,
		  struct buf *out);

/* The host id of an id inside; false where it is not mapped. */
bool idmap_to_host(const struct idmap_range *ranges, unsigned count,
		   uint32_t inside, uint32_t *ret_outside);

/* Writes both maps of a process in a new user namespace, whose parent's rights
 * the caller must have. 0 or -errno. */
int idmap_write(pid_t pid, const struct idmap *map);

/* The same by the means that the identity has: newuidmap(1) for a range. */
int idmap_give(pid_t pid, const struct idmap *map, struct error *err);

/* The calling process, alone in a new user namespace, maps itself: one id. */
int idmap_write_self(const struct idmap *map);

/* A user namespace with this map that no process is in, as a descriptor: for
 * idmapped mounts, and to be joined. Shifted or range. */
int idmap_userns(const struct idmap *map, struct error *err);

/* Joins it, as its root, without groups; clears dumpable and the death signal.
 * 0 or -errno. */
int idmap_join(int userns_fd);

/*
 * A detached clone of the mount at path (and of all below it where recursive)
 * in which owners are moved by userns_fd (-1: not moved); host root only.
 * -EINVAL and ERROR_HOST where the filesystem can't be idmapped. attr are
 * MOUNT_ATTR_... to set.
 */
int idmap_clone_mount(int dirfd, const char *path, int userns_fd,
		      bool recursive, uint64_t attr, struct error *err);

/* Can trees on the filesystem of path be idmapped? Tried, not guessed. */
bool idmap_is_supported(const char *path);

#endif
