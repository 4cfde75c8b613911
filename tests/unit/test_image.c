/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The store: cold and warm opens, names, locks, several processes at once, what
 * a killed import leaves. The archives are unpacked by the confined process,
 * with the identity that the caller gets.
 */
#include "rootfs/image.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "base/json.h"
#include "base/mem.h"
#include "rootfs/store.h"
#include "rootfs/tree.h"
#include "sandbox/idmap.h"
#include "tests/unit/tap.h"
#include "tests/unit/tar_make.h"

static char place[] = "/tmp/llmbox-image-XXXXXX";
static int top = -1;
static struct idmap ids;
static struct id_layout layout;
static struct error error;

static void write_archive(const char *name, const char *content, size_t many)
{
	auto_buf tar = { 0 };
	auto_close int fd = openat(
		top, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	tar_make(&tar,
		 (struct tar_member){ '5', "locked", NULL, 0, 0, 0, NULL, 0 });
	tar_make(&tar, (struct tar_member){ '0', "locked/f", NULL, 0, 0, 0,
					    content, 0 });
	tar_make(&tar, (struct tar_member){ '0', "etc/mail", NULL, 04755, 0, 8,
					    content, 0 });
	tar_make(&tar,
		 (struct tar_member){ '3', "dev/x", NULL, 0, 0, 0, NULL, 0 });
	for (size_t i = 0; i < many; i++) {
		char path[32];

		snprintf(path, sizeof(path), "many/%zu/f", i);
		tar_make(&tar, (struct tar_member){ '0', path, NULL, 0600, 0, 0,
						    content, 0 });
	}
	tar_make_end(&tar);
	ok(fd >= 0 && fd_write_all(fd, tar.data, tar.len) == 0, "write %s",
	   name);
}

static char *path_of(const char *name)
{
	return mem_printf("%s/%s", place, name);
}

static int open_image(const char *name, struct image *image)
{
	auto_free char *path = path_of(name);

	memset(&error, 0, sizeof(error));
	return image_open(path, &layout, NULL, image, &error);
}

static unsigned count_in(const char *dir)
{
	auto_free char *path = mem_printf("%s/data/llmbox/%s", place, dir);
	DIR *d = opendir(path);
	unsigned count = 0;

	for (const struct dirent *e; d && (e = readdir(d));)
		count += e->d_name[0] != '.';
	if (d)
		closedir(d);
	return count;
}

static int stat_in(const struct image *image, const char *path, struct stat *st)
{
	auto_free char *whole = mem_printf("%s/%s", image->tree, path);

	return lstat(whole, st);
}

static void test_open(void)
{
	struct image cold = IMAGE_INIT, warm = IMAGE_INIT;
	struct stat st = { 0 };
	/* As the layout has group 8 on the disk. */
	gid_t mail = layout.layout == LAYOUT_ONE     ? getegid()
		     : layout.layout == LAYOUT_RANGE ? layout.starts.gid + 8
						     : layout.shift + 8;

	write_archive("a.tar", "x", 0);
	if (!is_int(open_image("a.tar", &cold), 0, "a first open imports"))
		printf("# %s: %s\n", error.message, strerror(error.code));
	is_int(stat_in(&cold, "etc/mail", &st), 0, "its tree is there");
	is_int(st.st_mode & 07777, 04755, "with modes");
	is_int(st.st_gid, mail, "and groups, as the layout can hold them");
	is_int(stat_in(&cold, "locked", &st), 0, "directories without rights");
	is_int(st.st_mode & 07777, 0, "have none");
	ok(stat_in(&cold, "dev/x", &st) < 0 && cold.note &&
		   strstr(cold.note, "1 device"),
	   "a device was left out, and is told");
	is_int(open_image("a.tar", &warm), 0, "a second open");
	is_str(warm.id, cold.id, "finds the same image");
	ok(!warm.note, "without importing it");
	is_int(count_in("images"), 1, "there is one image");
	is_int(count_in("tmp"), 0, "and nothing half-made");
	image_release(&cold);
	image_release(&warm);
}

/* Same size, same times as far as anybody can set them. */
static void test_changed(void)
{
	struct image one = IMAGE_INIT, two = IMAGE_INIT;
	auto_free char *path = path_of("c.tar");
	struct stat st;

	write_archive("c.tar", "1", 0);
	stat(path, &st);
	open_image("c.tar", &one);
	write_archive("c.tar", "2", 0);
	struct timespec times[2] = { st.st_atim, st.st_mtim };

	utimensat(AT_FDCWD, path, times, 0);
	is_int(open_image("c.tar", &two), 0, "a changed archive");
	ok(one.id && two.id && strcmp(one.id, two.id) != 0,
	   "is another image, in spite of its size and time");
	image_release(&one);
	image_release(&two);
	write_archive("c.tar", "3", 0);
	open_image("c.tar", &one);
	image_release(&one);
	is_int(count_in("images"), 2, "images of its former states are gone");
}

static void test_bad(void)
{
	struct image image = IMAGE_INIT;
	auto_free char *path = path_of("bad.tar");
	unsigned before = count_in("images");

	write_archive("bad.tar", "x", 20);
	ok(truncate(path, 9000) == 0 && open_image("bad.tar", &image) < 0,
	   "a cut archive is refused");
	ok(error.kind == ERROR_IMAGE && strstr(error.message, path) &&
		   strstr(error.message, "many/"),
	   "with its name and the entry's");
	is_int(count_in("images"), before, "and leaves no image");
	is_int(count_in("tmp"), 0, "nor a part of one");
	mkdirat(top, "empty", 0755);
	ok(open_image("empty", &image) < 0, "an empty directory is refused");
	ok(open_image("none.tar", &image) < 0, "a missing file, too");
	image_release(&image);
}

static void test_names(void)
{
	struct image image = IMAGE_INIT, again = IMAGE_INIT;
	auto_free char *path = path_of("n.tar");
	auto_json_writer *w = json_writer_new(false);
	static const char *const bad[] = { "",      "a/b", "..",    "host",
					   "x.tar", "-x",  "box:x", "a b" };

	write_archive("n.tar", "n", 0);
	auto_close int fd = open(path, O_RDONLY | O_CLOEXEC);

	is_int(image_import(fd, path, "first:1", &layout, NULL, &image, &error),
	       0, "import with a name");
	is_int(image_open("first:1", &layout, NULL, &again, &error), 0,
	       "open by it");
	is_str(again.id, image.id, "the same image");
	image_release(&again);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		ok(image_import(fd, path, bad[i], &layout, NULL, &again,
				&error) < 0,
		   "'%s' is no name", bad[i]);
	ok(image_open("frist:1", &layout, NULL, &again, &error) < 0 &&
		   strstr(error.hint, "first:1"),
	   "a wrong name is answered by the nearest");
	is_int(image_remove("first:1", &error), -EBUSY,
	       "an image in use is not removed");
	image_release(&image);
	is_int(image_list(w, &error), 0, "list");
	auto_free char *text = json_writer_take(w, NULL);

	ok(strstr(text, "\"first:1\""), "tells the name");
	is_int(image_remove("first:1", &error), 0, "remove");
	ok(image_open("first:1", &layout, NULL, &again, &error) < 0,
	   "and it is gone");
}

static pid_t start_open(const char *name)
{
	struct image image = IMAGE_INIT;
	pid_t pid = fork();

	if (pid == 0) {
		int r = open_image(name, &image);

		_exit(r < 0);
	}
	return pid;
}

static void test_together(void)
{
	pid_t pids[4];
	int bad = 0, status;
	unsigned before = count_in("images");

	write_archive("t.tar", "t", 300);
	for (size_t i = 0; i < ARRAY_SIZE(pids); i++)
		pids[i] = start_open("t.tar");
	for (size_t i = 0; i < ARRAY_SIZE(pids); i++)
		bad += waitpid(pids[i], &status, 0) < 0 || status != 0;
	is_int(bad, 0, "four processes open one new archive at once");
	is_int(count_in("images"), before + 1, "and make one image");
	is_int(count_in("tmp"), 0, "and nothing else");
}

/* Killed as soon as its temporary directory shows. */
static void test_killed(void)
{
	struct image image = IMAGE_INIT;
	unsigned before = count_in("images");
	int status;

	write_archive("k.tar", "k", 3000);
	pid_t pid = start_open("k.tar");

	while (count_in("tmp") == 0 && waitpid(pid, &status, WNOHANG) == 0)
		;
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	is_int(count_in("images"), before, "a killed import leaves no image");
	is_int(open_image("k.tar", &image), 0, "the next one");
	is_int(count_in("tmp"), 0, "sweeps what it left");
	image_release(&image);
}

static void test_store(void)
{
	uint64_t removed = 0, bytes = 0;
	struct image image = IMAGE_INIT;
	auto_free char *store = mem_printf("%s/data/llmbox", place);

	is_int(image_prune(&removed, &bytes, &error), 0, "prune");
	ok(removed >= 4, "removes images without a name");
	is_int(count_in("images"), 0, "all of them");
	is_int(count_in("index"), 0, "and their identities");
	chmod(store, 0755);
	ok(open_image("a.tar", &image) < 0 && error.kind == ERROR_STATE,
	   "a store that others may enter is refused");
	chmod(store, 0700);
}

int main(void)
{
	if (!mkdtemp(place))
		return 99;
	top = open(place, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	auto_free char *data = path_of("data"), *state = path_of("state");

	setenv("XDG_DATA_HOME", data, 1);
	setenv("XDG_STATE_HOME", state, 1);
	if (idmap_choose(IDENTITY_AUTO, 0, 0, &ids, &error) < 0) {
		skip(error.message);
		return done_testing();
	}
	layout = image_layout(&ids);
	test_open();
	test_changed();
	test_bad();
	test_names();
	test_together();
	test_killed();
	test_store();
	fd_close(&top);
	is_int(tree_remove(AT_FDCWD, place), 0, "all of it can be removed");
	return done_testing();
}
