/* rules - the time that ten thousand rules add to a start: read, checked, searched; in
 * milliseconds. */
/* SPDX-License-Identifier: MIT */
/* usage: rules [ROUNDS]
 *
 * Each round is a process of its own, like a start, because new memory costs as much as the work in
 * it. Prints the processor time above that of a start without rules, the least of all rounds. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/base/io.h"
#include "core/base/path.h"
#include "core/config/config.h"
#include "core/policy/policy.h"

#define RULES 10000

static const char *const sorts[] = {
	NULL,
	"allow = read ~/dir%d/**",
	"allow = read,exec ~/tools/v%d/bin/**",
	"deny = read ~/src/project/file%d.c",
	"deny = write $FOLDER/generated/part%d",
	"hide = read $FOLDER/**/secret%d*",
	"ask = write /srv/data/%d/**",
};

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* Writes twenty rules a section, as tools do. */
static void write_rules(const char *file, const char *sort)
{
	FILE *f = fopen(file, "w");

	for (int i = 0; f && sort && i < RULES; i++) {
		if (i % 20 == 0)
			fprintf(f, "[rule \"group %d\"]\n", i / 20);
		fputc('\t', f);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
		fprintf(f, sort, i);
#pragma GCC diagnostic pop
		fputc('\n', f);
	}
	if (f)
		fclose(f);
}

static double load(const char *home, const char *folder, const char *file)
{
	const char *const folders[] = {folder, NULL};
	const struct config_spec spec = {.home = home,
					 .folder = folder,
					 .config_home = home,
					 .org_file = "/dev/null/none",
					 .file = file};
	struct policy_spec about = {.home = home, .folders = folders, .path = getenv("PATH")};
	struct config *c = NULL;
	struct policy *p = NULL;
	struct err err = {0};
	double t = now_ms();
	int r = config_load(&c, &spec, &err);

	about.config = c;
	about.dynamic = true;
	if (r == 0)
		r = policy_new(&p, &about, &err);
	t = now_ms() - t;
	if (r < 0)
		fprintf(stderr, "rules: %s\n", err.text);
	return r < 0 ? -1 : t;
}

static double least(int rounds, const char *home, const char *folder, const char *file)
{
	double best = 1e9;

	for (int i = 0; i < rounds; i++) {
		double t = 0;
		int fds[2];
		pid_t pid;

		if (pipe2(fds, O_CLOEXEC) < 0)
			return -1;
		pid = fork();
		if (pid == 0) {
			t = load(home, folder, file);
			_exit(io_write_all(fds[1], &t, sizeof(t)) < 0);
		}
		close(fds[1]);
		if (pid < 0 || read(fds[0], &t, sizeof(t)) != sizeof(t) || t < 0)
			return -1;
		close(fds[0]);
		waitpid(pid, NULL, 0);
		best = MIN(best, t);
	}
	return best;
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 20;
	/* In small letters like home directories, because restrictions also match other
	 * spellings. */
	AUTO_FREE char *made = xasprintf("/tmp/rules-%d", (int)getpid());
	AUTO_FREE char *home = mkdir(made, 0700) == 0 ? realpath(made, NULL) : NULL;
	AUTO_FREE char *folder = home ? path_join(home, "work") : NULL;
	AUTO_FREE char *file = home ? path_join(home, "rules") : NULL;
	double base = 0;

	if (!home || mkdir(folder, 0700) < 0)
		return 1;
	for (size_t i = 0; i < ARRAY_LEN(sorts) && base >= 0; i++) {
		double t;

		write_rules(file, sorts[i]);
		t = least(rounds, home, folder, file);
		if (sorts[i] && t >= 0)
			printf("%6.2f  %s\n", t - base, sorts[i]);
		else
			base = t;
	}
	return io_remove_tree(AT_FDCWD, home) < 0 || base < 0;
}
