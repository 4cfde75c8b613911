/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trusted here: /etc/subuid, /etc/subgid and /etc/passwd of the host, and the
 * state directory, which is the caller's own. Nothing of a box is read.
 */
#include "sandbox/idmap.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <inttypes.h>
#include <pwd.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/dirs.h"
#include "base/error.h"
#include "base/fd.h"
#include "base/mem.h"
#include "sandbox/explain.h"

/* Blocks that may be chosen: above what distributions hand out to accounts and
 * systemd to containers, below systemd's foreign range (2147352576). */
enum {
	SHIFT_FIRST = 524288,
	SHIFT_LAST = 1879048191,
};

/* ---- the text form ---- */

void idmap_format(const struct idmap_range *ranges, unsigned count,
		  struct buf *out)
{
	for (unsigned i = 0; i < count; i++)
		buf_addf(out, "%" PRIu32 " %" PRIu32 " %" PRIu32 "\n",
			 ranges[i].inside, ranges[i].outside, ranges[i].count);
}

bool idmap_to_host(const struct idmap_range *ranges, unsigned count,
		   uint32_t inside, uint32_t *ret_outside)
{
	for (unsigned i = 0; i < count; i++) {
		if (inside - ranges[i].inside >= ranges[i].count)
			continue;
		*ret_outside = ranges[i].outside + (inside - ranges[i].inside);
		return true;
	}
	return false;
}

/* ---- choosing a block for host root ---- */

/* Does any range of the file meet the block at start? */
static bool subid_meets(const char *path, uint32_t start)
{
	FILE *f = fopen(path, "re");
	char line[256];
	uint32_t from, count;
	bool meets = false;

	if (!f)
		return false;
	while (!meets && fgets(line, sizeof(line), f))
		meets = sscanf(line, "%*[^:]:%" SCNu32 ":%" SCNu32, &from,
			       &count) == 2 &&
			from < start + IDMAP_RANGE_LEN &&
			start < (uint64_t)from + count;
	fclose(f);
	return meets;
}

/* /etc/passwd alone: accounts of a directory service (getpwent) would load
 * libraries, and live far below SHIFT_FIRST or in ranges of their own. */
static bool account_in(uint32_t start)
{
	FILE *f = fopen("/etc/passwd", "re");
	struct passwd *pw;
	bool found = false;

	if (!f)
		return false;
	while (!found && (pw = fgetpwent(f)))
		found = pw->pw_uid - start < IDMAP_RANGE_LEN ||
			pw->pw_gid - start < IDMAP_RANGE_LEN;
	fclose(f);
	return found;
}

static int shift_choose(uint32_t *ret)
{
	for (uint32_t at = SHIFT_FIRST; at < SHIFT_LAST - IDMAP_RANGE_LEN;
	     at += IDMAP_RANGE_LEN) {
		if (subid_meets("/etc/subuid", at) ||
		    subid_meets("/etc/subgid", at) || account_in(at))
			continue;
		*ret = at;
		return 0;
	}
	return -ENOSPC;
}

/* The recorded block; the record is made at the first call. Two processes at
 * once choose the same block, so who writes last does not matter. */
