/* SPDX-License-Identifier: Apache-2.0 */
/* Accounts are read from files that an attacker wrote. */
#include "sandbox/accounts.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/fd.h"
#include "tests/unit/tap.h"

static int etc = -1;
static char dir[] = "/tmp/llmbox-accounts-XXXXXX";

static void put(const char *name, const char *text)
{
	unlinkat(etc, name, 0);
	int fd = openat(etc, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
			0600);

	if (fd < 0 || fd_write_all(fd, text, strlen(text)) < 0)
		abort();
	close(fd);
}

static void test_well_formed(void)
{
	struct account a;

	put("passwd", "root:x:0:0:root:/root:/bin/bash\n"
		      "ann:x:1000:1001:,,,:/home/ann:/bin/zsh\n");
	put("group", "root:x:0:\nwheel:x:10:ann,bob\nann:x:1001:ann\n"
		     "video:x:44:bob,ann\n");
	is_int(accounts_find(etc, "ann", &a), 0, "a name is found");
	is_int(a.uid, 1000, "its uid");
	is_int(a.gid, 1001, "its gid");
	is_str(a.home, "/home/ann", "its home");
	is_str(a.shell, "/bin/zsh", "its shell");
	is_int(a.group_count, 2, "its groups, without its own");
	is_int(a.groups[0], 10, "the first");
	is_int(a.groups[1], 44, "the second");
	is_int(accounts_find(etc, "1000", &a), 0, "a uid is found");
	is_str(a.name, "ann", "with its name");
	is_int(accounts_find(etc, "ann:wheel", &a), 0, "a group by name");
	is_int(a.gid, 10, "is the gid");
	is_int(accounts_find(etc, "7:8", &a), 0, "numbers need no entry");
	is_int(a.uid, 7, "uid");
	is_int(a.gid, 8, "gid");
	is_str(a.name, "", "no name");
	is_str(a.home, "/", "home is /");
	is_int(accounts_find(etc, "eve", &a), -ENOENT, "an unknown name");
	is_int(accounts_find(etc, "ann:nogroup", &a), -ENOENT,
	       "an unknown group");
}

static void test_hostile(void)
{
	struct account a;
	auto_buf long_line = { 0 };

	put("passwd", "short:x:1\n"
		      "neg:x:-1:0::/:/bin/sh\n"
		      "big:x:4294967295:0::/:/bin/sh\n"
		      "hex:x:0x10:0::/:/bin/sh\n"
		      "rel:x:5:5::home/../../x:sh\n"
		      "extra:x:6:6::/e:/bin/sh:more\n");
	is_int(accounts_find(etc, "short", &a), -ENOENT, "too few fields");
	is_int(accounts_find(etc, "neg", &a), -ENOENT, "a negative uid");
	is_int(accounts_find(etc, "big", &a), -ENOENT, "the uid -1");
	is_int(accounts_find(etc, "hex", &a), -ENOENT, "a hexadecimal uid");
	is_int(accounts_find(etc, "rel", &a), 0, "relative paths");
	is_str(a.home, "/", "are not taken as home");
	is_str(a.shell, "/bin/sh", "nor as shell");

	for (int i = 0; i < 5000; i++)
		buf_adds(&long_line, "x");
	buf_adds(&long_line, ":x:0:0::/:/bin/sh\nlast:x:9:9::/l:/bin/sh\n");
	put("passwd", long_line.data);
	is_int(accounts_find(etc, "last", &a), 0,
	       "a line that is too long is passed over");
	is_int(a.uid, 9, "the next one is whole");

	put("passwd", "nonl:x:3:3::/:/bin/sh");
	is_int(accounts_find(etc, "nonl", &a), 0,
	       "a last line may lack its end");
	is_int(a.uid, 3, "and is whole");
	unlinkat(etc, "passwd", 0);
	mkfifoat(etc, "passwd", 0600);
	is_int(accounts_find(etc, "root", &a), 0,
	       "a FIFO does not hang, and root needs no entry");
	is_int(a.uid, 0, "root is 0");
	is_str(a.home, "/root", "at /root");
	unlinkat(etc, "passwd", 0);
	is_int(accounts_find(-1, "0", &a), 0, "no /etc at all");
}

static void test_before_the_box(void)
{
	struct error err = { 0 };
	uid_t uid = 1;
	gid_t gid = 1;
	char path[64];

	is_int(accounts_ids("root", "/nonexistent", &uid, &gid, &err), 0,
	       "root needs no tree");
	is_int(uid, 0, "and is 0");
	is_int(accounts_ids("12:13", NULL, &uid, &gid, &err), 0, "numbers");
	is_int(gid, 13, "both of them");
	is_int(accounts_ids("nobody", NULL, &uid, &gid, &err), 0,
	       "the host view's accounts");
	is_int(uid, 65534, "are made up");
	is_int(accounts_ids("user:tty", NULL, &uid, &gid, &err), 0,
	       "with a group of theirs");
	is_int(gid, 5, "by its gid");

	snprintf(path, sizeof(path), "%s/etc", dir);
	mkdir(path, 0700);
	int sub = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int outer = etc;

	etc = sub;
	put("passwd", "ann:x:1000:1001::/:/bin/sh\n");
	put("group", "g:x:77:\n");
	is_int(accounts_ids("ann:g", dir, &uid, &gid, &err), 0,
	       "a tree's account");
	is_int(uid, 1000, "its uid");
	is_int(gid, 77, "the group's gid");
	is_int(accounts_ids("1000", dir, &uid, &gid, &err), 0,
	       "a number that has an entry");
	is_int(gid, 1001, "has its group");
	is_int(accounts_ids("1234", dir, &uid, &gid, &err), 0,
	       "a number without one");
	is_int(gid, 0, "has group 0");
	unlinkat(etc, "group", 0);
	ok(symlinkat("/etc/group", etc, "group") == 0 &&
		   accounts_ids("ann:daemon", dir, &uid, &gid, &err) < 0,
	   "a link to the host's file stays in the tree");
	ok(accounts_ids("eve", dir, &uid, &gid, &err) < 0, "an unknown one");
	is_int(err.kind, ERROR_POLICY, "is the policy's error");
	unlinkat(etc, "passwd", 0);
	unlinkat(etc, "group", 0);
	etc = outer;
	close(sub);
	rmdir(path);
}

int main(void)
{
	if (!mkdtemp(dir))
		return 1;
	etc = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	test_well_formed();
	test_hostile();
	test_before_the_box();
	unlinkat(etc, "passwd", 0);
	unlinkat(etc, "group", 0);
	rmdir(dir);
	return done_testing();
}
