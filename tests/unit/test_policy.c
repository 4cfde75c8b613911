/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Policies: what files and options set, each refusal with its place, key and
 * cure, which file is used, how sources merge, what contradicts, the ceiling,
 * and that what is shown reads back as the same.
 */
#include "policy/policy.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/fd.h"
#include "base/json.h"
#include "base/mem.h"
#include "policy/field.h"
#include "tests/unit/tap.h"

static char dir[] = "/tmp/llmbox-policy-XXXXXX";

/* The path of a file of the test's directory, written with text; "" with NULL:
 * only its name. */
static char *file_make(const char *name, const char *text)
{
	char *path = mem_printf("%s/%s", dir, name);

	if (!text)
		return path;
	auto_close int fd =
		open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (fd < 0 || fd_write_all(fd, text, strlen(text)) < 0)
		abort();
	return path;
}

static void file_remove(const char *name)
{
	auto_free char *path = file_make(name, NULL);

	if (remove(path) < 0)
		abort();
}

/* "LINE:COLUMN: message (hint)" of each error, one a line; "" without. */
static char *errors_text(const struct error_list *list)
{
	auto_buf out = { 0 };

	for (size_t i = 0; i < list->count; i++) {
		const struct error *e = &list->items[i];

		if (e->line)
			buf_addf(&out, "%u:%u: ", e->line, e->column);
		buf_addf(&out, "%s%s%s%s\n", e->message, *e->hint ? " (" : "",
			 e->hint, *e->hint ? ")" : "");
	}
	if (list->dropped)
		buf_addf(&out, "and %zu more\n", list->dropped);
	return buf_take(&out);
}

static char *error_text(const struct error *err)
{
	auto_buf out = { 0 };

	error_format(err, &out);
	return buf_take(&out);
}

/* Loads text as a file into p; the errors, owned. */
static char *load_text(struct policy *p, const char *text)
{
	auto_free char *path = file_make("p.json", text);
	struct error_list errors = { 0 };
	int r = policy_load_file(p, path, &errors);
	char *told = errors_text(&errors);

	if ((r < 0) != (errors.count > 0))
		ok(false, "result and errors agree");
	error_list_release(&errors);
	return told;
}

static char *show(const struct policy *p, bool origins)
{
	auto_json_writer *w = json_writer_new(false);

	policy_write(p, origins, w);
	return json_writer_take(w, NULL);
}

/* ---- what is set ---- */

static void check_builtin(void)
{
	auto_policy p;

	policy_init(&p);
	is_str(p.user, "root", "user");
	is_str(p.hostname, "box", "hostname");
	is_int(p.network.mode, NETWORK_NONE, "no network");
	is_int(p.limits.pids, 4096, "pids");
	is_int(p.limits.open_files, 4096, "open files");
	is_int(p.limits.inodes, 1000000, "inodes");
	is_int(p.limits.time, LIMIT_NONE, "no time limit");
	is_int(p.limits.output, LIMIT_NONE, "no output limit");
	ok(p.limits.disk > 0 && p.limits.disk <= INT64_C(4) << 30, "disk");
	ok(p.limits.memory > 0 && p.limits.memory >= p.limits.disk, "memory");
	ok(!policy_asked(&p, "limits.memory"), "nobody asked for memory");
}

static const char whole[] =
	"{\"$schema\": \"x\", \"comment\": \"y\","
	"\"rootfs\": {\"image\": \"d.tar.zst\", \"writes\": \"disk\","
	" \"comment\": \"z\"},"
	"\"workdir\": \"/work/\", \"user\": 1000, \"hostname\": \"a.b\","
	"\"identity\": \"one\", \"env\": {\"A\": \"b=c\"},"
	"\"env_pass\": [\"TERM\", \"TERM\"],\n"
	"\"mounts\": [{\"source\": \".\", \"target\": \"/w/out/\","
	" \"access\": \"rw\", \"protect\": [\"x\"],"
	" \"hide\": [\"**/.env\"], \"comment\": \"m\"},"
	"{\"source\": \"../q\", \"target\": \"/w\"},"
	"{\"tmpfs\": \"/t\", \"size\": \"64m\"}, {\"tmpfs\": \"/t/u\"}],"
	"\"network\": {\"mode\": \"allowlist\", \"allow\":"
	" [\"m.example.org:80\", \"@mine\", \"*.example.net:443\","
	" \"10.0.0.0/8:5432\", \"[fd00::1]:22\", \"fd00::/8\"],"
	" \"publish\": [\"127.0.0.1:8080:80\", \"80:80\", \"[::1]:1:2\"],"
	" \"route\": {\"i.example.org:443\": \"127.0.0.1:3141\"}},"
	"\"limits\": {\"time\": \"5m\", \"lifetime\": 1.5, \"idle\": \"10m\","
	" \"cpu_time\": 60, \"cpus\": 1.5, \"memory\": \"512m\","
	" \"pids\": 100, \"disk\": 1073741824, \"inodes\": 1000,"
	" \"output\": \"10m\", \"file_size\": \"1g\", \"open_files\": 64,"
	" \"ulimit\": {\"core\": 0, \"stack\": \"8:unlimited\"}},"
	"\"syscalls\": {\"profile\": \"strict\", \"allow\": [\"ptrace\"],"
	" \"deny\": [\"clone\"]},"
	"\"require\": [\"memory\"], \"best_effort\": [\"cpus\"]}";