static int shift_recorded(uint32_t *ret, struct error *err)
{
	auto_free char *dir = dirs_state();
	auto_buf text = { 0 };

	if (!dir)
		return error_set(err, ERROR_STATE, 0,
				 "no state directory: HOME is not set");
	auto_free char *path = mem_printf("%s/idrange", dir);

	if (file_read(AT_FDCWD, path, 64, &text) == 0 && text.data &&
	    sscanf(text.data, "%" SCNu32, ret) == 1 && *ret >= SHIFT_FIRST &&
	    *ret <= SHIFT_LAST - IDMAP_RANGE_LEN)
		return 0;
	if (shift_choose(ret) < 0)
		return error_set(err, ERROR_HOST, ENOSPC,
				 "no free block of 65536 ids for host root");
	auto_close int dirfd = dirs_open_private(dir, err);

	if (dirfd < 0)
		return dirfd;
	auto_free char *line = mem_printf("%" PRIu32 "\n", *ret);
	auto_free char *temporary = mem_printf("idrange.%d", getpid());
	auto_close int fd = openat(
		dirfd, temporary,
		O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (fd < 0 || fd_write_all(fd, line, strlen(line)) < 0 ||
	    renameat(dirfd, temporary, dirfd, "idrange") < 0)
		return error_set(err, ERROR_STATE, errno,
				 "record the id range in %s", path);
	return 0;
}

static void ranges_set(struct idmap *map, uint32_t uid, uint32_t host_uid,
		       uint32_t gid, uint32_t host_gid, uint32_t count)
{
	map->uid[0] = (struct idmap_range){ uid, host_uid, count };
	map->gid[0] = (struct idmap_range){ gid, host_gid, count };
	map->uid_count = map->gid_count = 1;
}

static int choose_shifted(struct idmap *map, struct error *err)
{
	uint32_t uid, gid;

	map->identity = IDENTITY_SHIFTED;
	if (!idmap_range_find("/etc/subuid", "root", 0, IDMAP_RANGE_LEN, 0,
			      &uid) ||
	    !idmap_range_find("/etc/subgid", "root", 0, IDMAP_RANGE_LEN, 0,
			      &gid)) {
		int r = shift_recorded(&uid, err);

		if (r < 0)
			return r;
		gid = uid;
	}
	ranges_set(map, 0, uid, 0, gid, IDMAP_RANGE_LEN);
	return 0;
}

/* Root of the initial user namespace, whose rights are the machine's. */
static bool is_host_root(void)
{
	char link[64] = "";

	/* PROC_USER_INIT_INO, include/linux/proc_ns.h, since Linux 3.8. */
	return geteuid() == 0 &&
	       (readlink("/proc/self/ns/user", link, sizeof(link) - 1) < 0 ||
		strcmp(link, "user:[4026531837]") == 0);
}

/* What host root may have, and who else may. */
static int check_asked(enum identity asked, bool root, struct error *err)
{
	if (asked == IDENTITY_SHIFTED && !root) {
		error_set(err, ERROR_POLICY, 0,
			  "identity shifted needs host root");
		return error_hint(err, "use --identity auto");
	}
	if (asked == IDENTITY_ONE && root) {
		error_set(err, ERROR_POLICY, 0,
			  "identity one would map host root into the box");
		return error_hint(err, "use --identity shifted");
	}
	if (asked == IDENTITY_RANGE && root) {
		error_set(err, ERROR_POLICY, 0,
			  "identity range would map host root into the box");
		return error_hint(err, "use --identity shifted");
	}
	return 0;
}

static int choose_range(uid_t uid, gid_t gid, struct idmap *map,
			struct error *err)
{
	struct idmap_starts starts;

	if (uid >= IDMAP_RANGE_LEN || gid >= IDMAP_RANGE_LEN) {
		error_set(err, ERROR_POLICY, 0,
			  "user %u:%u is above the ids of a range, 0 to %d",
			  uid, gid, IDMAP_RANGE_LEN - 1);
		return error_hint(err, "use --identity one");
	}
	int r = idmap_range_choose(&starts, err);

	if (r == 0)
		idmap_range_fill(&starts, uid, gid, map);
	return r;
}

int idmap_choose(enum identity asked, uid_t uid, gid_t gid, struct idmap *ret,
		 struct error *err)
{
	bool root = is_host_root();
	struct error why = { 0 };
	int r = check_asked(asked, root, err);

	memset(ret, 0, sizeof(*ret));
	if (r < 0)
		return r;
	if (root)
		return choose_shifted(ret, err);
	if (asked == IDENTITY_RANGE) {
		r = choose_range(uid, gid, ret, err);
		return r < 0 ? error_prefix(err, "identity range") : 0;
	}
	if (asked == IDENTITY_AUTO && choose_range(uid, gid, ret, &why) == 0)
		return 0;
	ret->identity = IDENTITY_ONE;
	snprintf(ret->reason, sizeof(ret->reason), "%.191s",
		 asked == IDENTITY_ONE ? "asked for" : why.message);
	ranges_set(ret, uid, geteuid(), gid, getegid(), 1);
	return 0;
}

/* ---- user namespaces ---- */

static int map_put(pid_t pid, const char *file, const struct idmap_range *r,
		   unsigned count)
{
	char path[64], text[128];
	int len = 0;

	/* No allocation: idmap_write_self runs between clone and exec. */
	for (unsigned i = 0; i < count; i++)
		len += snprintf(text + len, sizeof(text) - (size_t)len,
				"%" PRIu32 " %" PRIu32 " %" PRIu32 "\n",
				r[i].inside, r[i].outside, r[i].count);
	if (pid)
		snprintf(path, sizeof(path), "/proc/%d/%s", pid, file);
	else
		snprintf(path, sizeof(path), "/proc/self/%s", file);
	return file_put(AT_FDCWD, path, text);
}

int idmap_write(pid_t pid, const struct idmap *map)
{
	int r = map_put(pid, "gid_map", map->gid, map->gid_count);

	return r < 0 ? r : map_put(pid, "uid_map", map->uid, map->uid_count);
}

int idmap_give(pid_t pid, const struct idmap *map, struct error *err)
{
	if (map->identity == IDENTITY_RANGE)
		return idmap_range_write(pid, map, err);
	int r = idmap_write(pid, map);

	if (r == 0)
		return 0;
	error_set(err, ERROR_HOST, -r, "write the id maps");
	return explain_maps(err);
}

int idmap_write_self(const struct idmap *map)
{
	/* user_namespaces(7): without rights over groups in the parent, a gid
	 * may be mapped only after setgroups is given up. */
	int r = file_put(AT_FDCWD, "/proc/self/setgroups", "deny");

	return r < 0 ? r : idmap_write(0, map);
}

/* Lives as long as its parent wants it; nothing of the parent's is kept open,
 * for who waits for an end of file. */
static void __attribute__((noreturn)) hold_namespace(pid_t parent)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	fd_close_range(0, ~0U, false);
	if (getppid() != parent)
		_exit(1);
	for (;;)
		pause();
}

