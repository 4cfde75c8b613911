/* SPDX-License-Identifier: Apache-2.0 */
/* Paths of strangers, resolved beneath a directory. */
#include "base/path.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "tests/unit/tap.h"

static int root = -1;

static void make_link(const char *target, const char *name)
{
	if (symlinkat(target, root, name) < 0)
		abort();
}

static void test_lexical(void)
{
	static const struct {
		const char *base, *path, *want;
	} cases[] = {
		{ "/a", "b", "/a/b" },
		{ "/a", "../../b", "/b" },
		{ "/a", "/x//y/./z", "/x/y/z" },
		{ "/a", ".", "/a" },
		{ "/", "..", "/" },
		{ "/a/b", "../c/", "/a/c" },
		{ "/a", "...", "/a/..." },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		auto_free char *got =
			path_normalize(cases[i].base, cases[i].path);

		is_str(got, cases[i].want, "normalize %s in %s", cases[i].path,
		       cases[i].base);
	}
	ok(path_is_normal("/"), "/ is normal");
	ok(path_is_normal("/a/...b"), "dots in a name are");
	ok(!path_is_normal("/a/"), "a '/' at the end is not");
	ok(!path_is_normal("/a/../b"), "'..' is not");
	ok(!path_is_normal("a"), "a relative one is not");
	ok(path_is_below("/a/b", "/a"), "below");
	ok(path_is_below("/a", "/a"), "equal");
	ok(!path_is_below("/ab", "/a"), "a longer name is not below");
	ok(path_is_below("/x", "/"), "all is below /");
}

static void test_beneath(void)
{
	struct stat st;

	mkdirat(root, "d", 0700);
	make_link("/etc", "abs");
	make_link("../../../../../../etc", "up");
	make_link("/d", "in");
	make_link("loop", "loop");

	is_int(path_open_in(root, "abs/passwd", O_RDONLY, 0), -ENOENT,
	       "an absolute link stays inside");
	is_int(path_open_in(root, "up/passwd", O_RDONLY, 0), -ENOENT,
	       "a link upwards stays inside");
	is_int(path_open_in(root, "../../../etc/passwd", O_RDONLY, 0), -ENOENT,
	       "'..' stays inside");
	is_int(path_open_in(root, "/etc/passwd", O_RDONLY, 0), -ENOENT,
	       "an absolute name stays inside");
	is_int(path_open_in(root, "loop", O_RDONLY, 0), -ELOOP, "a loop ends");
	int fd = path_open_in(root, "in", O_PATH, 0);

	ok(fd >= 0, "a link that leads inside is followed");
	close(fd);
	is_int(path_open_nolink(root, "in/x", O_PATH, 0), -ELOOP,
	       "nolink follows none");

	fd = path_mkdirs_in(root, "/in/a/b", 0755);
	ok(fd >= 0, "directories are made through a link inside");
	close(fd);
	is_int(fstatat(root, "d/a/b", &st, 0), 0, "where the link leads");
	fd = path_mkdirs_in(root, "abs2/../x/./y", 0755);
	ok(fd >= 0, "odd names are made too");
	close(fd);
	make_link("/far/../gone/deep", "dangling");
	fd = path_mkdirs_in(root, "dangling/x", 0755);
	ok(fd >= 0, "through a link to nothing");
	close(fd);
	is_int(fstatat(root, "gone/deep/x", &st, 0), 0,
	       "directories are made where it leads");
	make_link("ring2", "ring1");
	make_link("ring1", "ring2");
	is_int(path_mkdirs_in(root, "ring1/x", 0755), -ELOOP,
	       "links in a ring end");
	close(openat(root, "file", O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
	is_int(path_mkdirs_in(root, "file/x", 0755), -ENOTDIR,
	       "a file in the way");
	is_int(path_mkdirs_in(root, "loop/x", 0755), -ELOOP,
	       "a loop in the way");

	const char *name = NULL;

	fd = path_open_parent_in(root, "in/new", &name);
	ok(fd >= 0, "the parent of a name");
	is_str(name, "new", "and the name");
	close(fd);
	is_int(path_open_parent_in(root, "in/..", &name), -EINVAL,
	       "'..' is no name");
	is_int(path_open_parent_in(root, "in/", &name), -EINVAL,
	       "nor is nothing");
}

int main(void)
{
	char dir[] = "/tmp/llmbox-path-XXXXXX", command[64];

	if (!mkdtemp(dir))
		return 1;
	root = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	test_lexical();
	test_beneath();
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	return system(command) == 0 ? done_testing() : 1;
}
