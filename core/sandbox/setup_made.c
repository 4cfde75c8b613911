/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Set-up: what every box has whatever its image has. For a tree it goes into a
 * layer above it, so that mount points are real directories there and neither
 * the tree nor the upper layer changes; for the host view straight into the
 * root.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fd.h"
#include "sandbox/hostview.h"
#include "sandbox/setup.h"

enum { HOST_FILE_MAX = 64 << 10 };

/*
 * A mount point, where the tree has no directory of its own there. /etc is
 * always made, for files of ours; as it hides the tree's attributes it takes
 * them over.
 */
static int make_dir(struct setup *s, int made, const char *name, bool always)
{
	struct stat st;
	bool has = s->lower >= 0 &&
		   fstatat(s->lower, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
		   S_ISDIR(st.st_mode);

	if (has && !always)
		return 0;
	return setup_mkdir(made, name, has ? st.st_mode & 07777 : 0755);
}

static int make_dirs(struct setup *s, int made)
{
	static const char *const names[] = { "dev", "etc", "proc",
					     "run", "sys", "tmp" };
	struct stat st;
	int r = 0;

	for (size_t i = 0; r == 0 && i < sizeof(names) / sizeof(names[0]); i++)
		r = make_dir(s, made, names[i], strcmp(names[i], "etc") == 0);
	/* Root's home, where the tree has nothing of that name. */
	if (r == 0 && (s->lower < 0 ||
		       fstatat(s->lower, "root", &st, AT_SYMLINK_NOFOLLOW) < 0))
		r = setup_mkdir(made, "root", 0700);
	return r;
}

/* The host's own file, for a box that shares the host's network. */
static char *host_file(const char *path, const char *fallback)
{
	struct buf text = { 0 };

	if (file_read(AT_FDCWD, path, HOST_FILE_MAX, &text) == 0)
		return buf_take(&text);
	buf_release(&text);
	buf_adds(&text, fallback);
	return buf_take(&text);
}

static int write_network_files(struct setup *s, int etc)
{
	bool shared = s->plan->network == NETWORK_HOST;
	/* Without a name server the C libraries ask 127.0.0.1, where nothing
	 * answers: look-ups fail at once, not after a time. */
	static const char no_resolver[] = "options attempts:1 timeout:1\n";
	auto_buf hosts = { 0 }, hostname = { 0 };

	buf_addf(&hosts,
		 "127.0.0.1\tlocalhost\n"
		 "::1\tlocalhost ip6-localhost ip6-loopback\n"
		 "127.0.1.1\t%s\n",
		 s->plan->hostname);
	buf_addf(&hostname, "%s\n", s->plan->hostname);
	char *resolv =
		shared ? host_file("/etc/resolv.conf", no_resolver) : NULL;
	char *host_hosts = shared ? host_file("/etc/hosts", hosts.data) : NULL;
	int r = setup_write(etc, "hosts", host_hosts ? host_hosts : hosts.data,
			    0644);

	if (r == 0)
		r = setup_write(etc, "hostname", hostname.data, 0644);
	if (r == 0)
		r = setup_write(etc, "resolv.conf",
				resolv ? resolv : no_resolver, 0644);
	free(resolv);
	free(host_hosts);
	return r;
}

/*
 * apt drops its rights for downloads and looks whether it succeeded, which root
 * emulation (seccomp.h) can't pretend: with one id it is told to stay root.
 */
static int write_apt_settings(struct setup *s, int made)
{
	static const char settings[] = "APT::Sandbox::User \"root\";\n";
	struct stat st;

	if (!s->plan->emulates_one || s->lower < 0 ||
	    fstatat(s->lower, "etc/apt/apt.conf.d", &st, AT_SYMLINK_NOFOLLOW) <
		    0 ||
	    !S_ISDIR(st.st_mode))
		return 0;
	int r = setup_mkdir(made, "etc/apt", 0755);

	if (r == 0)
		r = setup_mkdir(made, "etc/apt/apt.conf.d", 0755);
	return r == 0 ? setup_write(made, "etc/apt/apt.conf.d/00llmbox",
				    settings, 0644)
		      : r;
}

/* ---- the host view ---- */

static int make_parents(int dirfd, const char *path)
{
	char copy[256];
	int r = 0;

	snprintf(copy, sizeof(copy), "%s", path);
	for (char *p = strchr(copy, '/'); r == 0 && p; p = strchr(p + 1, '/')) {
		*p = '\0';
		r = setup_mkdir(dirfd, copy, 0755);
		*p = '/';
	}
	return r;
}

/* Shows host/name as box/name; not there is all right. */
static int show(struct setup *s, const char *host, const char *box,
		const char *name, int boxfd)
{
	char from[300], to[300], link[256];
	struct stat st;

	snprintf(from, sizeof(from), "%s/%s", host, name);
	snprintf(to, sizeof(to), "%s/%s", box, name);
	if (lstat(from, &st) < 0)
		return 0;
	int r = make_parents(boxfd, name);

	if (r < 0)
		return r;
	ssize_t len = readlink(from, link, sizeof(link) - 1);

	if (len > 0) {
		link[len] = '\0';
		/* A link into /usr is right here as it is there. */
		if (strncmp(link, "usr/", 4) == 0 ||
		    strncmp(link, "/usr/", 5) == 0 ||
		    strncmp(link, "../usr/", 7) == 0)
			return symlinkat(link, boxfd, name) < 0 ? -errno : 0;
	}
	if (stat(from, &st) < 0)
		return 0;
	if (!S_ISDIR(st.st_mode) && !S_ISREG(st.st_mode))
		return 0;
	r = S_ISDIR(st.st_mode) ? setup_mkdir(boxfd, name, 0755)
				: setup_write(boxfd, name, "", 0644);
	if (r == 0 && mount(from, to, NULL, MS_BIND | MS_REC, NULL) < 0)
		r = setup_fail(s, "bind %s", from);
	return r;
}

static int show_host(struct setup *s, int root)
{
	/* All that was bound becomes read-only in one call, and then the tmpfs
	 * below writable again. */
	struct mount_attr set = { .attr_set = MOUNT_ATTR_RDONLY |
					      MOUNT_ATTR_NOSUID |
					      MOUNT_ATTR_NODEV };
	struct mount_attr clear = { .attr_clr = MOUNT_ATTR_RDONLY };
	auto_close int etc =
		openat(root, "etc", O_PATH | O_DIRECTORY | O_CLOEXEC);
	int r = etc < 0 ? -errno : 0;

	for (size_t i = 0; r == 0 && hostview_top[i]; i++)
		r = show(s, "", "/tmp/root", hostview_top[i], root);
	for (size_t i = 0; r == 0 && hostview_etc[i]; i++)
		r = show(s, "/etc", "/tmp/root/etc", hostview_etc[i], etc);
	if (r < 0)
		return r;
	if (mount_setattr(AT_FDCWD, "/tmp/root", AT_RECURSIVE, &set,
			  sizeof(set)) < 0 ||
	    mount_setattr(AT_FDCWD, "/tmp/root", 0, &clear, sizeof(clear)) < 0)
		return setup_fail(s, "read-only mounts");
	return 0;
}

static int host_files(int root)
{
	static const struct {
		const char *path, *text;
	} files[] = { { "etc/passwd", hostview_passwd },
		      { "etc/group", hostview_group },
		      { "etc/nsswitch.conf", hostview_nsswitch } };
	static const struct {
		const char *path;
		mode_t mode;
	} dirs[] = { { "home", 0755 },
		     { "home/user", 0777 },
		     { "var", 0755 },
		     { "var/tmp", 01777 } };
	int r = 0;

	for (size_t i = 0; r == 0 && i < sizeof(files) / sizeof(files[0]); i++)
		r = setup_write(root, files[i].path, files[i].text, 0644);
	for (size_t i = 0; r == 0 && i < sizeof(dirs) / sizeof(dirs[0]); i++)
		r = setup_mkdir(root, dirs[i].path, dirs[i].mode);
	return r;
}

int setup_host_view(struct setup *s)
{
	if (s->plan->root.kind != ROOT_HOST)
		return 0;
	int r = host_files(s->root);

	return r == 0 ? show_host(s, s->root) : r;
}

int setup_made(struct setup *s)
{
	bool host = s->plan->root.kind == ROOT_HOST;
	auto_close int made = openat(s->scratch, host ? "root" : "made",
				     O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int r = made < 0 ? -errno : make_dirs(s, made);

	if (r < 0)
		return r;
	auto_close int etc =
		openat(made, "etc", O_PATH | O_DIRECTORY | O_CLOEXEC);

	r = etc < 0 ? -errno : write_network_files(s, etc);
	return r == 0 ? write_apt_settings(s, made) : r;
}