static void check_whole(void)
{
	auto_policy p;
	struct error err = { 0 };

	policy_init(&p);
	auto_free char *told = load_text(&p, whole);
	auto_free char *image = file_make("d.tar.zst", NULL);

	is_str(told, "", "a policy with every field");
	is_int(policy_finish(&p, &err), 0, "finish: %s", err.message);
	is_str(p.image, image, "image: relative to the file");
	is_int(p.writes, WRITES_DISK, "writes");
	is_str(p.workdir, "/work", "workdir");
	is_str(p.user, "1000", "user as a number");
	is_int((intmax_t)p.env_pass.count, 1, "a name once");
	is_str(p.env[0].value, "b=c", "env");
	is_int(p.limits.time, 300000, "time");
	is_int(p.limits.lifetime, 1500, "lifetime");
	is_int(p.limits.cpus, 1500, "cpus");
	is_int(p.limits.memory, 512 << 20, "memory");
	is_int(p.limits.disk, 1 << 30, "disk");
	is_int(p.limits.ulimits[1].resource, RLIMIT_STACK, "ulimit");
	ok(p.limits.ulimits[1].hard == RLIM_INFINITY, "unlimited");
	is_int((intmax_t)p.network.allow.count, 6, "rules");
	is_int(p.profile, PROFILE_STRICT, "profile");
	ok(policy_asked(&p, "limits.memory"), "memory was asked for");
	is_int(policy_origin(&p, "mounts")->line, 2, "where mounts stand");

	is_int((intmax_t)p.mount_count, 4, "mounts");
	is_str(p.mounts[0].target, "/t", "parents before children");
	is_int(p.mounts[0].size, 64 << 20, "size of a tmpfs");
	is_str(p.mounts[2].target, "/w", "the less specific first");
	is_str(p.mounts[2].source, "/tmp/q", "'..' from the file");
	is_int(p.mounts[2].access, ACCESS_RO, "access is ro by default");
	is_int((intmax_t)p.mounts[2].protect.count, 0, "ro needs no protect");
	is_str(p.mounts[3].target, "/w/out", "the more specific last");
	ok(strv_has(&p.mounts[3].protect, ".git/hooks") &&
		   strv_has(&p.mounts[3].protect, "x"),
	   "protect has the built-in ones too");
}

static void check_show(void)
{
	auto_policy p, back;
	struct error err;

	policy_init(&p);
	policy_init(&back);
	auto_free char *told = load_text(&p, whole);

	is_str(told, "", "a policy to show");
	policy_finish(&p, &err);
	auto_free char *shown = show(&p, false);
	auto_free char *told_back = load_text(&back, shown);

	is_str(told_back, "", "what is shown is a policy");
	policy_finish(&back, &err);
	auto_free char *again = show(&back, false);

	is_str(again, shown, "and means the same");

	auto_free char *origins = show(&p, true);

	ok(strstr(origins, "\"limits.time\":{\"value\":\"5m\",\"from\":\"") &&
		   strstr(origins, "p.json:2:"),
	   "origins name the file");
	policy_set(&p, "limits.time", "--timeout", "3", &err);
	auto_free char *changed = show(&p, true);

	ok(strstr(changed, "{\"value\":\"3s\",\"from\":\"--timeout\"}"),
	   "and the option");
}

static void check_table(void)
{
	auto_json_writer *w = json_writer_new(true);

	policy_write_schema(w);
	auto_free char *schema = json_writer_take(w, NULL);
	auto_json *root = NULL;
	struct error err;

	is_int(json_parse(schema, strlen(schema), "schema", &root, &err), 0,
	       "the schema is JSON");
	const struct json *properties = json_get(root, "properties");

	for (size_t i = 0; policy_field(i); i++) {
		const struct policy_field_info *f = policy_field(i);
		const char *dot = strchr(f->name, '.');
		auto_free char *group =
			mem_strndup(f->name, dot ? (size_t)(dot - f->name) : 0);
		const struct json *in =
			dot ? json_get(json_get(properties, group),
				       "properties")
			    : properties;

		ok(json_get(in, dot ? dot + 1 : f->name) && *f->doc && *f->type,
		   "%s is in the schema and documented", f->name);
	}
	ok(!policy_field(field_count), "the table ends");
}

/* ---- what is refused ---- */

struct refusal {
	const char *text, *told;
};

