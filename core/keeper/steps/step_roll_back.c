/* step_roll_back - rolls an open step back, for a safeguard or an API. */
/* SPDX-License-Identifier: MIT */
#include "core/keeper/steps/steps.h"

#include <signal.h>

#include "core/keeper/folders/folders.h"
#include "core/keeper/folders/unconfined.h"
#include "core/keeper/guest_facts.h"
#include "core/keeper/loop.h"
#include "core/keeper/state.h"
#include "core/keeper/steps/command.h"
#include "core/keeper/steps/step_frames.h"
#include "core/keeper/watch/watch.h"

struct roll_back {
	struct step *step;
	struct err *err;
};

static int roll_back(void *arg)
{
	const struct roll_back *r = arg;

	return journal_roll_back(r->step, r->err);
}

/*
 * Begins a step for the descriptors that were opened in the step and are still open. Without it a
 * write through one would belong to no step, and no later undo would notice it. The step ends when
 * the last of them is closed.
 */
static void linger(struct keeper *k, const struct command *of)
{
	struct command *c = command_new(k, STEP_AMBIENT);
	struct step *s;

	buf_fmt(&c->label, "left open: %s", of->label.data);
	if (c->label.len > LABEL_MAX)
		buf_truncate(&c->label, LABEL_MAX);
	if (steps_begin(k, c, k->journal, &s) < 0) {
		command_retire(k, c);
		return;
	}
	c->lingers = true;
	if (!step_adopt_writers(s))
		steps_finish(k, c);
}

int steps_roll_back(struct keeper *k, struct command *c, struct err *err)
{
	AUTO_FREE char *why = xstrdup(step_why(c->step));
	struct roll_back args = {c->step, err};
	int64_t id = step_id(c->step);
	size_t paths = step_paths(c->step);
	bool granted = false;
	int r;

	for (size_t i = 0; i < k->n_folders; i++)
		granted |= k->folders[i]->granted;
	steps_announce(k, c);
	if (c->exit_status < 0)
		c->exit_status = 128 + SIGKILL;
	keeper_umask(k, 077);
	/* The step may have changed granted directories, which only the other thread can open. */
	watch_own_begin(k);
	r = granted ? folder_run_outside(k, roll_back, &args) : roll_back(&args);
	watch_own_end(k);
	doors_rolled_back(k, id);
	c->step = NULL;
	keeper_news(k);
	step_frames_end(
		k, c,
		&(struct step_end){
			.id = id, .paths = paths, .kept = true, .why = why, .name = c->label.data});
	linger(k, c);
	return r;
}