int idmap_userns(const struct idmap *map, struct error *err)
{
	pid_t parent = getpid();
	pid_t pid = (pid_t)syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, NULL,
				   NULL, NULL, NULL);
	char path[64];

	if (pid < 0)
		return explain_userns(errno, err);
	if (pid == 0)
		hold_namespace(parent);
	int fd = idmap_give(pid, map, err);

	snprintf(path, sizeof(path), "/proc/%d/ns/user", pid);
	if (fd == 0) {
		fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			fd = error_set(err, ERROR_HOST, errno, "open %s", path);
	}
	kill(pid, SIGKILL);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	return fd;
}

int idmap_join(int userns_fd)
{
	if (setns(userns_fd, CLONE_NEWUSER) < 0 || setgroups(0, NULL) < 0 ||
	    setresgid(0, 0, 0) < 0 || setresuid(0, 0, 0) < 0)
		return -errno;
	return 0;
}

int idmap_clone_mount(int dirfd, const char *path, int userns_fd,
		      bool recursive, uint64_t attr, struct error *err)
{
	unsigned depth = recursive ? AT_RECURSIVE : 0;
	auto_close int tree =
		open_tree(dirfd, path,
			  OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | depth |
				  (*path ? 0 : AT_EMPTY_PATH));
	/* Private: what the host mounts there later is not the box's. */
	struct mount_attr set = {
		.attr_set = attr | (userns_fd < 0 ? 0 : MOUNT_ATTR_IDMAP),
		.propagation = MS_PRIVATE,
		.userns_fd = userns_fd < 0 ? 0 : (__u64)userns_fd,
	};

	if (tree < 0)
		return error_set(err, ERROR_HOST, errno, "clone the mount %s",
				 path);
	if (mount_setattr(tree, "", AT_EMPTY_PATH | depth, &set, sizeof(set)) <
	    0)
		return error_set(err, ERROR_HOST, errno,
				 "map the ids of the filesystem of %s", path);
	return fd_take(tree);
}

bool idmap_is_supported(const char *path)
{
	struct idmap map = { 0 };

	ranges_set(&map, 0, SHIFT_FIRST, 0, SHIFT_FIRST, IDMAP_RANGE_LEN);
	auto_close int userns = idmap_userns(&map, NULL);

	if (userns < 0)
		return false;
	auto_close int tree =
		idmap_clone_mount(AT_FDCWD, path, userns, false, 0, NULL);

	return tree >= 0;
}
