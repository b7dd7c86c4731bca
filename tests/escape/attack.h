/* attack - shared by the attack programs: makes an attempt and prints whether it was refused. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* A program here is `PROGRAM ATTACK [ARG...]`. Each attempt prints one line, "denied WHAT ERRNO" or
 * "ALLOWED WHAT"; run.sh searches for ALLOWED, and checks the host afterwards. */
struct attack {
	const char *name;
	void (*run)(char **args);
	int n_args;
};

/* Not through a union of int and long: glibc's wrappers would hide what the kernel receives. */
#define HIGH_BITS (1UL << 32)

static inline void said(const char *what, long result)
{
	if (result < 0)
		printf("denied %s %s\n", what, strerrorname_np(errno));
	else
		printf("ALLOWED %s\n", what);
	fflush(stdout);
}

/* Prints the result of a check that does not end in an errno. */
static inline void said_if(const char *what, int refused, const char *how)
{
	if (refused)
		printf("denied %s %s\n", what, how);
	else
		printf("ALLOWED %s\n", what);
	fflush(stdout);
}

static inline int attack_main(int argc, char **argv, const struct attack *list, size_t n)
{
	for (size_t i = 0; argc > 1 && i < n; i++) {
		if (strcmp(argv[1], list[i].name) != 0)
			continue;
		if (argc - 2 != list[i].n_args)
			break;
		list[i].run(argv + 2);
		return 0;
	}
	fprintf(stderr, "usage: %s ATTACK [ARG...]\n", argv[0]);
	for (size_t i = 0; i < n; i++)
		fprintf(stderr, "  %s (%d arguments)\n", list[i].name, list[i].n_args);
	return 2;
}
