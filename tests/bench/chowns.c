/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Times chown(2) of a file of its own to each of some ids in turn, from inside
 * a box: the ids that it has are the kernel's work, the others root
 * emulation's. Prints the median of a call for each, and its ratio to the first
 * one's. Static, since it runs in any tree. It trusts its arguments.
 *
 *   chowns FILE ID...
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { IDS_MAX = 8, ROUNDS = 400, CALLS = 500 };

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Nanoseconds of one call. */
static double time_batch(const char *file, unsigned id, bool *failed)
{
	double start = now();

	for (int i = 0; i < CALLS; i++)
		if (chown(file, id, id) < 0)
			*failed = true;
	return (now() - start) / CALLS;
}

int main(int argc, char **argv)
{
	static double times[IDS_MAX][ROUNDS];
	bool failed[IDS_MAX] = { false };
	int ids = argc - 2;
	double base = 0;

	if (ids < 1 || ids > IDS_MAX)
		return 2;
	int fd = open(argv[1], O_WRONLY | O_CREAT | O_CLOEXEC, 0644);

	if (fd < 0) {
		perror(argv[1]);
		return 1;
	}
	close(fd);
	for (int round = 0; round < ROUNDS; round++)
		for (int i = 0; i < ids; i++)
			times[i][round] = time_batch(
				argv[1],
				(unsigned)strtoul(argv[i + 2], NULL, 10),
				&failed[i]);
	for (int i = 0; i < ids; i++) {
		qsort(times[i], ROUNDS, sizeof(double), compare);
		double median = times[i][ROUNDS / 2];

		if (i == 0)
			base = median;
		printf("chown to %-10s %8.0f ns %7.2f%s\n", argv[i + 2], median,
		       median / base, failed[i] ? " (failed)" : "");
	}
	return 0;
}
