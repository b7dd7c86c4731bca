/* calls - the cost of one call that changes a file: microseconds of each kind, one a line. */
/* SPDX-License-Identifier: MIT */
/* usage: calls [COUNT [ROUNDS]]
 *
 * In the current directory: creates, renames, changes and removes COUNT files in each round. The
 * best round of a kind counts, as other programs on the machine only make it slower. Run natively,
 * in cordon, and by the simplest keeper (floor.c), it shows the cost of a trapped call and its
 * parts. */
#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define MODE 0644

static double now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static const char *name_of(char kind, int i)
{
	static char name[2][32];
	static int at;

	at = !at;
	snprintf(name[at], sizeof(name[at]), "%c%d", kind, i);
	return name[at];
}

/* O_CREAT | O_TRUNC is used by a shell's > and by fopen(). */
static int create(int i)
{
	int fd = open(name_of('a', i), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, MODE);

	if (fd < 0)
		return -1;
	if (write(fd, "x\n", 2) != 2)
		return -1;
	return close(fd);
}

/* Used by tar, cp and git. */
static int create_excl(int i)
{
	int fd = open(name_of('e', i), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, MODE);

	if (fd < 0)
		return -1;
	if (write(fd, "x\n", 2) != 2)
		return -1;
	return close(fd);
}

static int kept = -1; /* a file of this run, open for writing */

static int change_mode(int i)
{
	return fchmod(kept, i % 2 ? 0600 : MODE);
}

static int change_times(int i)
{
	struct timespec t[2] = {{.tv_sec = 1000 + i}, {.tv_sec = 2000 + i}};

	return futimens(kept, t);
}

static int rename_one(int i)
{
	return rename(name_of('a', i), name_of('b', i));
}

static int remove_one(int i)
{
	return unlink(name_of('b', i));
}

static int remove_excl(int i)
{
	return unlink(name_of('e', i));
}

static int make_directory(int i)
{
	return mkdir(name_of('d', i), 0755);
}

static int remove_directory(int i)
{
	return rmdir(name_of('d', i));
}

static const struct kind {
	const char *name;
	int (*call)(int i);
} kinds[] = {
	{"create", create},	      {"create-excl", create_excl}, {"fchmod", change_mode},
	{"futimens", change_times},   {"rename", rename_one},	    {"unlink", remove_one},
	{"unlink-excl", remove_excl}, {"mkdir", make_directory},    {"rmdir", remove_directory},
};

#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

int main(int argc, char **argv)
{
	int count = argc > 1 ? atoi(argv[1]) : 500, rounds = argc > 2 ? atoi(argv[2]) : 5;
	double best[KINDS];

	if (count < 1 || rounds < 1)
		errx(2, "usage: calls [COUNT [ROUNDS]]");
	kept = open("kept", O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, MODE);
	if (kept < 0)
		err(1, "kept");
	for (int round = 0; round < rounds; round++) {
		for (size_t k = 0; k < KINDS; k++) {
			double began = now_us(), took;

			for (int i = 0; i < count; i++)
				if (kinds[k].call(i) != 0)
					err(1, "%s %d", kinds[k].name, i);
			took = (now_us() - began) / count;
			if (round == 0 || took < best[k])
				best[k] = took;
		}
	}
	for (size_t k = 0; k < KINDS; k++)
		printf("%s %.1f\n", kinds[k].name, best[k]);
	return unlink("kept");
}
