/* SPDX-License-Identifier: Apache-2.0 */
#include "super/ending.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/mem.h"
#include "base/units.h"
#include "sandbox/plan.h"
#include "super/caller.h"
#include "super/report.h"

struct cause_info {
	enum outcome outcome;
	int exit_code;
	const char *limit, *option;
};

static const struct cause_info causes[] = {
	[CAUSE_TIME] = { OUTCOME_TIME, 124, "time", "--timeout" },
	[CAUSE_LIFETIME] = { OUTCOME_LIFETIME, 124, "lifetime", "--lifetime" },
	[CAUSE_OUTPUT] = { OUTCOME_OUTPUT, 137, "output", "--output-limit" },
	[CAUSE_SIGNAL] = { OUTCOME_CANCELLED, 128, NULL, NULL },
	[CAUSE_CALLER] = { OUTCOME_CANCELLED, 137, NULL, NULL },
	[CAUSE_TERMINAL] = { OUTCOME_CANCELLED, 129, NULL, NULL },
};

static void result_say(struct result *ret, char *message)
{
	free(ret->message);
	ret->message = message;
}

static void result_say_limit(struct result *ret, const char *limit,
			     const char *option, char *value)
{
	strv_add(&ret->limits_hit, limit);
	result_say(ret, mem_printf("%s %s reached (%s)", limit, value, option));
	free(value);
}

static void ending_cause(const struct ending *e, const struct plan *plan,
			 struct result *ret)
{
	const struct cause_info *info = &causes[e->cause];
	const struct plan_limits *limits = &plan->limits;

	ret->outcome = info->outcome;
	ret->exit_code = info->exit_code;
	switch (e->cause) {
	case CAUSE_TIME:
		result_say_limit(ret, info->limit, info->option,
				 units_format_time(limits->time));
		break;
	case CAUSE_LIFETIME:
		result_say_limit(ret, info->limit, info->option,
				 units_format_time(limits->lifetime));
		break;
	case CAUSE_OUTPUT:
		result_say_limit(ret, info->limit, info->option,
				 units_format_size(limits->output));
		break;
	case CAUSE_SIGNAL:
		ret->exit_code += e->cancel;
		result_say(ret, mem_printf("cancelled by SIG%s",
					   signal_name(e->cancel)));
		break;
	case CAUSE_TERMINAL:
		result_say(ret, mem_strdup("cancelled: the terminal is gone"));
		break;
	default:
		result_say(ret, mem_strdup("cancelled: the caller ended"));
	}
}

static int64_t usage_cpu_ms(const struct rusage *u)
{
	return (int64_t)(u->ru_utime.tv_sec + u->ru_stime.tv_sec) * 1000 +
	       (u->ru_utime.tv_usec + u->ru_stime.tv_usec) / 1000;
}

/*
 * RLIMIT_CPU: XCPU at the soft limit, KILL at the hard one; a shell passes on
 * what ended its command as a status. RLIMIT_CPU counts ticks where
 * getrusage(2) measures: on a busy host they differ by a tenth and more, so
 * that a KILL after most of the time is taken for the limit's.
 */
static bool ending_is_cpu_time(const struct ending *e, const struct plan *plan)
{
	int64_t limit = plan->limits.cpu_time;

	if (limit == LIMIT_NONE)
		return false;
	if (WIFEXITED(e->status))
		return WEXITSTATUS(e->status) == 128 + SIGXCPU;
	if (WTERMSIG(e->status) == SIGXCPU)
		return true;
	return WTERMSIG(e->status) == SIGKILL &&
	       usage_cpu_ms(&e->usage) >= limit - limit / 4;
}

static void ending_status(const struct ending *e, const struct plan *plan,
			  struct result *ret)
{
	if (ending_is_cpu_time(e, plan)) {
		ret->outcome = OUTCOME_CPU_TIME;
		ret->exit_code = 124;
		result_say_limit(ret, "cpu_time", "--cpu-time",
				 units_format_time(plan->limits.cpu_time));
		return;
	}
	if (WIFSIGNALED(e->status)) {
		ret->outcome = OUTCOME_SIGNALED;
		ret->exit_code = 128 + WTERMSIG(e->status);
	} else {
		ret->outcome = OUTCOME_EXITED;
		ret->exit_code = WEXITSTATUS(e->status);
	}
}

/* The command failed, and the disk was full: that is most likely why. */
static void ending_disk(const struct ending *e, const struct plan *plan,
			struct result *ret)
{
	if (!e->disk_full || !ret->exit_code)
		return;
	strv_add(&ret->limits_hit, "disk");
	if (ret->message)
		return;
	if (plan->limits.disk == LIMIT_NONE) {
		result_say(ret, mem_strdup("the disk is full (--disk)"));
		return;
	}
	auto_free char *size = units_format_size(plan->limits.disk);

	result_say(ret, mem_printf("disk %s is full (--disk)", size));
}

/* Output that could not be delivered is not passed over in silence. */
static void ending_output(const struct ending *e, struct result *ret)
{
	if (e->write_error && !ret->exit_code)
		ret->exit_code = 125;
	if (ret->message)
		return;
	if (e->write_error)
		result_say(ret, mem_printf("write the command's output: %s",
					   strerror(e->write_error)));
	else if (e->gave_up)
		result_say(ret, mem_strdup("output was cut: nobody took it"));
}

void ending_result(const struct ending *e, const struct plan *plan,
		   struct result *ret)
{
	if (e->started_at)
		ret->wall_ms = e->ended_at - e->started_at;
	if (e->exited) {
		ret->cpu_ms = usage_cpu_ms(&e->usage);
		ret->max_rss = (int64_t)e->usage.ru_maxrss * 1024;
		ret->signal = WIFSIGNALED(e->status) ? WTERMSIG(e->status) : 0;
	} else if (e->killed && e->started_at) {
		ret->signal = SIGKILL;
	}
	if (e->cause != CAUSE_NONE)
		ending_cause(e, plan, ret);
	else
		ending_status(e, plan, ret);
	ending_disk(e, plan, ret);
	ending_output(e, ret);
}
