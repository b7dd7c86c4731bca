/* opens - opens FILE N: the median of N opens of it, in microseconds. */
/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

int main(int argc, char **argv)
{
	int n = argc == 3 ? atoi(argv[2]) : 0;
	double *took = calloc((size_t)(n > 0 ? n : 1), sizeof(*took));

	if (n <= 0 || !took) {
		fprintf(stderr, "usage: opens FILE N\n");
		return 125;
	}
	for (int i = 0; i < n; i++) {
		double began = now();
		int fd = open(argv[1], O_RDONLY | O_CLOEXEC);

		took[i] = now() - began;
		if (fd < 0) {
			perror(argv[1]);
			return 1;
		}
		close(fd);
	}
	qsort(took, (size_t)n, sizeof(*took), compare);
	printf("%.2f\n", took[n / 2]);
	free(took);
	return 0;
}
