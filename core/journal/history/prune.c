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

#define NOTE_EACH 32 /* steps: so many may be missing from the note after a kill */

/* Notes n pruned steps, or the n-th before it goes: without the note `cordon blame` takes the lines
 * of pruned steps for older than the history. */
static void note_pruned(struct pruning *p, size_t n, int64_t last)
{
	struct journal_pruned was = {0};
	AUTO_BUF struct buf b = BUF_INIT;

	if (!p->e->note || p->e->look_only || n <= p->noted)
		return;
	journal_pruned(p->j, &was);
	buf_fmt(&b, "%" PRId64 " %zu %" PRId64 "\n", (int64_t)llabs(last), was.n + n - p->noted,
		clock_wall_us());
	if (io_write_file(p->j->store, PRUNED_FILE, 0600, b.data, b.len, false) < 0)
		log_warn("journal", "it cannot be noted in '%s' which steps went",
			 p->j->store_path);
	else
		p->noted = n;
}

/* ---- pruning -----------------------------------------------------------------------------------
 */

#define NOTES_MAX 20 /* times journal.steps */

static bool are_too_many(const struct pruning *p)
{
	const size_t left = p->names.n - p->at, most = p->e->steps;

	return p->note && left > most && (p->counted > most || left > NOTES_MAX * most);
}

static bool is_too_large(const struct pruning *p)
{
	return p->e->size && p->total > p->e->size;
}

/* Returns whether there is a next step and it goes. */
static bool goes(const struct pruning *p)
{
	const struct journal_prune *e = p->e;
	AUTO_FREE char *dir = NULL;
	int64_t id;

	if (p->names.n <= p->at + e->spare)
		return false;
	dir = xasprintf("steps/%s", p->names.list[p->at]);
	id = llabs(atoll(p->names.list[p->at]));
	if (id > p->marked || (p->j->evict_below && id >= p->j->evict_below))
		return false;
	return are_too_many(p) || is_too_large(p) ||
	       (e->before_us && history_step_ended(p->j, dir) < e->before_us) || e->n < e->at_least;
}

/* The phases. Each does one part, or returns false if none is left. */

static bool measure(struct pruning *p)
{
	AUTO_FREE char *dir = NULL;

	if (p->at == p->names.n || (!p->note && !p->held))
		return false;
	dir = xasprintf("steps/%s", p->names.list[p->at]);
	if (p->note && (p->note[p->at] = history_dir_is_note(p->j, dir)))
		p->counted--;
	if (p->held)
		p->total += p->held[p->at] = store_held(p->j, dir);
	p->at++;
	return true;
}

static bool find_beginnings(struct pruning *p)
{
	return (p->b.n || goes(p)) && pruned_concurrent_look(&p->b);
}

static bool drop_logs(struct pruning *p)
{
	p->total -= MIN(p->total, pruned_concurrent_drop_alone(&p->b));
	return false;
}

static bool let_go(struct pruning *p)
{
	struct journal_prune *e = p->e;
	uint64_t freed = 0;
	int64_t id;

	if (!goes(p))
		return false;
	id = atoll(p->names.list[p->at]);
	if (e->n % NOTE_EACH == 0)
		note_pruned(p, e->n + 1, id);
	p->result = pruned_concurrent_let_go(&p->b, p->at, p->held ? p->held[p->at] : 0, &freed);
	if (p->result < 0)
		return false;
	p->total -= MIN(p->total, freed);
	p->counted -= p->note && !p->note[p->at];
	p->at++;
	e->first = e->n ? e->first : id;
	e->last = id;
	e->n++;
	return true;
}

static bool finish(struct pruning *p)
{
	uint64_t freed;

	while (p->result == 0 && is_too_large(p) && pruned_concurrent_drop_one(&p->b, &freed))
		p->total -= MIN(p->total, freed);
	if ((p->e->n || p->b.dropped) && !p->e->look_only)
		drop_after_images(p->j);
	return false;
}

static bool (*const phases[])(struct pruning *p) = {measure, find_beginnings, drop_logs, let_go,
						    finish};

bool pruning_go_on(struct pruning *p)
{
	if (!phases[p->phase](p)) {
		p->phase++;
		p->at = 0;
	}
	return p->phase < ARRAY_LEN(phases);
}

int pruning_begin(struct pruning *p, struct journal *j, struct journal_prune *e)
{
	int r;

	*p = (struct pruning){.j = j, .e = e, .marked = journal_marked(j)};
	r = store_names(j, "steps", &p->names);
	if (r < 0)
		return r;
	p->b = (struct pruned_concurrent){
		.j = j, .steps = p->names.list, .n_steps = p->names.n, .look_only = e->look_only};
	p->counted = p->names.n;
	if (e->steps && p->names.n > e->steps)
		p->note = xcalloc(p->names.n, sizeof(*p->note));
	if (e->size) {
		p->held = xcalloc(p->names.n + 1, sizeof(*p->held));
		p->total = store_holds_beside_steps(j);
	}
	return pruned_concurrent_begin(&p->b);
}

void pruning_end(struct pruning *p)
{
	note_pruned(p, p->e->n, p->e->last);
	pruned_concurrent_done(&p->b);
	names_done(&p->names);
	free(p->note);
	free(p->held);
}

int journal_prune(struct journal *j, struct journal_prune *e)
{
	struct pruning p;
	int r = pruning_begin(&p, j, e);

	while (r == 0 && pruning_go_on(&p))
		;
	if (!j->tidy && (e->n || p.b.dropped) && !e->look_only)
		store_empty_trash(j, NULL);
	pruning_end(&p);
	return r < 0 ? r : p.result;
}
