/* prune - removes the oldest steps, by the limits of the store or on request. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/io.h"
#include "core/base/log.h"
#include "core/journal/history/after_image.h"
#include "core/journal/history/list.h"
#include "core/journal/history/prune.h"
#include "core/journal/history/pruned_concurrent.h"
#include "core/journal/journal.h"
#include "core/journal/mark.h"
#include "core/journal/store/news.h"
#include "core/journal/store/store.h"
#include "core/journal/store/usage.h"
#include "core/journal/upkeep.h"

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

/* ---- making room ------------------------------------------------------------------------------
 */

/* Returns the oldest number among the images of kept and undone steps. */
static uint64_t oldest_after_image(const struct journal *j)
{
	static const char *const where[] = {"steps", "redo"};
	uint64_t oldest = UINT64_MAX;

	for (size_t k = 0; k < ARRAY_LEN(where); k++) {
		AUTO_NAMES struct names names = {0};

		if (store_names(j, where[k], &names) < 0)
			return 0;
		for (size_t i = 0; i < names.n; i++) {
			AUTO_FREE char *name = xasprintf("%s/%s/post", where[k], names.list[i]);
			uint64_t seq = after_image_peek_seq(j->store, name);

			oldest = seq ? MIN(oldest, seq) : oldest;
		}
	}
	return oldest;
}

/*
 * The images of steps whose redo was dropped show the present state of their paths. Each step has
 * newer images of all of its own paths. So images that are older than those of all steps are about
 * no path that can still be undone.
 */
static void drop_after_images(struct journal *j)
{
	uint64_t oldest = 0;
	AUTO_NAMES struct names names = {0};

	if (store_names(j, "posts", &names) < 0)
		return;
	if (names.n)
		oldest = oldest_after_image(j);
	for (size_t i = 0; i < names.n; i++) {
		AUTO_FREE char *name = xasprintf("posts/%s", names.list[i]);
		uint64_t seq = after_image_peek_seq(j->store, name);

		if (seq && seq < oldest && unlinkat(j->store, name, 0) < 0)
			break; /* only space */
	}
}

/* ---- the note of pruned steps ------------------------------------------------------------------
 */

#define PRUNED_FILE "pruned"

bool journal_pruned(const struct journal *j, struct journal_pruned *ret)
{
	AUTO_FREE char *text = NULL;

	return io_read_file(j->store, PRUNED_FILE, 256, &text, NULL) == 0 &&
	       sscanf(text, "%" SCNd64 " %zu %" SCNd64, &ret->last, &ret->n, &ret->us) == 3;
}

/* Notes the pruned steps. Without the note `cordon log` says less. */
static void note_pruned(const struct journal *j, const struct journal_prune *e)
{
	struct journal_pruned was = {0};
	AUTO_BUF struct buf b = BUF_INIT;

	if (!e->n)
		return;
	journal_pruned(j, &was);
	buf_fmt(&b, "%" PRId64 " %zu %" PRId64 "\n", (int64_t)llabs(e->last), was.n + e->n,
		clock_wall_us());
	if (io_write_file(j->store, PRUNED_FILE, 0600, b.data, b.len, false) < 0)
		log_warn("journal", "it cannot be noted in '%s' which steps went", j->store_path);
}

/* ---- pruning -----------------------------------------------------------------------------------
 */

#define NOTES_MAX 20 /* times journal.steps */

/* The steps that journal.steps counts: all but notes. */
struct counted {
	bool *note; /* for each step; NULL: there are few enough */
	size_t n;
};

static struct counted count(const struct journal *j, const struct journal_prune *e,
			    char *const *names, size_t n)
{
	struct counted c = {.n = n};

	if (!e->steps || n <= e->steps)
		return c;
	c.note = xcalloc(n, sizeof(*c.note));
	for (size_t i = 0; i < n; i++) {
		AUTO_FREE char *dir = xasprintf("steps/%s", names[i]);

		c.note[i] = history_dir_is_note(j, dir);
		c.n -= c.note[i];
	}
	return c;
}

