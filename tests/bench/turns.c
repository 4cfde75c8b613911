/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Times commands in turn (A B C A B C ...), so that what else the machine does
 * hits all of them alike, and prints minimum, median and 90th percentile of
 * each with the ratio of its median to the first one's. One untimed round comes
 * before. It trusts its arguments.
 *
 *   turns [-n ROUNDS] [-b SCRIPT] -- NAME COMMAND [ARG]... [+++ NAME ...]...
 *
 *   -b  for sh, before each command and outside its time
 */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { CANDIDATES_MAX = 32 };

struct candidate {
	const char *name;
	char **command;
	double *times; /* milliseconds, one a round */
	unsigned failures;
};

extern char **environ;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* posix_spawn is vfork: the size of this process plays no part. */
static double time_one(char **command, bool *ret_failed)
{
	posix_spawn_file_actions_t quiet;
	int status = -1;
	pid_t pid;

	posix_spawn_file_actions_init(&quiet);
	posix_spawn_file_actions_addopen(&quiet, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_addopen(&quiet, 1, "/dev/null", O_WRONLY, 0);
	double start = now();

	if (!posix_spawnp(&pid, command[0], &quiet, NULL, command, environ))
		while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
			;
	double taken = now() - start;

	posix_spawn_file_actions_destroy(&quiet);
	*ret_failed = status != 0;
	return taken;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void print_table(struct candidate *c, size_t count, size_t rounds)
{
	double base = 0;

	printf("%-34s %9s %9s %9s %7s %6s\n", "", "min ms", "median", "p90",
	       "ratio", "failed");
	for (size_t i = 0; i < count; i++) {
		qsort(c[i].times, rounds, sizeof(double), compare);
		double median = c[i].times[rounds / 2];

		if (i == 0)
			base = median;
		printf("%-34s %9.3f %9.3f %9.3f %7.2f %6u\n", c[i].name,
		       c[i].times[0], median, c[i].times[rounds * 9 / 10],
		       median / base, c[i].failures);
	}
}

/* Cuts the words at each "+++"; their array stays in use. */
static size_t split(char **words, struct candidate *ret)
{
	size_t count = 0;

	while (*words && count < CANDIDATES_MAX) {
		struct candidate *c = &ret[count++];

		c->name = *words++;
		c->command = words;
		while (*words && strcmp(*words, "+++") != 0)
			words++;
		if (c->command == words)
			return 0;
		if (*words)
			*words++ = NULL;
	}
	return count;
}

int main(int argc, char **argv)
{
	struct candidate candidates[CANDIDATES_MAX] = { 0 };
	char sh[] = "sh", dash_c[] = "-c";
	char *before[] = { sh, dash_c, NULL, NULL };
	size_t rounds = 200;
	int option;

	while ((option = getopt(argc, argv, "+n:b:")) != -1) {
		if (option == 'n')
			rounds = strtoul(optarg, NULL, 10);
		else if (option == 'b')
			before[2] = optarg;
		else
			return 2;
	}
	size_t count = split(argv + optind, candidates);

	if (!count || !rounds)
		return 2;
	for (size_t i = 0; i < count; i++) {
		candidates[i].times = calloc(rounds + 1, sizeof(double));
		if (!candidates[i].times)
			abort();
	}
	for (size_t round = 0; round <= rounds; round++) {
		for (size_t i = 0; i < count; i++) {
			struct candidate *c = &candidates[i];
			bool failed;

			if (before[2])
				time_one(before, &failed);
			/* The round before the first is overwritten. */
			c->times[round ? round - 1 : 0] =
				time_one(c->command, &failed);
			if (failed)
				c->failures++;
		}
	}
	print_table(candidates, count, rounds);
	for (size_t i = 0; i < count; i++)
		free(candidates[i].times);
	return 0;
}
