/* past - reconstructs the model of a session at any moment of its recording. */
/* SPDX-License-Identifier: MIT */
#include "core/record/past.h"

#include <stdlib.h>

#include "core/base/clock.h"
#include "core/journal/turns.h"
#include "core/record/recorded.h"

#define STATES_MAX ((size_t)128 << 20) /* bytes of events that are kept */

struct state {
	int64_t t_us;
	size_t at, len;
};

struct past {
	struct recording *rec;
	struct applier applier;
	struct batch batch;
	struct buf bytes;
	struct state *states;
	size_t n, cap;
};

static void add_state(struct past *p, const struct moment *e)
{
	if (p->bytes.len + e->data.len > STATES_MAX)
		return;
	if (p->n == p->cap) {
		p->cap = p->cap ? 2 * p->cap : 256;
		p->states = xrealloc(p->states, p->cap * sizeof(*p->states));
	}
	p->states[p->n++] = (struct state){.t_us = e->t_us, .at = p->bytes.len, .len = e->data.len};
	buf_add(&p->bytes, e->data.data, e->data.len);
}

struct past *past_new(struct recording *r)
{
	struct past *p = xcalloc(1, sizeof(*p));

	p->rec = r;
	p->batch = (struct batch)BATCH_INIT;
	p->bytes = (struct buf)BUF_INIT;
	applier_init(&p->applier);
	for (size_t i = 0; recording_is_own(r) && i < recording_blocks(r); i++) {
		recording_batch(r, i, true, &p->batch);
		for (size_t k = 0; k < p->batch.n; k++)
			if (!applier_is_row(&p->batch.list[k]))
				add_state(p, &p->batch.list[k]);
	}
	return p;
}

void past_free(struct past *p)
{
	if (!p)
		return;
	applier_done(&p->applier);
	batch_done(&p->batch);
	buf_done(&p->bytes);
	free(p->states);
	free(p);
}

void past_event(struct past *p, struct model *m, const struct moment *e)
{
	p->applier.now_us = clock_mono_us();
	p->applier.at_us = MAX(p->applier.at_us, e->t_us);
	/* A damaged event changes nothing. */
	(void)!apply_event(&p->applier, m, e->data.data, e->data.len);
}

/* Returns the first block from which there are MODEL_ROWS rows up to `last`. */
static size_t first_of_rows(const struct past *p, size_t last)
{
	size_t rows = 0, i = last + 1;

	while (i > 0 && rows < MODEL_ROWS)
		rows += recording_block(p->rec, --i)->rows;
	return i;
}

static void seek_rows(struct past *p, struct model *m, int64_t t_us)
{
	size_t last = recording_block_at(p->rec, t_us);

	for (size_t i = first_of_rows(p, last); i <= last; i++) {
		if (!recording_block(p->rec, i)->rows)
			continue;
		recording_batch(p->rec, i, true, &p->batch);
		for (size_t k = 0; k < p->batch.n; k++) {
			const struct moment *e = &p->batch.list[k];

			if (e->t_us <= t_us && applier_is_row(e))
				past_event(p, m, e);
		}
	}
}

/* Sets all turns of the recording: those after the moment have no steps. */
static void set_turns(const struct past *p, struct model *m)
{
	int64_t began_us = recording_header(p->rec)->timestamp * 1000000, after = 0;
	size_t n, turns = 0;
	const struct mark *marks = recording_marks(p->rec, &n);
	struct turn_mark *list = xcalloc(n + 1, sizeof(*list));

	for (size_t i = 0; i < n; i++) {
		const char *prompt = recorded_prompt(&marks[i]);

		if (marks[i].kind == MARK_STEP)
			after = MAX(after, (int64_t)llabs(marks[i].id));
		else if (marks[i].kind == MARK_TURN)
			list[turns++] =
				(struct turn_mark){.after = after,
						   .us = began_us + marks[i].t_us,
						   .words = *prompt ? xstrdup(prompt) : NULL};
	}
	model_set_turns(m, list, turns);
}

void past_seek(struct past *p, struct model *m, int64_t t_us)
{
	applier_reset(m);
	set_turns(p, m);
	p->applier.at_us = t_us;
	for (size_t i = 0; i < p->n && p->states[i].t_us <= t_us; i++)
		past_event(p, m,
			   &(struct moment){
				   .t_us = p->states[i].t_us,
				   .data = {p->bytes.data + p->states[i].at, p->states[i].len}});
	if (recording_is_own(p->rec) && recording_blocks(p->rec))
		seek_rows(p, m, t_us);
}