static bool are_too_many(const struct journal_prune *e, const struct counted *c, size_t left)
{
	return c->note && left > e->steps && (c->n > e->steps || left > NOTES_MAX * e->steps);
}

static int prune(struct journal *j, struct journal_prune *e, char *const *names, size_t n,
		 struct pruned_concurrent *b)
{
	uint64_t total = e->size ? store_holds(j) : 0, freed;
	struct counted c = count(j, e, names, n);
	const int64_t marked = journal_marked(j);
	int r = 0;

	for (size_t i = 0; r == 0 && i < n; i++) {
		AUTO_FREE char *dir = xasprintf("steps/%s", names[i]);
		int64_t id = atoll(names[i]);

		if (n - i <= e->spare || llabs(id) > marked ||
		    (j->evict_below && llabs(id) >= j->evict_below))
			break;
		if (!are_too_many(e, &c, n - i) && !(e->size && total > e->size) &&
		    !(e->before_us && history_step_ended(j, dir) < e->before_us) &&
		    e->n >= e->at_least)
			break;
		r = pruned_concurrent_let_go(b, i, e->size ? store_held(j, dir) : 0, &freed);
		if (r < 0)
			break;
		total -= MIN(total, freed);
		c.n -= c.note && !c.note[i];
		e->first = e->n ? e->first : id;
		e->last = id;
		e->n++;
	}
	while (r == 0 && e->size && total > e->size && pruned_concurrent_drop_one(b, &freed))
		total -= MIN(total, freed);
	free(c.note);
	return r;
}

int journal_prune(struct journal *j, struct journal_prune *e)
{
	struct pruned_concurrent b = {.j = j, .look_only = e->look_only};
	AUTO_NAMES struct names names = {0};
	int r = store_names(j, "steps", &names);

	b.steps = names.list;
	b.n_steps = names.n;
	if (r == 0)
		r = pruned_concurrent_begin(&b);
	if (r == 0)
		r = prune(j, e, names.list, names.n, &b);
	pruned_concurrent_done(&b);
	if (e->note && !e->look_only)
		note_pruned(j, e);
	if ((e->n || b.dropped) && !e->look_only) {
		drop_after_images(j);
		if (!j->tidy && !e->later)
			store_empty_trash(j, NULL);
	}
	return r;
}

/* ---- a session ---------------------------------------------------------------------------------
 */

static size_t steps_kept(const struct journal *j)
{
	AUTO_NAMES struct names names = {0};

	if (store_names(j, "steps", &names) < 0)
		return 0;
	return names.n;
}

static void weigh_all(struct journal *j)
{
	j->n_kept = steps_kept(j);
	j->holds = j->options.size ? store_holds(j) : 0;
}

void prune_hold(struct journal *j)
{
	weigh_all(j);
	j->at_start = j->n_kept;
	j->lasting = true;
}

static void find_full(struct journal *j)
{
	const struct journal_options *o = &j->options;
	bool was = j->full;

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

static int fit(struct journal *j, bool later)
{
	static const char why[] =
		", can no longer be undone: the limits journal.steps and journal.size";
	struct journal_prune e = {.size = j->options.size,
				  .steps = j->options.steps,
				  .spare = 1,
				  .later = later,
				  .note = true};
	int r;

	if (!e.size && !e.steps)
		return 0;
	if (j->lasting) {
		weigh_all(j);
		find_full(j);
		return 0;
	}
	r = journal_prune(j, &e);
	j->urgent |= e.n > 0;
	if (e.n == 1)
		journal_say(j, "the oldest step, %" PRId64 "%s", e.first, why);
	else if (e.n)
		journal_say(j, "the oldest steps, %" PRId64 " to %" PRId64 "%s", e.first, e.last,
			    why);
	return r;
}

int prune_to_fit(struct journal *j)
{
	return fit(j, false);
}

int prune_to_fit_later(struct journal *j)
{
	return fit(j, true);
}

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
