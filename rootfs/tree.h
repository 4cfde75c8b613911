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

#endif