static const struct refusal refusals[] = {
	{ "[]", "1:1: a policy: must be an object, not an array\n" },
	{ "null", "1:1: a policy: must be an object, not null\n" },
	{ "{\"netwrok\": {}}",
	  "1:2: unknown key \"netwrok\" (did you mean \"network\"?)\n" },
	{ "{\"timeout\": 5}",
	  "1:2: unknown key \"timeout\" (did you mean \"limits.time\"?)\n" },
	{ "{\"memory\": 5}",
	  "1:2: unknown key \"memory\" (did you mean \"limits.memory\"?)\n" },
	{ "{\"comment\": 1}", "1:13: comment: must be a string, not a "
			      "number\n" },
	{ "{\"network\": \"none\"}",
	  "1:13: network: must be an object, not a string (write {\"mode\": "
	  "\"none\"})\n" },
	{ "{\"limits\":\n {\"memroy\": 1}}",
	  "2:3: limits: unknown key \"memroy\" (did you mean \"memory\"?)\n" },
	{ "{\"mounts\": [{\"source\": \"/tmp\", \"target\": \"/mnt\", "
	  "\"readonyl\": true}]}",
	  "1:50: mounts[0]: unknown key \"readonyl\" (did you mean "
	  "\"access\"?)\n" },
	{ "{\"rootfs\": {\"image\": null}}",
	  "1:22: rootfs.image: must be a string, not null\n" },
	{ "{\"rootfs\": {\"writes\": \"disc\"}}",
	  "1:23: rootfs.writes: 'disc' is not memory, disk or none (did you "
	  "mean 'disk'?)\n" },
	{ "{\"workdir\": \"work\"}",
	  "1:13: workdir: working directory 'work' is not an absolute "
	  "path\n" },
	{ "{\"env\": {\"A\": null}}",
	  "1:15: env.A: must be a string, not null (to pass the caller's "
	  "value on, use env_pass)\n" },
	{ "{\"env\": {\"A=B\": \"x\"}}",
	  "1:10: env: 'A=B' can't name an environment variable\n" },
	{ "{\"env_pass\": \"TERM\"}",
	  "1:14: env_pass: must be an array of strings, not a string\n" },
	{ "{\"env_pass\": [\"A\", 1]}",
	  "1:20: env_pass[1]: must be a string, not a number\n" },
	{ "{\"require\": [\"memroy\"]}",
	  "1:14: require[0]: 'memroy' is not a limit or guarantee (did you "
	  "mean 'memory'?)\n" },
	{ "{\"syscalls\": {\"deny\": [\"clone3 \"]}}",
	  "1:24: syscalls.deny[0]: 'clone3 ' can't name a system call\n" },
	{ "{\"limits\": {\"ulimit\": {\"nproc\": 5}}}",
	  "1:24: limits.ulimit: nproc counts all processes of the caller's id "
	  "(use limits.pids or --pids-limit)\n" },
	{ "{\"limits\": {\"ulimit\": {\"stack\": \"5:4\"}}}",
	  "1:24: limits.ulimit: stack: the soft limit is above the hard "
	  "one\n" },
	{ "{\"mounts\": {}}", "1:12: mounts: must be an array of objects, not "
			      "an object\n" },
	{ "{\"mounts\": [{\"target\": \"/x\"}]}",
	  "1:13: mounts[0]: source or tmpfs is missing\n" },
	{ "{\"mounts\": [{\"source\": \".\"}]}",
	  "1:13: mounts[0]: target is missing\n" },
	{ "{\"mounts\": [{\"source\": \"\", \"target\": \"/x\"}]}",
	  "1:24: mounts[0].source: an empty path\n" },
	{ "{\"mounts\": [{\"source\": \"~/x\", \"target\": \"/x\"}]}",
	  "1:24: mounts[0].source: '~' is not replaced in ~/x (write the whole "
	  "path)\n" },
	{ "{\"mounts\": [{\"tmpfs\": \"/x\", \"access\": \"rw\"}]}",
	  "1:39: mounts[0]: access does not belong to a tmpfs\n" },
	{ "{\"mounts\": [{\"source\": \".\", \"target\": \"/x\", \"size\": "
	  "5}]}",
	  "1:53: mounts[0]: size belongs to a tmpfs only\n" },
	{ "{\"mounts\": [{\"source\": \".\", \"target\": \"/x\", \"access\": "
	  "\"rw\", \"protect\": [\"../y\"]}]}",
	  "1:73: mounts[0].protect: '../y' is not a path below the source\n" },
};

static void check_refusals(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(refusals); i++) {
		auto_policy p;

		policy_init(&p);
		auto_free char *told = load_text(&p, refusals[i].text);

		is_str(told, refusals[i].told, "refused: %s", refusals[i].text);
	}
}

/* {"limits": {"NAME": VALUE}}: refused at the value, or the value itself. */
static void check_limit(const char *name, const char *value, const char *why)
{
	auto_policy p;
	auto_free char *text =
		mem_printf("{\"limits\": {\"%s\": %s}}", name, value);
	auto_free char *place = mem_printf("1:%zu: ", strlen(name) + 17);

	policy_init(&p);
	auto_free char *before = show(&p, false);
	auto_free char *told = load_text(&p, text);
	auto_free char *after = show(&p, false);
	size_t len = strlen(place);

	ok(strncmp(told, place, len) == 0 && strstr(told, why) &&
		   strcmp(before, after) == 0,
	   "limits.%s %.40s: %s", name, value, why);
	if (!strstr(told, why))
		printf("# %s", told);
}

