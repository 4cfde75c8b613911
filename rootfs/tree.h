/* SPDX-License-Identifier: Apache-2.0 */
/* Trees that strangers made: removed whatever their modes and depth are. */
#ifndef LLMBOX_TREE_H
#define LLMBOX_TREE_H

/*
 * Removes name and all below it, without following links. Directories of the
 * caller that lack rights get them first. Uses a bounded number of descriptors.
 * 0 (also where there is nothing) or -errno; then as much as possible is gone.
 */
int tree_remove(int dirfd, const char *name);

/*
 * The same, also of what belongs to the caller's subordinate ids
 * (idmap_range.h): those from starts on, or (NULL) the ones that a box would
 * get now. -EACCES or -EPERM where files are left that belong to neither.
 */
struct idmap_starts;
int tree_remove_owned(int dirfd, const char *name,
		      const struct idmap_starts *starts);

#endif
