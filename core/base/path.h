/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Paths that others influence: an archive's names, a box's files. Resolved by
 * openat2(2) as if root_fd were "/": "..", absolute names and links can't
 * leave it, and /proc's magic links are not followed.
 */
#ifndef LLMBOX_PATH_H
#define LLMBOX_PATH_H

#include <stdbool.h>
#include <sys/types.h>

struct stat;

/* A descriptor, or -errno. flags as of open(2); O_CLOEXEC is added. */
int path_open_in(int root_fd, const char *path, int flags, mode_t mode);

/* As path_open_in, and no symbolic link is followed anywhere: -ELOOP. */
int path_open_nolink(int root_fd, const char *path, int flags, mode_t mode);

/*
 * Opens (O_PATH) the directory path below root_fd and makes what is missing of
 * it with mode. -ENOTDIR where something else is in the way. The result is
 * inside root_fd whatever links the tree holds.
 */
int path_mkdirs_in(int root_fd, const char *path, mode_t mode);

/*
 * The parent directory (O_PATH) of path below root_fd; *ret_name is the last
 * component (it points into path), which is never "", "." or "..": -EINVAL.
 */
int path_open_parent_in(int root_fd, const char *path, const char **ret_name);

/* Lexically: absolute, no empty, "." or ".." component, no '/' at the end. */
bool path_is_normal(const char *path);

/* An absolute path with ".", ".." and doubled '/' folded away, owned. Relative
 * ones count from base (absolute). Purely lexical: links are not looked at. */
char *path_normalize(const char *base, const char *path);

/* Does the name say that it is an archive (".tar.zst", ".tgz", ...)? In either
 * case: the suffix tells an archive from an image's name, not its format. */
bool path_has_archive_suffix(const char *path);

/* Is path equal to or below dir? Both normal. */
bool path_is_below(const char *path, const char *dir);

#endif