static void check_numbers(void)
{
	check_limit("memory", "0", "to have no limit, leave it out");
	check_limit("memory", "\"0\"", "to have no limit, leave it out");
	check_limit("memory", "-1", "-1 is negative");
	check_limit("memory", "\"-1\"", "'-1' is not a size");
	check_limit("memory", "1e3", "1e3 is not written as a whole number");
	check_limit("memory", "1000.0", "is not written as a whole number");
	check_limit("memory", "true", "not true");
	check_limit("memory", "null", "not null");
	check_limit("memory", "[1]", "not an array");
	check_limit("memory", "{}", "not an object");
	check_limit("memory", "9223372036854775807", "too large");
	check_limit("memory", "9223372036854775808", "too large");
	check_limit("memory", "18446744073709551617", "too large");
	check_limit("memory", "1e400", "the number is too large");
	check_limit("memory", "007", "a number with a leading 0");
	check_limit("memory", "0x10", "numbers are decimal");
	check_limit("memory", "+5", "without '+'");
	check_limit("memory", "Infinity", "is not JSON");
	check_limit("memory", "\"inf\"", "'inf' is not a size");
	check_limit("memory", "\"unlimited\"", "is not a size");
	check_limit("memory", "\"\"", "'' is not a size");
	check_limit("memory", "\"512q\"", "'512q' is not a size");
	check_limit("memory", "\"512k\"", "too small: at least 1m");
	check_limit("memory", "\"9999999999g\"", "too large");
	check_limit("pids", "\"100\"", "must be a whole number, not a string");
	check_limit("pids", "1.5", "is not written as a whole number");
	check_limit("pids", "4194305", "too large: at most 4194304");
	check_limit("pids", "0", "leave it out");
	check_limit("cpus", "0", "too small");
	check_limit("cpus", "-1.5", "negative");
	check_limit("cpus", "1e1", "without an exponent");
	check_limit("cpus", "1000001", "too large");
	check_limit("time", "0", "leave it out");
	check_limit("time", "0.0001", "less than one millisecond");
	check_limit("time", "\"5 s\"", "is not a time");
	check_limit("time", "\"forever\"", "is not a time");
	check_limit("time", "\"99999999d\"", "too large: at most 36500d");
	check_limit("time", "false", "not false");
}

static void check_many_errors(void)
{
	auto_policy p;
	auto_buf text = { 0 };

	policy_init(&p);
	buf_adds(&text, "{\n");
	for (int i = 0; i < 25; i++)
		buf_addf(&text, "\"unknown_%d\": 1,\n", i);
	buf_adds(&text, "\"user\": \"0x10\"}");
	auto_free char *told = load_text(&p, text.data);

	ok(strstr(told, "2:1: ") && strstr(told, "21:1: ") &&
		   !strstr(told, "22:1: ") && strstr(told, "and 6 more"),
	   "twenty errors are told, the others counted");
	is_str(p.user, "root", "a refused value is not set");
}

static void check_users(void)
{
	static const char *const good[] = {
		"root", "0", "1000:1000", "4294967294", "www-data", "a.b_c:0",
	};
	static const char *const bad[] = {
		"",           "0x10", "-1",  "4294967295",
		"4294967296", "010",  "1:",  ":1",
		"1:2:3",      "1 ",   "+1",  "99999999999999999999",
		"a/b",        "1e3",  "a b",
	};

	for (size_t i = 0; i < ARRAY_SIZE(good) + ARRAY_SIZE(bad); i++) {
		bool right = i < ARRAY_SIZE(good);
		const char *user = right ? good[i] : bad[i - ARRAY_SIZE(good)];
		auto_policy p;
		struct error err = { 0 };

		policy_init(&p);
		int r = policy_set(&p, "user", "-u", user, &err);

		ok(right ? r == 0 && strcmp(p.user, user) == 0
			 : r < 0 && strcmp(p.user, "root") == 0 &&
				   err.kind == ERROR_USAGE,
		   "user '%s' is %s %s", user, right ? "taken" : "refused",
		   err.message);
	}
}

static void check_hostnames(void)
{
	static const char *const bad[] = {
		"",   "a_b", "-a",  "a-",       "a..b",
		".a", "a.",  "a b", "\xc3\xa9", "a/b",
	};
	auto_policy p;
	struct error err;
	char name[67];

	policy_init(&p);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		ok(policy_set(&p, "hostname", "--hostname", bad[i], &err) < 0,
		   "hostname '%s' is refused", bad[i]);
	is_int(policy_set(&p, "hostname", "-h", "a-1.B2", &err), 0, "a-1.B2");
	memset(name, 'a', sizeof(name));
	name[64] = '\0';
	ok(policy_set(&p, "hostname", "-h", name, &err) < 0,
	   "a label of 64: %s", err.message);
	name[30] = '.';
	is_int(policy_set(&p, "hostname", "-h", name, &err), 0,
	       "64 bytes in two labels");
	name[64] = 'a';
	name[65] = '\0';
	ok(policy_set(&p, "hostname", "-h", name, &err) < 0, "65 bytes: %s",
	   err.message);
}

static void check_rules(void)
{
	static const char *const bad[] = {
		"https://x.y", "x:0",         "x:99999", "a_b",     "1.2.3",
		"300.1.1.1",   "10.0.0.0/33", "x/8",     "[::1",    "*",
		"*.",          "a.*.b",       "@",       "@a b",    "",
		" x",          "x:",          "x:80:90", "::1/129", "x:080",
		"10.0.0.0/08", "[::1]x",
	};
	static const char *const bad_publish[] = {
		"80",         "80:0",      "x:80:80", ":80:80",
		"1.2.3.4:80", "80:80/tcp", "",
	};
	static const char *const bad_route[] = {
		"x:1", "x=y", "x:1=y", "*.x:1=y:2", "x:1=10.0.0.0/8:1", "=",
	};
	auto_policy p;
	struct error err;

	policy_init(&p);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		ok(policy_set(&p, "network.allow", "--allow", bad[i], &err) < 0,
		   "rule '%s' is refused", bad[i]);
	for (size_t i = 0; i < ARRAY_SIZE(bad_publish); i++)
		ok(policy_set(&p, "network.publish", "-p", bad_publish[i],
			      &err) < 0,
		   "publish '%s' is refused", bad_publish[i]);
	for (size_t i = 0; i < ARRAY_SIZE(bad_route); i++)
		ok(policy_set(&p, "network.route", "--route", bad_route[i],
			      &err) < 0,
		   "route '%s' is refused", bad_route[i]);
	is_int(policy_set(&p, "network.route", "--route", "a.b:1=c.d:2", &err),
	       0, "a route");
	is_str(p.network.routes[0].value, "c.d:2", "its end");
}

