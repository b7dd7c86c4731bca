/* session_limits - applies journal.steps and journal.size: for a session beside it, in parts. */
/* SPDX-License-Identifier: MIT */
#include "core/journal/history/session_limits.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/log.h"
#include "core/journal/history/prune.h"
#include "core/journal/journal.h"
#include "core/journal/store/news.h"
#include "core/journal/store/store.h"
#include "core/journal/store/usage.h"

void journal_set_limits(struct journal *j, const struct journal_options *o)
{
	struct journal *k = j;

	do {
		k->options.size = o->size;
		k->options.step_size = o->step_size;
		k->options.steps = o->steps;
	} while ((k = k->sibling) != j);
}

#define SESSION_STEPS 100 /* times journal.steps may one session add */

static void weigh_all(struct journal *j)
{
	AUTO_NAMES struct names names = {0};

	j->n_kept = store_names(j, "steps", &names) < 0 ? 0 : names.n;
	j->holds = j->options.size ? store_holds(j) : 0;
}

static void find_full(struct journal *j)
{
	const struct journal_options *o = &j->options;
	bool was = j->full;

	if (j->pruning) /* the steps of earlier sessions are not counted yet */
		return;
	j->full = (o->steps && j->n_kept >= j->at_start + SESSION_STEPS * o->steps) ||
		  (o->size && j->holds > o->size);
	if (!j->full || was)
		return;
	j->urgent = true;
	journal_say(j,
		    "the history is full (journal.steps, journal.size): nothing of it goes while "
		    "this session lasts, and commands that run within five seconds are one step "
		    "from now on");
}

bool journal_is_full(const struct journal *j)
{
	const struct journal *k = j;
	bool full = false;

	do
		full |= k->full;
	while ((k = k->sibling) != j);
	return full;
}

static struct journal_prune limits_of(const struct journal *j)
{
	return (struct journal_prune){
		.size = j->options.size, .steps = j->options.steps, .spare = 1, .note = true};
}

static void tell(struct journal *j, const struct journal_prune *e)
{
	static const char why[] =
		", can no longer be undone: the limits journal.steps and journal.size";

	j->urgent |= e->n > 0;
	if (e->n == 1)
		journal_say(j, "the oldest step, %" PRId64 "%s", e->first, why);
	else if (e->n)
		journal_say(j, "the oldest steps, %" PRId64 " to %" PRId64 "%s", e->first, e->last,
			    why);
}

int prune_to_fit(struct journal *j)
{
	struct journal_prune e = limits_of(j);
	int r;

	if (!e.size && !e.steps)
		return 0;
	if (j->lasting && j->pruning)
		return 0; /* its end counts all steps */
	if (j->lasting) {
		weigh_all(j);
		find_full(j);
		return 0;
	}
	r = journal_prune(j, &e);
	tell(j, &e);
	return r;
}

/* ---- the steps of earlier sessions -------------------------------------------------------------
 */

/*
 * A session's start would wait for it: each step is read, and 3000 take 0.2 s. So the keeper goes
 * on with it between calls of the agent. Its list of steps is that of the session's beginning: no
 * step of the session goes. It is finished before an undo, a redo or a restore, which then find the
 * steps that stay. If the process dies the next session begins anew.
 */
struct session_pruning {
	struct journal_prune limits;
	struct pruning pruning;
};

int prune_begin_session(struct journal *j, bool settled)
{
	struct session_pruning *s;

	j->lasting = true;
	if (settled || (!j->options.size && !j->options.steps)) {
		weigh_all(j);
		j->at_start = j->n_kept;
		return 0;
	}
	j->pruning = s = xcalloc(1, sizeof(*s));
	s->limits = limits_of(j);
	return pruning_begin(&s->pruning, j, &s->limits);
}

void prune_stop(struct journal *j)
{
	struct session_pruning *s = take_ptr(&j->pruning);

	if (!s)
		return;
	pruning_end(&s->pruning);
	free(s);
}

/* Returns how many steps went. */
static size_t finish(struct journal *j)
{
	const struct session_pruning *s = j->pruning;
	size_t gone = s->limits.n;

	if (s->pruning.result < 0)
		log_warn("journal", "the oldest steps of '%s' stay: %s", j->folder,
			 strerror(-s->pruning.result));
	j->at_start = s->pruning.names.n - gone;
	j->n_kept += j->at_start;
	j->holds += s->pruning.total;
	tell(j, &s->limits);
	prune_stop(j);
	find_full(j);
	return gone;
}

static size_t finish_now(struct journal *j)
{
	while (j->pruning && pruning_go_on(&j->pruning->pruning))
		;
	return j->pruning ? finish(j) : 0;
}

bool journal_prune_on(struct journal *j, size_t parts)
{
	struct journal *k = j;

	do {
		while (k->pruning && parts) {
			parts--;
			if (!pruning_go_on(&k->pruning->pruning))
				finish(k);
		}
		if (k->pruning)
			return true;
	} while ((k = k->sibling) != j);
	return false;
}

/* ---- while it lasts ----------------------------------------------------------------------------
 */

int prune_after_step(struct journal *j, int64_t id)
{
	AUTO_FREE char *dir = xasprintf("steps/%" PRId64, id);

	if (!j->lasting)
		return prune_to_fit(j);
	j->n_kept++;
	j->holds += j->options.size ? store_held(j, dir) : 0;
	find_full(j);
	return 0;
}

bool prune_for_rollback(struct journal *j)
{
	struct journal_prune e = {.at_least = 1, .note = true};

	if (finish_now(j)) {
		store_empty_trash(j, NULL);
		return true;
	}
	if (journal_prune(j, &e) < 0)
		return false;
	if (!e.n && !pruned_concurrent_clear(j))
		return false;
	store_empty_trash(j, NULL);
	j->urgent |= e.n > 0;
	if (e.n)
		journal_say(j,
			    "step %" PRId64
			    " can no longer be undone: it made room for a rollback, "
			    "as the disk is full",
			    e.first);
	return true;
}
