/* replay - plays a recording: makes the terminal and the model of any moment in it. */
/* SPDX-License-Identifier: MIT */
#include "core/base/clock.h"
#include "core/record/recording_time.h"
#include "tui/console/replay/replay_priv.h"
#include "tui/term/snapshot.h"

#include <string.h>

#define TICK_US 15000  /* time for events in one turn of the loop */
#define REDO_US 700000 /* while it plays, "previous" within so long of a mark skips that mark */

/* ---- a terminal that shows and does nothing else ------------------------------------------------
 */

/* ---- a place in the recording -------------------------------------------------------------------
 */

void spot_done(struct spot *s)
{
	term_free(s->term);
	batch_done(&s->batch);
	*s = (struct spot){.batch = BATCH_INIT};
}

void spot_open(struct spot *s, int64_t t_us)
{
	const struct cast_header *h = recording_header(s->rec);
	size_t n = recording_blocks(s->rec), i = n ? recording_block_at(s->rec, t_us) : 0;
	AUTO_BUF struct buf key = BUF_INIT;

	term_free(s->term);
	s->term = NULL;
	while (!s->term && i > 0) {
		buf_clear(&key);
		if (recording_block(s->rec, --i)->last_us <= t_us && recording_key(s->rec, i, &key))
			s->term = term_from_snapshot(key.data, key.len, NULL, NULL);
		if (s->term)
			i++;
	}
	if (!s->term)
		s->term = term_new(h->rows, h->cols, NULL, NULL);
	s->block = i;
	s->next = 0;
	s->loaded = false;
}

const struct moment *spot_peek(struct spot *s)
{
	while (s->block < recording_blocks(s->rec)) {
		if (!s->loaded)
			recording_batch(s->rec, s->block, false, &s->batch);
		s->loaded = true;
		if (s->next < s->batch.n)
			return &s->batch.list[s->next];
		s->block++;
		s->next = 0;
		s->loaded = false;
	}
	return NULL;
}

void spot_take(struct spot *s)
{
	const struct moment *e = &s->batch.list[s->next++];
	int cols, rows;

	if (e->code == CAST_OUTPUT)
		term_feed(s->term, e->data.data, e->data.len);
	else if (e->code == CAST_RESIZE && cast_size(e->data.data, e->data.len, &cols, &rows))
		term_resize(s->term, rows, cols);
}

/* ---- life ---------------------------------------------------------------------------------------
 */

struct replay *replay_new(struct recording *rec)
{
	struct replay *r = xcalloc(1, sizeof(*r));

	r->rec = rec;
	r->past = past_new(rec);
	r->speed = 1;
	r->idle_us = recording_idle(rec);
	r->spot = (struct spot){.rec = rec, .batch = BATCH_INIT};
	r->find.spot = (struct spot){.rec = rec, .batch = BATCH_INIT};
	r->find.screen = (struct buf)BUF_INIT;
	model_init(&r->model);
	replay_seek(r, 0, clock_mono_us());
	return r;
}

void replay_free(struct replay *r)
{
	if (!r)
		return;
	find_done(&r->find);
	spot_done(&r->spot);
	model_done(&r->model);
	past_free(r->past);
	recording_free(r->rec);
	free(r);
}

struct term *replay_term(const struct replay *r)
{
	return r->spot.term;
}

struct model *replay_model(struct replay *r)
{
	return &r->model;
}

struct recording *replay_recording(const struct replay *r)
{
	return r->rec;
}

int64_t replay_position(const struct replay *r)
{
	return r->at_us;
}

bool replay_playing(const struct replay *r)
{
	return r->playing;
}

double replay_speed(const struct replay *r)
{
	return r->speed;
}

int64_t replay_idle(const struct replay *r)
{
	return r->idle_us;
}

/* ---- time ------------------------------------------------------------------------------------ */

static void set_base(struct replay *r, int64_t now_us)
{
	r->base_us = r->at_us;
	r->base_mono_us = now_us;
}

void replay_play(struct replay *r, bool on, int64_t now_us)
{
	if (on && r->at_us >= recording_duration(r->rec))
		replay_seek(r, 0, now_us);
	r->playing = on;
	set_base(r, now_us);
}

void replay_set_speed(struct replay *r, double speed, int64_t now_us)
{
	set_base(r, now_us);
	r->speed = MIN(MAX(speed, RECORDING_SPEED_MIN), RECORDING_SPEED_MAX);
}

void replay_set_idle(struct replay *r, int64_t limit_us, int64_t now_us)
{
	set_base(r, now_us);
	r->idle_us = limit_us;
}

static void take(struct replay *r, const struct moment *e)
{
	r->at_us = MAX(r->at_us, e->t_us);
	if (e->code == CAST_OWN)
		past_event(r->past, &r->model, e);
	spot_take(&r->spot);
}

/* Plays everything up to t, until the deadline of this turn. */
static bool take_until(struct replay *r, int64_t t_us, int64_t deadline)
{
	const struct moment *e;
	bool any = false;

	while ((e = spot_peek(&r->spot)) && e->t_us <= t_us) {
		take(r, e);
		any = true;
		if (clock_mono_us() > deadline)
			return true;
	}
	r->at_us = MAX(r->at_us, t_us);
	return any;
}

