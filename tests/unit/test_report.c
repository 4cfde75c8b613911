/* SPDX-License-Identifier: Apache-2.0 */
/* The report: its fields, their order, and bytes that are not text. */
#include <errno.h>
#include <signal.h>

#include "base/error.h"
#include "base/json.h"
#include "sandbox/plan.h"
#include "super/report.h"
#include "tap.h"

static char *write_report(const struct result *r, const struct plan *plan,
			  bool capture)
{
	auto_json_writer *w = json_writer_new(false);
	size_t len;

	report_write(r, plan, capture, w);
	return json_writer_take(w, &len);
}

static const char empty[] =
	"{\"outcome\":\"exited\",\"exit_code\":0,\"signal\":null,"
	"\"signal_name\":null,\"message\":null,\"limits_hit\":[],"
	"\"wall_ms\":0,\"cpu_ms\":0,\"max_rss\":0,"
	"\"output\":{\"stdout\":null,\"stderr\":null},"
	"\"changes\":{\"project\":null,\"root\":null},"
	"\"isolation\":{},\"soft\":[],"
	"\"denied\":{\"connections\":{\"allowed\":0,\"denied\":0}}";

static void test_empty(void)
{
	auto_result r = { 0 };
	char want[1024];
	char *got = write_report(&r, NULL, false);

	snprintf(want, sizeof(want), "%s}\n", empty);
	is_str(got, want, "all fields are there, in order");
	free(got);
	got = write_report(&r, NULL, true);
	snprintf(want, sizeof(want), "%s,\"stdout\":\"\",\"stderr\":\"\"}\n",
		 empty);
	is_str(got, want, "capture adds stdout and stderr, also empty ones");
	free(got);
}

static void test_full(void)
{
	struct guarantee guarantees[] = {
		{ .name = "pids", .means = "rlimit" },
		{ .name = "memory", .means = "watcher", .soft = true },
	};
	struct plan plan = { .guarantees = guarantees, .guarantee_count = 2 };
	auto_result r = {
		.outcome = OUTCOME_TIME,
		.exit_code = 124,
		.signal = SIGKILL,
		.wall_ms = 2001,
		.cpu_ms = 17,
		.max_rss = 1 << 20,
		.out = { .known = true, .bytes = 5, .cut = true },
		.root = { .known = true, .added = 1, .removed = 2 },
	};

	r.message = strdup("time 2s reached (--timeout)");
	strv_add(&r.limits_hit, "time");
	strv_add(&r.limits_hit, "disk");
	char *got = write_report(&r, &plan, false);

	is_str(got,
	       "{\"outcome\":\"time\",\"exit_code\":124,\"signal\":9,"
	       "\"signal_name\":\"KILL\","
	       "\"message\":\"time 2s reached (--timeout)\","
	       "\"limits_hit\":[\"time\",\"disk\"],"
	       "\"wall_ms\":2001,\"cpu_ms\":17,\"max_rss\":1048576,"
	       "\"output\":{\"stdout\":{\"bytes\":5,\"cut\":true},"
	       "\"stderr\":null},"
	       "\"changes\":{\"project\":null,\"root\":{\"added\":1,"
	       "\"changed\":0,\"removed\":2,\"partial\":false}},"
	       "\"isolation\":{\"pids\":\"rlimit\",\"memory\":\"watcher\"},"
	       "\"soft\":[\"memory\"],"
	       "\"denied\":{\"connections\":{\"allowed\":0,\"denied\":0}}}\n",
	       "every field with a value");
	free(got);
}

static void set_text(struct result_stream *s, const char *head,
		     const char *tail)
{
	s->known = true;
	buf_adds(&s->head, head);
	buf_adds(&s->tail, tail);
}

static void test_capture(void)
{
	auto_result r = { 0 };

	set_text(&r.out, "caf\303\251 ", "end\n");
	r.out.dropped = 7;
	set_text(&r.err, "\377\376", "");
	char *got = write_report(&r, NULL, true);

	ok(strstr(got, "\"stdout\":\"caf\303\251 end\\n\"") != NULL,
	   "head and tail are one text");
	ok(strstr(got, "\"head\":6,\"dropped\":7") != NULL,
	   "the gap's place and size");
	ok(strstr(got, "\"stderr_b64\":\"//4=\"") != NULL,
	   "what is not UTF-8 comes as base64");
	ok(strstr(got, "\"stderr\":\"") == NULL, "and not as text too");
	ok(utf8_is_valid(got, strlen(got)), "the report is UTF-8");
	ok(strchr(got, '\n') == got + strlen(got) - 1, "and one line");
	free(got);
}

static void check_error(enum error_kind kind, int code, enum outcome outcome,
			int exit_code)
{
	auto_result r = { 0 };
	struct error err;

	error_set(&err, kind, code, "try it");
	result_from_error(&r, &err);
	is_str(outcome_name(r.outcome), outcome_name(outcome),
	       "error kind %d, code %d: outcome", (int)kind, code);
	is_int(r.exit_code, exit_code, "error kind %d, code %d: exit code",
	       (int)kind, code);
	ok(r.message && strncmp(r.message, "try it", 6) == 0,
	   "error kind %d, code %d: message", (int)kind, code);
}

static void test_errors(void)
{
	check_error(ERROR_USAGE, 0, OUTCOME_POLICY, 125);
	check_error(ERROR_POLICY, 0, OUTCOME_POLICY, 125);
	check_error(ERROR_LIMIT, 0, OUTCOME_POLICY, 125);
	check_error(ERROR_HOST, EPERM, OUTCOME_SETUP, 125);
	check_error(ERROR_IMAGE, ENOENT, OUTCOME_SETUP, 125);
	check_error(ERROR_INTERNAL, 0, OUTCOME_SETUP, 125);
	check_error(ERROR_EXEC, ENOENT, OUTCOME_SETUP, 127);
	check_error(ERROR_EXEC, EACCES, OUTCOME_SETUP, 126);
	check_error(ERROR_EXEC, ENOEXEC, OUTCOME_SETUP, 126);
}

static void test_names(void)
{
	for (int i = OUTCOME_EXITED; i <= OUTCOME_POLICY; i++)
		ok(outcome_name((enum outcome)i) != NULL,
		   "outcome %d has a name", i);
}

int main(void)
{
	test_empty();
	test_full();
	test_capture();
	test_errors();
	test_names();
	return done_testing();
}
