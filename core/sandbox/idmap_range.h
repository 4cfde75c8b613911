/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Identity "range": the subordinate ids of an ordinary user (subuid(5)), which
 * only the set-user-ID programs newuidmap(1) and newgidmap(1) may map.
 */
#ifndef LLMBOX_IDMAP_RANGE_H
#define LLMBOX_IDMAP_RANGE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct error;
struct idmap;

/* Subordinate ids that a box needs: each stands for the id of its number, but
 * for the one in whose place the caller is. */
enum { IDMAP_SUBORDINATE = 65536 };

/* The first of a user's subordinate ids, of both kinds. */
struct idmap_starts {
	uint32_t uid, gid;
};

/*
 * The first range of the user, by name (NULL: unknown) or by uid, in a file of
 * subuid(5)'s format that has at least count ids, neither id 0 nor own among
 * the first count of them. False where there is none.
 */
bool idmap_range_find(const char *path, const char *name, uid_t uid,
		      uint32_t count, uint32_t own, uint32_t *ret_start);

/*
 * The caller's own, if they can be mapped here, as far as looking tells: no
 * process is started. Else ERROR_POLICY: the reason, one clause, and as a hint
 * the cure.
 */
int idmap_range_choose(struct idmap_starts *ret, struct error *err);

/* Fills the map of a box: the caller is uid and gid inside (at most 65535), any
 * other id is the subordinate one of its number. */
void idmap_range_fill(const struct idmap_starts *starts, uid_t uid, gid_t gid,
		      struct idmap *ret);

/* That of who looks after the trees of all boxes: 0 is the caller, and behind
 * it come all the subordinate ids. */
void idmap_range_fill_all(const struct idmap_starts *starts, struct idmap *ret);

/* Maps a process in a new user namespace by the two programs. ERROR_HOST with
 * what they say. */
int idmap_range_write(pid_t pid, const struct idmap *map, struct error *err);

#endif
