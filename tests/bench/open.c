/* open - the console's work to open a step: open FOLDER STATE STEP; milliseconds on one line. */
/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>

#include "core/base/clock.h"
#include "tui/console/views/review.h"

/* Runs the worker's job at once, so that the hand-over is not measured. */
static void submit(void *data, void (*work)(void *job), void (*done)(void *job), void *job)
{
	(void)data;
	work(job);
	done(job);
}

static void news(void *view)
{
	(void)view;
}

int main(int argc, char **argv)
{
	const char *folders[2] = {NULL};
	struct review_spec spec = {.folders = folders, .submit = submit, .news = news};
	struct review *r;
	int64_t began, listed, read;

	if (argc != 4) {
		fprintf(stderr, "usage: open FOLDER STATE STEP\n");
		return 125;
	}
	began = clock_mono_us();
	folders[0] = argv[1];
	spec.state_dir = argv[2];
	spec.step = atoll(argv[3]);
	r = review_new(&spec);
	review_more(r);
	listed = clock_mono_us();
	review_more(r);
	read = clock_mono_us();
	if (r->result < 0 || r->n_files == 0) {
		fprintf(stderr, "open: %s\n", r->result < 0 ? r->why : "the step is empty");
		return 1;
	}
	printf("%.1f %.1f\n", (double)(listed - began) / 1000, (double)(read - listed) / 1000);
	review_free(r);
	return 0;
}