/* ---- which file ---- */

/* policy_load's errors, owned; "" without. */
static char *load_found(struct policy *p, const struct strv *files)
{
	struct error_list errors = { 0 };

	policy_init(p);
	int r = policy_load(p, files, &errors);
	char *told = errors_text(&errors);

	if ((r < 0) != (errors.count > 0))
		ok(false, "result and errors agree");
	error_list_release(&errors);
	return told;
}

static void check_found(const char *want, const char *what)
{
	auto_policy p;
	auto_free char *told = load_found(&p, NULL);

	is_str(told, "", "%s: no error", what);
	is_str(p.hostname, want, "%s", what);
}

static void check_search(void)
{
	auto_free char *config = file_make("config", NULL);
	auto_free char *own = file_make("config/llmbox", NULL);

	setenv("XDG_CONFIG_HOME", config, 1);
	unsetenv("LLMBOX_POLICY");
	if (access("/etc/llmbox/policy.json", F_OK) == 0)
		skip("this host has a policy of its own");
	else
		check_found("box", "no file: built-in");
	mkdir(config, 0700);
	mkdir(own, 0700);
	auto_free char *found = file_make("config/llmbox/policy.json",
					  "{\"hostname\": \"own\"}");

	check_found("own", "the user's file");
	auto_free char *named =
		file_make("named.json", "{\"hostname\": \"named\"}");

	setenv("LLMBOX_POLICY", named, 1);
	check_found("named", "LLMBOX_POLICY comes before it");

	auto_policy p;
	auto_strv files = { 0 };

	strv_add(&files, found);
	auto_free char *told = load_found(&p, &files);

	is_str(told, "", "--policy comes before that");
	is_str(p.hostname, "own", "and is the whole policy");
	is_int((intmax_t)p.files.count, 1, "one file was read");

	setenv("LLMBOX_POLICY", "/nonexistent/p.json", 1);
	auto_policy missing;
	auto_free char *why = load_found(&missing, NULL);

	ok(strstr(why, "/nonexistent"), "a missing named file is an error: %s",
	   why);
	unsetenv("LLMBOX_POLICY");
	auto_free char *cut = file_make("config/llmbox/policy.json", "{");
	auto_policy damaged;
	auto_free char *what = load_found(&damaged, NULL);

	ok(strstr(what, "inside an object") && cut,
	   "a damaged file is not passed over: %s", what);
	file_remove("config/llmbox/policy.json");
	file_remove("config/llmbox");
	file_remove("config");
}

static void check_strange_files(void)
{
	static const char *const strange[] = { "/tmp", "/dev/null", "/dev/zero",
					       "/nonexistent" };

	for (size_t i = 0; i < ARRAY_SIZE(strange); i++) {
		auto_policy p;
		struct error_list errors = { 0 };

		policy_init(&p);
		int r = policy_load_file(&p, strange[i], &errors);
		auto_free char *told = errors_text(&errors);

		ok(r < 0 && errors.items[0].kind == ERROR_POLICY,
		   "%s is no policy: %s", strange[i], told);
		error_list_release(&errors);
	}
}

/* ---- merging ---- */

static void check_merge(void)
{
	auto_policy p;
	auto_strv files = { 0 };
	auto_free char *first = file_make(
		"first.json",
		"{\"hostname\": \"a\", \"limits\": {\"time\": 1, \"pids\": 5},"
		"\"env\": {\"A\": \"1\", \"B\": \"1\"},"
		"\"env_pass\": [\"X\"],"
		"\"mounts\": [{\"tmpfs\": \"/t\"}, {\"tmpfs\": \"/u\"}]}");
	auto_free char *second = file_make(
		"second.json",
		"{\"hostname\": \"b\", \"limits\": {\"time\": 2},"
		"\"env\": {\"B\": \"2\"}, \"env_pass\": [\"Y\"],"
		"\"mounts\": [{\"source\": \"/usr\", \"target\": \"/t\"}]}");
	struct error err = { 0 };

	strv_add(&files, first);
	strv_add(&files, second);
	auto_free char *told = load_found(&p, &files);

	is_str(told, "", "two files");
	is_int(policy_finish(&p, &err), 0, "finish: %s", err.message);
	is_str(p.hostname, "b", "the later scalar wins");
	is_int(p.limits.time, 2000, "in a group too");
	is_int(p.limits.pids, 5, "what only the first says stays");
	is_int((intmax_t)p.env_pass.count, 2, "lists append");
	is_int((intmax_t)p.env_count, 2, "variables merge");
	is_str(p.env[1].value, "2", "the later value wins");
	is_int((intmax_t)p.mount_count, 2, "one mount a target");
	is_str(p.mounts[0].source, "/usr", "the later one");
}

