/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hostile and odd archives beneath a directory, with the caller's own rights:
 * what the confined process would hide must hold without it, too.
 */
#include "rootfs/unpack.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/error.h"
#include "base/mem.h"
#include "rootfs/digest.h"
#include "rootfs/tree.h"
#include "tests/unit/tap.h"
#include "tests/unit/tar_make.h"

static char place[] = "/tmp/llmbox-unpack-XXXXXX";
static int outside = -1, root = -1; /* root is "root" in outside */
static struct error error;
static struct writer_counts counts;
static struct unpack_bounds bounds;

static void begin(struct buf *tar)
{
	buf_release(tar);
	fd_close(&root);
	tree_remove(outside, "root");
	mkdirat(outside, "root", 0755);
	root = openat(outside, "root", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	memset(&counts, 0, sizeof(counts));
	memset(&error, 0, sizeof(error));
	bounds = unpack_bounds_default;
}

static int run_raw(const struct buf *archive)
{
	auto_close int fd = tar_make_fd(archive);

	return unpack(fd, root, geteuid() == 0, &bounds, &counts, &error);
}

static int run(struct buf *tar)
{
	tar_make_end(tar);
	return run_raw(tar);
}

static bool is_file(const char *path, const char *want)
{
	auto_buf data = { 0 };

	return file_read(root, path, 4096, &data) == 0 &&
	       strcmp(data.data ? data.data : "", want) == 0;
}

static bool is_link(const char *path, const char *want)
{
	char to[256] = "";

	return readlinkat(root, path, to, sizeof(to) - 1) > 0 &&
	       strcmp(to, want) == 0;
}

static unsigned mode_of(const char *path)
{
	struct stat st = { 0 };

	fstatat(root, path, &st, AT_SYMLINK_NOFOLLOW);
	return st.st_mode & 07777;
}

static bool exists(int dirfd, const char *path)
{
	struct stat st;

	return fstatat(dirfd, path, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

#define DIRECTORY(path, bits) \
	tar_make(&tar,        \
		 (struct tar_member){ '5', path, NULL, bits, 0, 0, NULL, 0 })
#define FILE_OF(path, text) \
	tar_make(&tar,      \
		 (struct tar_member){ '0', path, NULL, 0644, 0, 0, text, 0 })
#define SYMLINK(path, to) \
	tar_make(&tar,    \
		 (struct tar_member){ '2', path, to, 0777, 0, 0, NULL, 0 })
#define HARDLINK(path, to) \
	tar_make(&tar,     \
		 (struct tar_member){ '1', path, to, 0644, 0, 0, NULL, 0 })

static void test_names(void)
{
	auto_buf tar = { 0 };

	begin(&tar);
	FILE_OF("../canary", "x");
	ok(run(&tar) < 0, "a name with '..' is refused");
	ok(strstr(error.message, "../canary"), "and told");
	begin(&tar);
	FILE_OF("/etc//./abs", "x");
	is_int(run(&tar), 0, "an absolute name is taken");
	ok(is_file("etc/abs", "x"), "and lies in the root");
	begin(&tar);
	DIRECTORY("tmp", 0755);
	SYMLINK("evil", "../../../../../../../../tmp");
	FILE_OF("evil/canary", "x");
	is_int(run(&tar), 0, "a link upwards as a parent");
	ok(is_file("tmp/canary", "x"), "leads inside the root");
	begin(&tar);
	SYMLINK("evil", "/nowhere");
	FILE_OF("evil/canary", "x");
	ok(run(&tar) < 0 || is_file("nowhere/canary", "x"),
	   "a link to nowhere as a parent is refused or leads inside");
	begin(&tar);
	SYMLINK("f", "../canary");
	FILE_OF("f", "x");
	is_int(run(&tar), 0, "a file over a link");
	ok(is_file("f", "x"), "takes its place");
	begin(&tar);
	SYMLINK("d", "../canary");
	DIRECTORY("d", 0777);
	FILE_OF("d/in", "x");
	is_int(run(&tar), 0, "a directory over a link out of the root");
	ok(is_file("d/in", "x") && !is_link("d", "../canary"),
	   "takes its place");
	begin(&tar);
	SYMLINK("l", "..");
	HARDLINK("h", "l/canary-source");
	ok(run(&tar) < 0, "a hard link through a link finds nothing outside");
	ok(!exists(outside, "canary"), "nothing was written outside");
}

static void test_hardlinks(void)
{
	auto_buf tar = { 0 };
	struct stat a, b;

	begin(&tar);
	HARDLINK("early", "bin/late");
	DIRECTORY("bin", 0755);
	FILE_OF("bin/late", "late");
	SYMLINK("bin/sym", "late");
	HARDLINK("./link-of-sym", "/bin/sym");
	HARDLINK("self", "self2");
	HARDLINK("self2", "bin/late");
	is_int(run(&tar), 0, "links forward, absolute, to links");
	ok(is_file("early", "late"), "a forward link");
	ok(is_file("self", "late"), "a forward link to a link");
	ok(is_link("link-of-sym", "late"), "a symbolic link itself is linked");
	fstatat(root, "bin/late", &a, 0);
	fstatat(root, "early", &b, 0);
	is_int((intmax_t)a.st_ino, (intmax_t)b.st_ino, "they share the inode");
	begin(&tar);
	HARDLINK("x", "missing");
	ok(run(&tar) < 0 && strstr(error.message, "'x'") &&
		   strstr(error.message, "'missing'"),
	   "a link whose target never comes is refused with both names");
	begin(&tar);
	FILE_OF("a", "one");
	HARDLINK("b", "a");
	FILE_OF("a", "two");
	is_int(run(&tar), 0, "a file over a linked one");
	ok(is_file("a", "two") && is_file("b", "one"),
	   "is made anew, the other name keeps its content");
	begin(&tar);
	FILE_OF("a", "one");
	HARDLINK("a", "a");
	is_int(run(&tar), 0, "a link to itself");
	ok(is_file("a", "one"), "changes nothing");
}

static void test_types(void)
{
	auto_buf tar = { 0 };

	begin(&tar);
	DIRECTORY("usr/bin", 0750);
	SYMLINK("bin", "usr/bin");
	DIRECTORY("bin", 0700);
	FILE_OF("bin/tool", "x");
	is_int(run(&tar), 0, "merged /usr, then a directory entry");
	ok(is_link("bin", "usr/bin") && is_file("usr/bin/tool", "x"),
	   "keeps the link");
	is_int(mode_of("usr/bin"), 0750, "and the mode behind it");
	begin(&tar);
	FILE_OF("x", "first");
	DIRECTORY("x", 0755);
	FILE_OF("x/child", "second");
	SYMLINK("x", "bin/ok");
	is_int(run(&tar), 0, "file, directory, link of one name");
	ok(is_link("x", "bin/ok"), "the last wins");
	is_int((intmax_t)counts.replaced, 1, "the filled directory is counted");
	begin(&tar);
	DIRECTORY("d", 0755);
	FILE_OF("d/f", "1");
	SYMLINK("d", "e");
	DIRECTORY("e", 0755);
	FILE_OF("d/f", "2");
	is_int(run(&tar), 0, "a directory that becomes a link");
	ok(is_file("e/f", "2"), "is looked up anew");
	begin(&tar);
	FILE_OF("dir/.wh.name", "");
	FILE_OF("dir/name", "x");
	is_int(run(&tar), 0, "whiteout names in a plain archive");
	ok(is_file("dir/.wh.name", "") && is_file("dir/name", "x"),
	   "are names like others");
}

static void test_modes(void)
{
	auto_buf tar = { 0 };
	struct stat st;

	begin(&tar);
	DIRECTORY("locked", 0);
	DIRECTORY("locked/in", 0111);
	FILE_OF("locked/in/secret", "x");
	DIRECTORY("shared", 02775);
	FILE_OF("shared/f", "x");
	DIRECTORY("./", 0751);
	tar_make(&tar,
		 (struct tar_member){ '0', "suid", NULL, 04755, 0, 0, "x", 0 });
	tar_make(&tar,
		 (struct tar_member){ '0', "shadow", NULL, 0, 0, 0, "1", 0 });
	tar_make(&tar,
		 (struct tar_member){ '0', "shadow", NULL, 0, 0, 0, "2", 0 });
	is_int(run(&tar), 0, "directories without rights are filled");
	is_int(mode_of("locked"), 0, "mode 0");
	is_int(mode_of("shared"), 02775, "set-group-id directory");
	is_int(mode_of("suid"), 04755, "set-user-id file");
	is_int(mode_of("shadow"), 0, "file without rights, twice");
	is_int(mode_of("."), 0751, "the root itself");
	fstat(root, &st);
	is_int(st.st_mtime, TAR_MAKE_TIME, "its time");
	is_int(tree_remove(outside, "root"), 0, "they can be removed again");
}

static void test_left_out(void)
{
	auto_buf tar = { 0 };
	char value[8] = "";
	struct stat st = { 0 };

	begin(&tar);
	tar_make(&tar, (struct tar_member){ '3', "whiteout", NULL, 0, 0, 0,
					    NULL, 0 });
	tar_make(&tar,
		 (struct tar_member){ '4', "disk", NULL, 0660, 0, 0, NULL, 0 });
	HARDLINK("disk2", "disk");
	tar_make(&tar,
		 (struct tar_member){ '6', "fifo", NULL, 0600, 0, 0, NULL, 0 });
	tar_make_pax(&tar, "SCHILY.xattr.user.overlay.opaque", "y");
	FILE_OF("opaque", "x");
	tar_make_pax(&tar, "SCHILY.xattr.trusted.x", "y");
	FILE_OF("trusted", "x");
	tar_make_pax(&tar, "SCHILY.xattr.user.note", "y");
	FILE_OF("note", "x");
	tar_make(&tar, (struct tar_member){ '0', "high", NULL, 0644, 200000,
					    70000, "x", 0 });
	is_int(run(&tar), 0, "nodes, attributes, owners");
	ok(!exists(root, "whiteout") && !exists(root, "disk") &&
		   !exists(root, "disk2"),
	   "no device is made, a whiteout neither");
	is_int((intmax_t)counts.nodes, 3, "and they are counted");
	fstatat(root, "fifo", &st, AT_SYMLINK_NOFOLLOW);
	ok(S_ISFIFO(st.st_mode), "a fifo is one");
	int dir = openat(root, "opaque", O_RDONLY | O_CLOEXEC);

	ok(fgetxattr(dir, "user.overlay.opaque", value, sizeof(value)) < 0,
	   "overlayfs's attributes are dropped");
	fd_close(&dir);
	ok(counts.xattrs >= 2, "and counted");
	is_int((intmax_t)counts.owners, 1, "an owner out of range is counted");
	fstatat(root, "high", &st, AT_SYMLINK_NOFOLLOW);
	is_int(st.st_uid, geteuid(), "and becomes root's, or the caller's");
}

static void test_damage(void)
{
	auto_buf tar = { 0 }, second = { 0 }, packed = { 0 };

	begin(&tar);
	ok(run_raw(&tar) < 0 && strstr(error.message, "empty"),
	   "an empty file");
	begin(&tar);
	ok(run(&tar) < 0 && strstr(error.message, "no entries"), "no entries");
	begin(&tar);
	buf_adds(&tar, "hello, I am a text file\n");
	ok(run_raw(&tar) < 0 && strstr(error.message, "not a tar"),
	   "not an archive");
	begin(&tar);
	FILE_OF("etc/a", "x");
	is_int(run_raw(&tar), 0, "no end blocks");
	begin(&tar);
	FILE_OF("etc/a", "some data");
	tar.len -= 512;
	ok(run_raw(&tar) < 0 && strstr(error.message, "'etc/a'"),
	   "an archive that ends in a file's data");
	begin(&tar);
	FILE_OF("etc/a", "x");
	tar_make_end(&tar);
	FILE_OF("etc/b", "y");
	is_int(run(&tar), 0, "two archives in one file");
	ok(is_file("etc/a", "x") && is_file("etc/b", "y"), "are both read");
	begin(&tar);
	FILE_OF("etc/a", "x");
	tar_make_end(&tar);
	buf_adds(&tar, "junk");
	ok(run_raw(&tar) < 0, "junk behind a plain archive is refused");
	begin(&tar);
	FILE_OF("etc/a", "x");
	tar_make_end(&tar);
	tar_make_gzip(&packed, &tar);
	is_int(run_raw(&packed), 0, "gzip");
	buf_add(&packed, "\0\0\0\0", 4);
	begin(&second);
	is_int(run_raw(&packed), 0, "zeros behind it are padding");
	buf_adds(&packed, "junk");
	begin(&second);
	ok(run_raw(&packed) < 0 && strstr(error.message, "follows the end"),
	   "junk behind it is refused");
	begin(&second);
	packed.len = 300;
	ok(run_raw(&packed) < 0, "a cut one, too");
	buf_release(&packed);
	tar_make_gzip(&second, &tar);
	tar_make_gzip(&packed, &second);
	begin(&second);
	ok(run_raw(&packed) < 0 && strstr(error.message, "more than once"),
	   "gzip in gzip is not opened");
}

static void test_bounds(void)
{
	auto_buf tar = { 0 };

	begin(&tar);
	FILE_OF("etc/a", "0123456789");
	FILE_OF("etc/b", "0123456789");
	bounds.bytes = 19;
	ok(run(&tar) < 0 && strstr(error.message, "19 bytes"), "bytes");
	begin(&tar);
	DIRECTORY("etc", 0755);
	DIRECTORY("usr", 0755);
	bounds.entries = 1;
	ok(run(&tar) < 0 && strstr(error.message, "1 entries"), "entries");
}

static void test_ratio(void)
{
	auto_buf tar = { 0 };
	char *text = mem_alloc((2 << 20) + 1);

	memset(text, 'x', 2 << 20);
	begin(&tar);
	FILE_OF("etc/a", text);
	bounds.ratio_from = 1 << 20;
	bounds.ratio = 1;
	is_int(run(&tar), 0, "a plain archive is no bomb");
	free(text);
}

static void test_depth(void)
{
	auto_buf tar = { 0 };
	char deep[99] = "";

	/* Each level of links makes the path longer than PATH_MAX. */
	begin(&tar);
	for (size_t i = 0; i < 80; i += 2)
		memcpy(deep + i, "d/", 3);
	DIRECTORY(deep, 0755);
	for (int i = 1; i < 40; i++) {
		char name[16], to[99], below[99];

		/* l1 is deep, l2 is as deep below l1, and so on. */
		snprintf(name, sizeof(name), "l%d", i);
		if (i > 1)
			snprintf(to, sizeof(to), "l%d/%.80s", i - 1, deep);
		else
			snprintf(to, sizeof(to), "%s", deep);
		SYMLINK(name, to);
		snprintf(below, sizeof(below), "%s/%.80s", name, deep);
		DIRECTORY(below, 0755);
	}
	ok(run(&tar) == 0 || error.kind == ERROR_IMAGE,
	   "a tree of great depth");
	is_int(tree_remove(outside, "root"), 0, "are removed");
	ok(!exists(outside, "root"), "to the last of them");
}

static void member(struct buf *tar, char type, const char *name,
		   const char *link, unsigned mode, const char *data)
{
	tar_make(tar, (struct tar_member){ .type = type,
					   .name = name,
					   .link = link,
					   .mode = mode,
					   .data = data });
}

static char *digest_of(const struct buf *data)
{
	char *text = mem_alloc(DIGEST_TEXT);
	struct digest d;

	digest_init(&d);
	digest_add(&d, data->data, data->len);
	digest_finish(&d, text);
	return text;
}

/* A file whose name is its digest, which is returned, owned. */
static char *blob(struct buf *tar, const struct buf *data)
{
	char *digest = digest_of(data);
	auto_free char *name = mem_printf("blobs/sha256/%s", digest);

	tar_make(tar, (struct tar_member){ .type = '0',
					   .name = name,
					   .mode = 0644,
					   .data = data->data,
					   .len = data->len });
	return digest;
}

static void make_layers(struct buf *low, struct buf *high)
{
	member(low, '5', "usr/bin", NULL, 0755, NULL);
	member(low, '2', "bin", "usr/bin", 0777, NULL);
	member(low, '0', "etc/gone", NULL, 0644, "1");
	member(low, '0', "etc/kept", NULL, 0644, "1");
	member(low, '0', "etc/both", NULL, 0644, "1");
	member(low, '0', "opaque/old", NULL, 0644, "1");
	member(low, '5', "./", NULL, 0751, NULL);
	tar_make_end(low);
	member(high, '0', "etc/both", NULL, 0644, "2");
	member(high, '0', "etc/.wh.both", NULL, 0, NULL);
	member(high, '0', "etc/.wh.gone", NULL, 0, NULL);
	member(high, '0', "opaque/new", NULL, 0644, "2");
	member(high, '0', "opaque/.wh..wh..opq", NULL, 0, NULL);
	member(high, '5', ".wh..wh.plnk/", NULL, 0755, NULL);
	member(high, '0', "bin/tool", NULL, 0755, "2");
	member(high, '1', "etc/link", "etc/kept", 0644, NULL);
	tar_make_end(high);
}

static void check_layers(const char *kind)
{
	ok(!exists(root, "etc/gone"), "%s: a whiteout hides what is below",
	   kind);
	ok(is_file("etc/both", "2"), "%s: not what is in its layer", kind);
	ok(!exists(root, "opaque/old") && is_file("opaque/new", "2"),
	   "%s: an opaque directory", kind);
	ok(is_file("usr/bin/tool", "2") && is_file("etc/link", "1"),
	   "%s: links into layers below", kind);
	ok(!exists(root, "blobs") && !exists(root, "manifest.json") &&
		   !exists(root, ".wh..wh.plnk") &&
		   !exists(root, ".llmbox-root"),
	   "%s: nothing else is left", kind);
	is_int(mode_of("."), 0751, "%s: the root's own mode", kind);
}

static void test_docker(void)
{
	auto_buf tar = { 0 }, low = { 0 }, high = { 0 }, config = { 0 };

	make_layers(&low, &high);
	auto_free char *a = digest_of(&low), *b = digest_of(&high);

	buf_addf(&config,
		 "{\"rootfs\": {\"diff_ids\": [\"sha256:%s\", "
		 "\"sha256:%s\"]}}",
		 a, b);
	for (int damaged = 0; damaged < 2; damaged++) {
		begin(&tar);
		/* In the file's time, which nothing else looks at. */
		high.data[137] = damaged ? '2' : high.data[137];
		tar_make(&tar, (struct tar_member){ .type = '0',
						    .name = "1/layer.tar",
						    .mode = 0644,
						    .data = low.data,
						    .len = low.len });
		tar_make(&tar, (struct tar_member){ .type = '0',
						    .name = "2/layer.tar",
						    .mode = 0644,
						    .data = high.data,
						    .len = high.len });
		FILE_OF("config.json", config.data);
		FILE_OF("manifest.json",
			"[{\"Config\": \"config.json\", \"Layers\": "
			"[\"1/layer.tar\", \"2/layer.tar\"]}]");
		int r = run(&tar);

		if (damaged)
			ok(r < 0 && strstr(error.message, "2/layer.tar"),
			   "a damaged layer is refused with its name");
		else if (is_int(r, 0, "docker save: %s", error.message))
			check_layers("docker save");
	}
	begin(&tar);
	FILE_OF("config.json", config.data);
	FILE_OF("manifest.json", "[{\"Config\": \"config.json\", \"Layers\": "
				 "[\"../canary\", \"/etc/passwd\"]}]");
	ok(run(&tar) < 0, "layers outside of the archive are not found");
}

static void test_oci(void)
{
	auto_buf tar = { 0 }, low = { 0 }, high = { 0 }, text = { 0 };

	make_layers(&low, &high);
	begin(&tar);
	auto_free char *a = blob(&tar, &low), *b = blob(&tar, &high);

	buf_addf(&text,
		 "{\"layers\": [{\"digest\": \"sha256:%s\"}, "
		 "{\"digest\": \"sha256:%s\"}]}",
		 a, b);
	auto_free char *manifest = blob(&tar, &text);

	buf_release(&text);
	buf_addf(&text,
		 "{\"manifests\": [{\"digest\": \"sha256:%s\"}, "
		 "{\"digest\": \"sha256:%s\", \"platform\": {\"os\": "
		 "\"unknown\", \"architecture\": \"unknown\"}}]}",
		 manifest, a);
	FILE_OF("index.json", text.data);
	FILE_OF("oci-layout", "{\"imageLayoutVersion\": \"1.0.0\"}");
	if (is_int(run(&tar), 0, "OCI layout: %s", error.message))
		check_layers("OCI layout");
	begin(&tar);
	FILE_OF("index.json", text.data);
	FILE_OF("oci-layout", "{}");
	ok(run(&tar) < 0 && strstr(error.message, manifest),
	   "a missing blob is told");
}

static void test_kinds(void)
{
	auto_buf tar = { 0 };

	begin(&tar);
	FILE_OF("manifest.json", "[]");
	FILE_OF("repositories", "{}");
	ok(run(&tar) < 0 && strstr(error.message, "no images"),
	   "docker save without an image");
	begin(&tar);
	FILE_OF("myroot/bin/ok", "x");
	ok(run(&tar) < 0 && strstr(error.message, "'myroot/'"),
	   "and a root one directory deeper");
	begin(&tar);
	FILE_OF("ok", "x");
	is_int(run(&tar), 0, "one file alone is a root");
}

int main(void)
{
	umask(0);
	if (!mkdtemp(place))
		return 99;
	outside = open(place, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	test_names();
	test_hardlinks();
	test_types();
	test_modes();
	test_left_out();
	test_damage();
	test_bounds();
	test_ratio();
	test_depth();
	test_docker();
	test_oci();
	test_kinds();
	fd_close(&root);
	tree_remove(outside, "root");
	is_int(rmdir(place), 0, "nothing else was left");
	return done_testing();
}
