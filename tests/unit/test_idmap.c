/* SPDX-License-Identifier: Apache-2.0 */
/* Identities, decided without any rights: ranges from files that the test
 * writes, maps, the keys of trees. */
#include "sandbox/idmap.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/fd.h"
#include "base/mem.h"
#include "rootfs/store.h"
#include "tests/unit/tap.h"

static char file[] = "/tmp/llmbox-subid-XXXXXX";

/* The start that is found in such a file; 0: none. */
static uint32_t find(const char *text, const char *name, uint32_t count)
{
	auto_close int fd = open(file, O_WRONLY | O_TRUNC | O_CLOEXEC);
	uint32_t start = 0;

	if (fd < 0 || fd_write_all(fd, text, strlen(text)) < 0)
		return 1;
	return idmap_range_find(file, name, 1000, count, 1000, &start) ? start
								       : 0;
}

static void test_find(void)
{
	static const struct {
		const char *text;
		uint32_t want;
		const char *what;
	} rows[] = {
		{ "bob:1:65536\nalice:100000:65536\n", 100000, "by name" },
		{ "alice:100000:65536\n", 100000, "just long enough" },
		{ "alice:100000:65535\n", 0, "too short" },
		{ "1000:200000:65536\n", 200000, "by uid" },
		{ "alice:5000:10\nalice:300000:70000\n", 300000,
		  "the first that is long enough" },
		{ "alice:300000:65536\nalice:400000:65536\n", 300000,
		  "the first of two" },
		{ "alicent:100000:65536\nal:100000:65536\n", 0,
		  "not of a name that begins alike" },
		{ "10001:100000:65536\n", 0, "nor of such a number" },
		{ "alice:0:65536\n", 0, "never id 0" },
		{ "alice:1:70000\n", 0, "nor the caller's own" },
		{ "alice:1001:65536\n", 1001, "right behind it" },
		{ "alice:4294901760:65536\n", 0, "nor the last id" },
		{ "alice:4294901759:65536\n", 4294901759U, "up to it" },
		{ "alice:4294967296:65536\nalice:100000:4294967296\n", 0,
		  "no number that wraps" },
		{ "alice:-1:65536\nalice:+5:65536\nalice: 5:65536\n", 0,
		  "no sign and no space" },
		{ "alice:100000\nalice\n\n:1:2\nalice:1x:65536\n#\n", 0,
		  "no line that is damaged" },
		{ "alice:100000:65536", 100000, "a last line without its end" },
		{ "", 0, "an empty file" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		is_int(find(rows[i].text, "alice", IDMAP_SUBORDINATE),
		       rows[i].want, "%s", rows[i].what);
	is_int(find("alice:100000:65536\n1000:200000:65536\n", NULL,
		    IDMAP_SUBORDINATE),
	       200000, "an account without a name: by uid only");
	uint32_t start;

	ok(!idmap_range_find("/nonexistent", "alice", 1000, 1, 1000, &start),
	   "no file");
}

/* The maps as the kernel gets them; takes the texts. */
static void is_map(uid_t uid, gid_t gid, char *uids, char *gids)
{
	static const struct idmap_starts starts = { 100000, 300000 };
	auto_buf got_uids = { 0 }, got_gids = { 0 };
	struct idmap map;
	int64_t all = 0;

	idmap_range_fill(&starts, uid, gid, &map);
	idmap_format(map.uid, map.uid_count, &got_uids);
	is_str(got_uids.data, uids, "the map of uids of %u", uid);
	idmap_format(map.gid, map.gid_count, &got_gids);
	is_str(got_gids.data, gids, "the map of gids of %u", gid);
	for (unsigned i = 0; i < map.uid_count; i++)
		all += map.uid[i].count;
	is_int(all, IDMAP_RANGE_LEN, "all ids are there");
	free(uids);
	free(gids);
}

static void test_maps(void)
{
	uid_t u = getuid();
	gid_t g = getgid();

	is_map(0, 0, mem_printf("0 %u 1\n1 100001 65535\n", u),
	       mem_printf("0 %u 1\n1 300001 65535\n", g));
	is_map(1000, 100,
	       mem_printf("0 100000 1000\n1000 %u 1\n1001 101001 64535\n", u),
	       mem_printf("0 300000 100\n100 %u 1\n101 300101 65435\n", g));
	is_map(65535, 1, mem_printf("0 100000 65535\n65535 %u 1\n", u),
	       mem_printf("0 300000 1\n1 %u 1\n2 300002 65534\n", g));
}

static void is_key(struct id_layout ids, const char *want)
{
	char key[STORE_KEY_MAX];
	struct id_layout back = { 0 };

	store_key("ab", &ids, key);
	is_str(key, want, "key %s", want);
	ok(store_key_layout(key, &back) &&
		   memcmp(&back, &ids, sizeof(ids)) == 0,
	   "and back");
}

static void test_keys(void)
{
	struct id_layout ids;

	is_key((struct id_layout){ .layout = LAYOUT_ONE }, "ab.one");
	is_key((struct id_layout){ .layout = LAYOUT_PLAIN }, "ab.plain");
	is_key((struct id_layout){ .layout = LAYOUT_SHIFTED, .shift = 524288 },
	       "ab.s524288");
	is_key((struct id_layout){ .layout = LAYOUT_RANGE,
				   .starts = { 4294901760U, 4294901759U },
				   .uid = 65535,
				   .gid = 65534 },
	       "ab.r4294901760-4294901759-65535-65534");
	ok(!store_key_layout("ab", &ids), "a key without a layout");
	ok(!store_key_layout("ab.other", &ids), "nor with an unknown one");
}

static void test_choice(void)
{
	struct error err = { 0 };
	struct idmap map;

	if (getuid() == 0) {
		ok(idmap_choose(IDENTITY_RANGE, 0, 0, &map, &err) < 0 &&
			   err.hint[0],
		   "host root gets no range, and is told what to use");
		return;
	}
	ok(idmap_choose(IDENTITY_ONE, 70000, 5, &map, &err) == 0 &&
		   map.uid[0].inside == 70000 && map.gid[0].inside == 5,
	   "one id can be any");
	ok(idmap_choose(IDENTITY_RANGE, 70000, 0, &map, &err) < 0 &&
		   strstr(err.message, "70000"),
	   "an id above a range is refused");
	ok(idmap_choose(IDENTITY_AUTO, 70000, 0, &map, &err) == 0 &&
		   map.identity == IDENTITY_ONE && strstr(map.reason, "70000"),
	   "and auto takes one id, with the reason");
	/* For the last: what is set stays. */
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	ok(idmap_choose(IDENTITY_RANGE, 0, 0, &map, &err) < 0 && err.hint[0],
	   "without new privileges there is no range");
	ok(idmap_choose(IDENTITY_AUTO, 0, 0, &map, &err) == 0 &&
		   map.identity == IDENTITY_ONE && map.reason[0],
	   "and auto takes one id");
}

int main(void)
{
	int fd = mkstemp(file);

	ok(fd >= 0, "a file");
	close(fd);
	test_find();
	test_maps();
	test_keys();
	test_choice();
	unlink(file);
	return done_testing();
}