/* ---- options ---- */

static void check_options(void)
{
	auto_policy p;
	struct error err = { 0 };

	policy_init(&p);
	is_int(policy_set(&p, "limits.memory", "-m", "64m", &err), 0, "-m");
	is_int(p.limits.memory, 64 << 20, "its value");
	is_str(policy_origin(&p, "limits.memory")->name, "-m", "its origin");
	ok(policy_set(&p, "limits.memory", "-m", "-1", &err) < 0 &&
		   err.kind == ERROR_USAGE && strstr(err.message, "-m: '-1'"),
	   "refused: %s", err.message);
	ok(policy_set(&p, "network.mode", "--network", "hots", &err) < 0 &&
		   strstr(err.hint, "'host'"),
	   "did you mean: %s", err.hint);
	is_int(policy_set(&p, "env", "-e", "A=1", &err), 0, "-e A=1");
	is_int(policy_set(&p, "env", "-e", "A", &err), 0, "-e A");
	is_int((intmax_t)p.env_count, 0, "-e A takes A=1 away");
	ok(strv_has(&p.env_pass, "A"), "and passes A");
	ok(policy_set(&p, "env", "-e", "=x", &err) < 0, "-e =x");
	is_int(policy_set(&p, "limits.ulimit", "--ulimit", "nofile=5:6", &err),
	       0, "--ulimit");
	ok(policy_set(&p, "limits.ulimit", "--ulimit", "nofile", &err) < 0,
	   "--ulimit without a value");
	ok(policy_set(&p, "mounts", "-v", "x", &err) < 0 &&
		   err.kind == ERROR_INTERNAL,
	   "mounts have functions of their own");
	is_int(policy_set(&p, "rootfs.image", "-r", "debian", &err), 0,
	       "-r NAME");
	is_str(p.image, "debian", "stays a name");
	is_int(policy_set(&p, "rootfs.image", "-r", "host", &err), 0,
	       "-r host");
	ok(!p.image, "takes it away");
	is_int(policy_set(&p, "rootfs.image", "-r", "x.TGZ", &err), 0,
	       "-r ARCHIVE");
	ok(p.image[0] == '/', "becomes absolute: %s", p.image);
}

struct volume {
	const char *text;
	const char *source, *target; /* NULL: refused */
	const char *told;            /* a part of message or hint */
	enum access access;
};

static const struct volume volumes[] = {
	{ "/a:/b", "/a", "/b", "", ACCESS_RW },
	{ "/a/../c/:/b//d/", "/c", "/b/d", "", ACCESS_RW },
	{ "/a:/b:ro", "/a", "/b", "", ACCESS_RO },
	{ "/a:/b:overlay", "/a", "/b", "", ACCESS_OVERLAY },
	{ "./a:/b", "/tmp/a", "/b", "", ACCESS_RW },
	{ "a:/b", NULL, NULL, "write ./a", 0 },
	{ "/a", NULL, NULL, "SRC:DST", 0 },
	{ ":/b", NULL, NULL, "no source", 0 },
	{ "/a:", NULL, NULL, "no target", 0 },
	{ "/a:b", NULL, NULL, "'b' is not an absolute path", 0 },
	{ "/a:/b:z", NULL, NULL, "'z' is not ro, rw or overlay", 0 },
	{ "/a:/b:/c", NULL, NULL, "'/c' is not ro", 0 },
	{ "/a:/", NULL, NULL, "'/' can't be a target", 0 },
	{ "/a:/..", NULL, NULL, "'..' in target", 0 },
	{ "/a:/b/../proc", NULL, NULL, "'..' in target", 0 },
	{ "/a:/proc", NULL, NULL, "the box's own", 0 },
	{ "/a://proc/./sys", NULL, NULL, "the box's own", 0 },
	{ "/a:/sys/fs", NULL, NULL, "the box's own", 0 },
	{ "/a:/dev", NULL, NULL, "the box's own", 0 },
	{ "~/a:/b", NULL, NULL, "'~'", 0 },
};

static void check_volumes(void)
{
	if (chdir("/tmp") < 0)
		abort();
	for (size_t i = 0; i < ARRAY_SIZE(volumes); i++) {
		const struct volume *v = &volumes[i];
		auto_policy p;
		struct error err = { 0 };

		policy_init(&p);
		int r = policy_add_volume(&p, "-v", v->text, &err);
		auto_free char *told = error_text(&err);

		if (v->source)
			ok(r == 0 && p.mount_count == 1 &&
				   strcmp(p.mounts[0].source, v->source) == 0 &&
				   strcmp(p.mounts[0].target, v->target) == 0 &&
				   p.mounts[0].access == v->access,
			   "-v %s", v->text);
		else
			ok(r < 0 && err.kind == ERROR_USAGE &&
				   p.mount_count == 0 &&
				   strncmp(told, "-v: ", 4) == 0 &&
				   strstr(told, v->told),
			   "-v %s is refused: %s", v->text, told);
	}
}

