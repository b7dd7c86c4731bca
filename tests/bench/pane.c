/* pane - measures how fast the agent's pane takes a command's output: pane [-r ROWS] [-c COLS]
 * CMD... */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "tui/term/pty.h"
#include "tui/term/term.h"

#define FRAME_US  16000
#define BUDGET_US 8000

static void drop(void *data, const void *bytes, size_t len)
{
	(void)bytes;
	*(size_t *)data += len;
}

static long rss_kib(void)
{
	AUTO_FILE FILE *f = fopen("/proc/self/statm", "re");
	long pages = 0;

	if (!f || fscanf(f, "%*d %ld", &pages) != 1)
		return 0;
	return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

static pid_t start(char *const *argv, int slave)
{
	pid_t pid = fork();

	if (pid == 0) {
		setsid();
		dup2(slave, 0);
		dup2(slave, 1);
		dup2(slave, 2);
		execvp(*argv, argv);
		_exit(127);
	}
	return pid;
}

int main(int argc, char **argv)
{
	static const struct term_events on = {.output = drop};
	struct pty pty = PTY_INIT;
	struct err err = {0};
	struct surface s;
	struct term *t;
	size_t answers = 0;
	int slave, r, rows = 24, cols = 80, opt, frames = 0, turns = 0;
	int64_t begin, frame, turn, longest = 0;
	double sec;

	while ((opt = getopt(argc, argv, "+r:c:")) >= 0) {
		if (opt == 'r')
			rows = atoi(optarg);
		else if (opt == 'c')
			cols = atoi(optarg);
		else
			return 125;
	}
	if (optind == argc || pty_open(&pty, rows, cols, &slave, &err) < 0) {
		fprintf(stderr, "pane: %s\n", err.text);
		return 125;
	}
	t = term_new(rows, cols, &on, &answers);
	surface_init(&s, cols, rows);
	begin = frame = clock_mono_us();
	start(argv + optind, slave);
	close(slave);
	do {
		struct pollfd pfd = {.fd = pty.fd, .events = POLLIN};

		poll(&pfd, 1, 16);
		turn = clock_mono_us();
		r = pty_pump(&pty, t, BUDGET_US);
		longest = MAX(longest, clock_mono_us() - turn);
		turns++;
		if (term_dirty(t) && clock_mono_us() - frame >= FRAME_US) {
			frame = clock_mono_us();
			term_draw(t, &s, (struct rect){0, 0, cols, rows});
			frames++;
		}
	} while (r >= 0);
	sec = (double)(clock_mono_us() - begin) / 1e6;
	while (wait(NULL) > 0)
		;
	printf("pane %dx%d: %.3f s, %d frames, %d turns, longest %.1f ms, %zu lines kept, "
	       "%ld KiB resident\n",
	       cols, rows, sec, frames, turns, (double)longest / 1000, term_history(t), rss_kib());
	surface_done(&s);
	term_free(t);
	pty_done(&pty);
	return 0;
}
