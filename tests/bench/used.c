/* used - runs a command; prints its duration and the processor time of all its processes, in ms. */
/* SPDX-License-Identifier: MIT */
/* usage: used COMMAND ARG...
 *
 * Drops the command's output. The duration ends with the command. The processor time is that of
 * every process below it that was waited for, also of one that outlives it: cordon's keeper, which
 * has waited for all processes inside. Exit status: the command's. */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static double ms(struct timeval t)
{
	return (double)t.tv_sec * 1e3 + (double)t.tv_usec / 1e3;
}

static void start(char **argv)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	dup2(null, STDIN_FILENO);
	dup2(null, STDOUT_FILENO);
	execvp(argv[0], argv);
	_exit(127);
}

int main(int argc, char **argv)
{
	double began, ended = 0;
	struct rusage used;
	int status, result = 125;
	pid_t pid, got;

	if (argc < 2)
		errx(2, "usage: used COMMAND ARG...");
	/* Orphans become our children. */
	if (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) < 0)
		err(125, "subreaper");
	began = now_ms();
	pid = fork();
	if (pid == 0)
		start(argv + 1);
	if (pid < 0)
		err(125, "fork");
	while ((got = waitpid(-1, &status, 0)) > 0 || errno == EINTR) {
		if (got != pid)
			continue;
		ended = now_ms();
		result = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	}
	getrusage(RUSAGE_CHILDREN, &used);
	printf("%.1f %.1f\n", ended - began, ms(used.ru_utime) + ms(used.ru_stime));
	return result;
}