/* Returns the time of the next event; measurements alone are a pause. */
static int64_t next_event(struct replay *r)
{
	const struct moment *e = spot_peek(&r->spot);

	if (!e)
		return recording_duration(r->rec);
	if (e->code != CAST_OWN || !apply_is_measure(e->data.data, e->data.len))
		return e->t_us;
	if (r->at_us < r->quiet_us || r->at_us >= r->next_us) {
		r->quiet_us = r->at_us;
		r->next_us = recording_next(r->rec, r->at_us);
		if (r->next_us < 0)
			r->next_us = recording_duration(r->rec);
	}
	return r->next_us;
}

bool replay_tick(struct replay *r, int64_t now_us)
{
	bool any = find_tick(r, now_us);
	int64_t due, next;

	if (!r->playing)
		return any;
	due = r->base_us + (int64_t)((double)(now_us - r->base_mono_us) * r->speed);
	next = r->idle_us ? next_event(r) : 0;
	if (r->idle_us && next - MAX(due, r->at_us) > r->idle_us) {
		r->at_us = due = next - r->idle_us;
		set_base(r, now_us);
	}
	due = MIN(due, recording_duration(r->rec));
	any |= take_until(r, due, clock_mono_us() + TICK_US);
	if (r->at_us < due) /* playing falls behind the clock */
		set_base(r, now_us);
	if (!spot_peek(&r->spot) && r->at_us >= recording_duration(r->rec))
		r->playing = false;
	return any;
}

/* Returns whether it is cheaper to continue from here than from the nearest key. */
static bool goes_on(const struct replay *r, int64_t t_us)
{
	size_t last = recording_blocks(r->rec) ? recording_block_at(r->rec, t_us) : 0;

	if (!r->spot.term || t_us < r->at_us)
		return false;
	for (size_t i = r->spot.block; i < last; i++)
		if (recording_block(r->rec, i)->key_len)
			return false;
	return last - r->spot.block < 30;
}

void replay_seek(struct replay *r, int64_t t_us, int64_t now_us)
{
	const struct moment *e;

	t_us = MIN(MAX(t_us, (int64_t)0), recording_duration(r->rec));
	if (!goes_on(r, t_us))
		spot_open(&r->spot, t_us);
	while ((e = spot_peek(&r->spot)) && e->t_us <= t_us)
		spot_take(&r->spot);
	past_seek(r->past, &r->model, t_us);
	r->at_us = t_us;
	set_base(r, now_us);
}

/* ---- frames and marks ------------------------------------------------------------------------ */

/* Returns the time of the last output before the position; -1: none. */
static int64_t before(struct replay *r)
{
	struct batch b = BATCH_INIT;
	int64_t found = -1;

	for (size_t i = recording_blocks(r->rec); i-- > 0 && found < 0;) {
		if (recording_block(r->rec, i)->first_us >= r->at_us)
			continue;
		recording_batch(r->rec, i, false, &b);
		for (size_t k = 0; k < b.n; k++)
			if (b.list[k].code == CAST_OUTPUT && b.list[k].t_us < r->at_us)
				found = b.list[k].t_us;
	}
	batch_done(&b);
	return found;
}

void replay_frame(struct replay *r, bool next, int64_t now_us)
{
	const struct moment *e;
	int64_t t;

	r->playing = false;
	if (!next) {
		t = before(r);
		replay_seek(r, MAX(t, (int64_t)0), now_us);
		return;
	}
	while ((e = spot_peek(&r->spot)) && e->code != CAST_OUTPUT)
		take(r, e);
	if (e)
		take_until(r, e->t_us, INT64_MAX);
	set_base(r, now_us);
}

const struct mark *replay_to_mark(struct replay *r, enum mark_kind kind, bool next, int64_t now_us)
{
	size_t n;
	const struct mark *m = recording_marks(r->rec, &n), *found = NULL;
	int64_t back = r->playing ? (int64_t)(REDO_US * r->speed) : 0;

	for (size_t i = 0; i < n; i++) {
		if (kind != MARK_KINDS && m[i].kind != kind)
			continue;
		if (next && m[i].t_us > r->at_us && (!found || m[i].t_us < found->t_us))
			found = &m[i];
		if (!next && m[i].t_us < r->at_us - back && (!found || m[i].t_us >= found->t_us))
			found = &m[i];
	}
	if (found)
		replay_seek(r, found->t_us, now_us);
	return found;
}

int64_t replay_when(struct replay *r, int64_t step, const char *path)
{
	AUTO_FREE char *id = xasprintf(",\"step\":%lld,", (long long)step);
	struct batch b = BATCH_INIT;
	int64_t found = -1, began = -1;
	size_t n;
	const struct mark *m = recording_marks(r->rec, &n);

	for (size_t i = n; i-- > 0;)
		if (m[i].kind == MARK_STEP && m[i].id == step)
			began = m[i].t_us;
	for (size_t i = 0; path && found < 0 && i < recording_blocks(r->rec); i++) {
		if (!recording_block(r->rec, i)->rows)
			continue;
		recording_batch(r->rec, i, true, &b);
		for (size_t k = 0; k < b.n && found < 0; k++) {
			const char *json = b.list[k].data.data;

			if (strstr(json, id) && strstr(json, path) && strstr(json, "\"row\""))
				found = b.list[k].t_us;
		}
	}
	batch_done(&b);
	return found >= 0 ? found : began;
}
