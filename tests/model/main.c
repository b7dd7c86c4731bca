/* main - runs sequences by number, several at a time; prints how to repeat a failure. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/model/model.h"

/*
 * usage: model [-n SEQUENCES] [-t SECONDS] [-j JOBS] [-s FIRST SEED] [-d DIRECTORY] [-e DIRECTORY
 * FOR STORES] [-v] [-k] [-x] TAP: one line. -v prints every act, -x leaves out external edits, -k
 * continues after a failure without shrinking it.
 */
struct options {
	struct setting set;
	uint64_t first;
	long n, seconds, jobs;
	bool alone; /* without external edits */
	bool go_on; /* after a failure, without shrinking it */
};

static long now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec;
}

static int one(const struct options *o, uint64_t seed)
{
	struct sequence *s = xcalloc(1, sizeof(*s));
	AUTO_FREE char *failure = NULL;

	generate(s, seed, !o->alone);
	failure = play(&o->set, s, seed, false);
	if (failure && !o->go_on) {
		struct setting set = o->set;

		set.verbose = false;
		shrink(&set, s, seed, failure);
		set.verbose = true;
		fprintf(stderr, "# shrunk to %zu acts:\n", s->n);
		free(play(&set, s, seed, false));
	}
	if (failure)
		fprintf(stderr, "# again: %s -n 1 -s %llu -v%s\n", program_invocation_name,
			(unsigned long long)seed, o->alone ? " -x" : "");
	free(s);
	return failure != NULL;
}

/* Runs every jobs-th seed, from the number-th on; writes their number to fd. */
static int run_job(const struct options *o, long number, int fd)
{
	long end = now() + o->seconds, done = 0;
	int failed = 0;

	for (long i = number; i < o->n && (!o->seconds || now() < end); i += o->jobs) {
		done++;
		failed |= one(o, o->first + (uint64_t)i);
		if (failed && !o->go_on)
			break;
	}
	return write(fd, &done, sizeof(done)) != sizeof(done) || failed;
}

static int run(const struct options *o)
{
	long done = 0, part;
	int pipes[2], bad = 0, status;

	if (pipe(pipes) < 0)
		return 2;
	for (long i = 0; i < o->jobs; i++)
		if (fork() == 0)
			_exit(run_job(o, i, pipes[1]));
	close(pipes[1]);
	while (read(pipes[0], &part, sizeof(part)) == sizeof(part))
		done += part;
	while (wait(&status) > 0)
		bad |= status;
	printf("1..1\n%sok 1 - %ld sequences from seed %llu on agree with the model\n",
	       bad ? "not " : "", done, (unsigned long long)o->first);
	return bad != 0;
}

int main(int argc, char **argv)
{
	struct options o = {.n = 200, .jobs = 2, .first = 1};
	int c;

	o.set.base = getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp";
	while ((c = getopt(argc, argv, "n:t:j:s:d:e:vkx")) >= 0)
		switch (c) {
		case 'n':
			o.n = atol(optarg);
			break;
		case 't':
			o.seconds = atol(optarg);
			break;
		case 'j':
			o.jobs = atol(optarg);
			break;
		case 's':
			o.first = strtoull(optarg, NULL, 10);
			break;
		case 'd':
			o.set.base = optarg;
			break;
		case 'e':
			o.set.state = optarg;
			break;
		case 'v':
			o.set.verbose = true;
			break;
		case 'x':
			o.alone = true;
			break;
		case 'k':
			o.go_on = true;
			break;
		default:
			return 2;
		}
	return run(&o);
}