static void check_project(void)
{
	auto_policy p;
	struct error err = { 0 };

	policy_init(&p);
	setenv("HOME", "/tmp/", 1);
	ok(policy_add_project(&p, "-C", "/", &err) < 0, "-C /: %s",
	   err.message);
	ok(policy_add_project(&p, "-C", "/tmp/x/..", &err) < 0, "-C HOME: %s",
	   err.message);
	ok(policy_add_project(&p, "-C", "/proc/self/root", &err) < 0,
	   "-C a link to /: %s", err.message);
	ok(policy_add_project(&p, "-C", "x:z", &err) < 0, "-C x:z: %s",
	   err.message);
	is_int((intmax_t)p.mount_count, 0, "nothing was added");
	is_int(policy_add_project(&p, "-C", "x:y/z:rw", &err), 0,
	       "-C x:y/z:rw");
	is_str(p.mounts[0].source, "/tmp/x:y/z", "its source");
	is_str(p.mounts[0].target, "/tmp/x:y/z", "its target");
	is_int(p.mounts[0].access, ACCESS_RW, "its access");
	ok(policy_add_project(&p, "-C", "q", &err) < 0, "a second one: %s",
	   err.message);
	is_int(policy_finish(&p, &err), 0, "finish");
	is_str(p.workdir, "/tmp/x:y/z", "it is the working directory");

	auto_policy other;

	policy_init(&other);
	policy_add_project(&other, "-C", "q", &err);
	policy_set(&other, "workdir", "-w", "/w", &err);
	is_int(other.mounts[0].access, ACCESS_OVERLAY, "overlay by default");
	is_int(policy_finish(&other, &err), 0, "finish");
	is_str(other.workdir, "/w", "-w comes before -C");
}

static void check_tmpfs(void)
{
	auto_policy p;
	struct error err = { 0 };

	policy_init(&p);
	is_int(policy_add_tmpfs(&p, "--tmpfs", "/a", &err), 0, "--tmpfs /a");
	is_int(policy_add_tmpfs(&p, "--tmpfs", "/b:64m", &err), 0,
	       "with a size");
	is_int(p.mounts[1].size, 64 << 20, "the size");
	ok(policy_add_tmpfs(&p, "--tmpfs", "/c:0", &err) < 0, "size 0: %s",
	   err.message);
	ok(policy_add_tmpfs(&p, "--tmpfs", "c", &err) < 0, "relative: %s",
	   err.message);
}

/* ---- contradictions ---- */

static void check_contradiction(const char *text, const char *told)
{
	auto_policy p;
	struct error err = { 0 };

	policy_init(&p);
	auto_free char *errors = load_text(&p, text);
	int r = policy_finish(&p, &err);
	auto_free char *why = error_text(&err);

	ok(!*errors && r < 0 && err.kind == ERROR_POLICY && strstr(why, told),
	   "%s", why);
}

static void check_contradictions(void)
{
	check_contradiction("{\"mounts\": [{\"source\": \"/a\", \"target\": "
			    "\"/w/\"},\n {\"tmpfs\": \"//w\"}]}",
			    "p.json:2:2: two mounts on /w: /a at ");
	check_contradiction("{\"require\": [\"pids\"], \"best_effort\": "
			    "[\"pids\"]}",
			    "pids is both in require and in best_effort");
	check_contradiction("{\"syscalls\": {\"allow\": [\"bpf\"], \"deny\": "
			    "[\"bpf\"]}}",
			    "bpf is both");
	check_contradiction("{\"network\": {\"mode\": \"host\", \"allow\": "
			    "[\"a.b\"]}}",
			    "network.allow has no effect with network mode "
			    "host");

	auto_policy p;
	struct error err = { 0 };

	policy_init(&p);
	policy_add_volume(&p, "-v", "/a:/x", &err);
	policy_add_tmpfs(&p, "--tmpfs", "/x", &err);
	ok(policy_finish(&p, &err) < 0 && err.kind == ERROR_USAGE,
	   "two options on one target: %s", err.message);
}

/* The mode after a file and up to two options. */
static void check_mode(const char *text, const char *field, const char *value,
		       int want)
{
	auto_policy p;
	struct error err = { 0 };

	policy_init(&p);
	auto_free char *errors = load_text(&p, text);

	if (*errors)
		printf("# %s", errors);
	if (field)
		policy_set(&p, field, "--x", value, &err);
	int r = policy_finish(&p, &err);

	is_int(r < 0 ? -1 : (int)p.network.mode, want, "%s then %s %s", text,
	       field ? field : "nothing", field ? value : "");
}

static void check_modes(void)
{
	static const char rules[] = "{\"network\": {\"allow\": [\"a.b\"]}}";
	static const char host[] = "{\"network\": {\"mode\": \"host\"}}";

	check_mode(rules, NULL, NULL, NETWORK_ALLOWLIST);
	check_mode(rules, "network.mode", "none", NETWORK_NONE);
	check_mode(rules, "network.mode", "host", NETWORK_HOST);
	check_mode(rules, "network.allow", "c.d", NETWORK_ALLOWLIST);
	check_mode(host, "network.allow", "c.d", NETWORK_ALLOWLIST);
	check_mode(host, NULL, NULL, NETWORK_HOST);
	check_mode("{}", "network.allow", "c.d", NETWORK_ALLOWLIST);
	check_mode("{}", "network.route", "a.b:1=c.d:2", NETWORK_ALLOWLIST);
}

/* ---- the ceiling ---- */

/* What comes of a policy below a ceiling: the value of a field as policy show
 * has it, or the error; owned. */
static char *bounded(const char *text, const char *ceiling, const char *field)
{
	auto_policy p;
	struct error err = { 0 };
	auto_free char *path = file_make("c.json", ceiling);

	policy_init(&p);
	auto_free char *errors = load_text(&p, text);

	if (*errors)
		return mem_take(errors);
	if (ceiling_apply(&p, path, &err) < 0)
		return error_text(&err);
	auto_json_writer *w = json_writer_new(false);
	const struct field *f = field_find(field);

	f->type->write(&p, f, w);
	char *shown = json_writer_take(w, NULL);

	shown[strlen(shown) - 1] = '\0';
	return shown;
}

struct ceiling_case {
	const char *text, *ceiling, *field, *want;
};

static const struct ceiling_case ceilings[] = {
	{ "{}", "{}", "limits.pids", "4096" },
	{ "{}", "{\"limits\": {\"pids\": 100}}", "limits.pids", "100" },
	{ "{}", "{\"limits\": {\"pids\": 9999}}", "limits.pids", "4096" },
	{ "{}", "{\"limits\": {\"time\": 60}}", "limits.time", "\"1m\"" },
	{ "{\"limits\": {\"time\": 5}}", "{\"limits\": {\"time\": 60}}",
	  "limits.time", "\"5s\"" },
	{ "{\"limits\": {\"time\": 61}}", "{\"limits\": {\"time\": 60}}",
	  "limits.time", "limits.time 61s is above the ceiling of 1m" },
	{ "{\"network\": {\"mode\": \"host\"}}",
	  "{\"network\": {\"mode\": \"allowlist\"}}", "network.mode",
	  "network.mode host is above the ceiling of allowlist" },
	{ "{}", "{\"network\": {\"mode\": \"allowlist\"}}", "network.mode",
	  "\"none\"" },
	{ "{}", "{\"syscalls\": {\"profile\": \"strict\"}}", "syscalls.profile",
	  "\"strict\"" },
	{ "{\"syscalls\": {\"profile\": \"debug\"}}",
	  "{\"syscalls\": {\"profile\": \"default\"}}", "syscalls.profile",
	  "syscalls.profile debug is above the ceiling of default" },
	{ "{\"rootfs\": {\"writes\": \"none\"}}",
	  "{\"rootfs\": {\"writes\": \"memory\"}}", "rootfs.writes",
	  "\"none\"" },
	{ "{\"rootfs\": {\"writes\": \"disk\"}}",
	  "{\"rootfs\": {\"writes\": \"memory\"}}", "rootfs.writes",
	  "rootfs.writes disk is above the ceiling of memory" },
	{ "{\"env_pass\": [\"A\"]}", "{\"env_pass\": [\"A\", \"B\"]}",
	  "env_pass", "[\"A\"]" },
	{ "{\"env_pass\": [\"A\", \"C\"]}", "{\"env_pass\": [\"A\"]}",
	  "env_pass", "env_pass C is above the ceiling" },
	{ "{\"require\": [\"pids\"]}", "{\"require\": [\"landlock\"]}",
	  "require", "[\"pids\",\"landlock\"]" },
	{ "{\"rootfs\": {\"image\": \"a\"}}",
	  "{\"rootfs\": {\"image\": \"b\"}}", "rootfs.image",
	  "rootfs.image a is above the ceiling of b" },
	{ "{}", "{\"rootfs\": {\"image\": \"b\"}}", "rootfs.image", "\"b\"" },
	{ "{}", "{\"hostname\": \"b\"}", "hostname",
	  "a ceiling can't bound hostname" },
	{ "{}", "{\"limits\": {\"pidz\": 1}}", "limits.pids", "unknown key" },
	{ "{}", "{", "limits.pids", "the text ends" },
};

static void check_ceiling(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(ceilings); i++) {
		const struct ceiling_case *c = &ceilings[i];
		auto_free char *got = bounded(c->text, c->ceiling, c->field);

		ok(strstr(got, c->want), "%s below %s: %s", c->text, c->ceiling,
		   got);
	}
	auto_policy p;
	struct error err = { 0 };
	auto_free char *path =
		file_make("c.json", "{\"limits\": {\"memory\": \"64m\"}}");

	policy_init(&p);
	policy_set(&p, "limits.memory", "-m", "65m", &err);
	ok(ceiling_apply(&p, path, &err) < 0 && err.kind == ERROR_USAGE &&
		   strncmp(err.message, "-m: ", 4) == 0 &&
		   strstr(err.hint, "c.json:1:"),
	   "an option above it: %s (%s)", err.message, err.hint);
	is_int(ceiling_apply(&p, "/nonexistent/c.json", &err), 0,
	       "no ceiling bounds nothing");
	is_int(p.limits.memory, 65 << 20, "and changes nothing");
}

int main(void)
{
	if (!mkdtemp(dir))
		return 1;
	check_builtin();
	check_whole();
	check_show();
	check_table();
	check_refusals();
	check_numbers();
	check_many_errors();
	check_users();
	check_hostnames();
	check_rules();
	check_search();
	check_strange_files();
	check_merge();
	check_options();
	check_volumes();
	check_project();
	check_tmpfs();
	check_contradictions();
	check_modes();
	check_ceiling();

	static const char *const made[] = { "p.json", "c.json", "named.json",
					    "first.json", "second.json" };

	for (size_t i = 0; i < ARRAY_SIZE(made); i++)
		file_remove(made[i]);
	rmdir(dir);
	return done_testing();
}
