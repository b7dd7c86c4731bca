/* review - keeps, takes back and brings back pieces of the history, one after the other. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>

#include "core/base/log.h"
#include "core/base/text.h"
#include "core/diff/reviewed.h"
#include "core/session/session_priv.h"

/*
 * A piece is taken back by a step of its own, which the keeper makes. While a step of the agent
 * runs the keeper refuses (-EBUSY), and an undo of the user may run. So these steps are queued.
 * While the agent works on a prompt, and its hook reports its turns, the queue waits for the end of
 * the turn: an agent builds on lines that it has just written.
 */
struct review_job {
	int64_t step;
	char *path;
	unsigned number;
	bool back; /* undo the step that took the piece back */
	bool at_once;
};

struct reviewing {
	struct reviewed v;
	struct review_job *queue;
	size_t n;
	uint64_t request; /* of the first job in the queue, or 0 */
	bool refused;	  /* a step ran: retried at the next tick */
};

static bool is_undone(void *data, int64_t step)
{
	const struct step_row *row = model_step(&((struct session *)data)->model, step);

	return row && row->undone;
}

void session_review_settle(struct session *s)
{
	if (s->reviewing)
		reviewed_settle(&s->reviewing->v, is_undone, s);
}

static struct reviewing *get(struct session *s)
{
	struct journal *j = session_journal(s);

	if (!s->reviewing && j) {
		s->reviewing = xcalloc(1, sizeof(*s->reviewing));
		reviewed_load(&s->reviewing->v, j);
		s->model.reviewed = &s->reviewing->v;
		session_review_settle(s);
	}
	return s->reviewing;
}

const struct reviewed *session_reviewed(struct session *s)
{
	struct reviewing *r = get(s);

	if (r && reviewed_load_committed(&r->v, session_journal(s)))
		s->model.version++;
	return r ? &r->v : NULL;
}

static void drop_first(struct reviewing *r)
{
	free(r->queue[0].path);
	memmove(r->queue, r->queue + 1, --r->n * sizeof(*r->queue));
	r->request = 0;
}

void session_review_free(struct session *s)
{
	struct reviewing *r = s->reviewing;

	while (r && r->n)
		drop_first(r);
	if (r) {
		reviewed_done(&r->v);
		free(r->queue);
	}
	free(r);
	s->reviewing = NULL;
	s->model.reviewed = NULL;
}

static void save(struct session *s)
{
	struct err err = {0};
	int r = reviewed_save(&s->reviewing->v, session_journal(s));

	s->model.version++;
	if (r < 0) {
		err_set(&err, r, "keep what was reviewed");
		model_add_row(&s->model, ROW_NOTE, 0, 0, r, "review", err.text, NULL);
	}
}

/* Sets the words. path: the file that they are about, or NULL. */
static void say(struct session *s, const char *path, const char *words)
{
	AUTO_BUF struct buf text = BUF_INIT;

	if (path) {
		text_escape(&text, path, strlen(path));
		buf_str(&text, ": ");
	}
	text_escape(&text, words, strlen(words));
	free(s->model.review_words);
	s->model.review_words = buf_take(&text);
	s->model.review_said++;
	s->model.version++;
}

/* ---- the queue ------------------------------------------------------------------------------- */

/* Returns why this piece cannot be taken back or brought back, or NULL. */
static const char *find_obstacle(const struct reviewed *v, const struct review_job *q)
{
	const struct review_entry *e = reviewed_taken(v, q->step, q->path, q->number);

	if (q->back && e && !e->by)
		return "nothing is known of the step that took this back: cordon redo or undo has "
		       "it";
	if (!q->back && !q->number && reviewed_kept_later(v, q->step, q->path))
		return "you kept a later change of this file, which would go, too: u on that first";
	return NULL;
}

static uint64_t start(struct session *s, const struct review_job *q)
{
	const struct reviewed *v = &s->reviewing->v;
	const struct review_entry *e = reviewed_taken(v, q->step, q->path, q->number);
	const char *const paths[] = {q->path, NULL};
	int64_t step = q->back ? e->by : q->step;
	unsigned number = q->back ? e->number : q->number;

	if (!number)
		return session_restore(s, step, paths, 0);
	/* The step that took back a hunk has only this hunk. */
	if (number != HUNK_MODE)
		number = q->back ? 1 : number;
	return session_restore_hunk(s, step, q->path, number == HUNK_MODE ? 0 : number);
}

/* Drops pieces from the queue that came back with another: a file that was taken back as a
 * whole. */
static void drop_brought_back(struct reviewing *r)
{
	while (r->n && r->queue[0].back &&
	       !reviewed_taken(&r->v, r->queue[0].step, r->queue[0].path, r->queue[0].number))
		drop_first(r);
}

/* Moves the first job that does not wait for the agent to the front. Returns false if there is
 * none. */
static bool bring_forward(struct reviewing *r)
{
	for (size_t i = 0; i < r->n; i++) {
		const struct review_job q = r->queue[i];

		if (!q.at_once)
			continue;
		memmove(r->queue + 1, r->queue, i * sizeof(*r->queue));
		r->queue[0] = q;
		return true;
	}
	return false;
}

static void set(struct session *s, const struct review_job *q, enum review_state is, int64_t by)
{
	reviewed_set(&s->reviewing->v, q->step, q->path, q->number, is, by);
}

static void refuse(struct session *s, const char *path, const char *words)
{
	struct reviewing *r = s->reviewing;
	const struct review_job *q = &r->queue[0];

	say(s, path, words);
	if (!q->back)
		set(s, q, PIECE_OPEN, 0);
	drop_first(r);
	save(s);
}

void session_review_pump(struct session *s, bool tick)
{
	struct reviewing *r = s->reviewing;
	const char *obstacle;

	if (!r || !r->n || r->request || s->model.job.active)
		return;
	/* The keeper would refuse while a step runs. */
	if (model_running(&s->model, NULL) || (r->refused && !tick))
		return;
	r->refused = false;
	/* The agent's turn has also ended if the agent has. */
	if (s->model.tells_rest && !s->model.rests && !s->model.exited && !bring_forward(r))
		return;
	drop_brought_back(r);
	obstacle = r->n ? find_obstacle(&r->v, &r->queue[0]) : NULL;
	if (!r->n)
		return;
	if (obstacle)
		refuse(s, r->queue[0].path, obstacle);
	else
		r->request = start(s, &r->queue[0]);
}

static void done_well(struct session *s, const struct review_job *q)
{
	struct reviewed *v = &s->reviewing->v;
	const struct review_entry *e =
		q->back ? reviewed_taken(v, q->step, q->path, q->number) : NULL;
	const struct step_row *by = q->back ? NULL : model_newest_restore(&s->model);

	if (e)
		reviewed_set(v, e->step, q->path, e->number, PIECE_OPEN, 0);
	if (!q->back)
		set(s, q, PIECE_TAKEN, by ? by->id : 0);
	say(s, q->path, q->back ? "brought back" : "taken back");
}

bool session_review_waits(struct session *s, uint64_t request, int result)
{
	struct reviewing *r = s->reviewing;

	if (!r || !r->n || !r->request || r->request != request || result != -EBUSY)
		return false;
	r->request = 0;
	r->refused = true;
	return true;
}

void session_review_done(struct session *s, uint64_t request, int result, const char *words)
{
	struct reviewing *r = s->reviewing;

	if (!r || !r->n || !r->request || r->request != request)
		return;
	if (result < 0) {
		refuse(s, NULL, words);
		return;
	}
	done_well(s, &r->queue[0]);
	drop_first(r);
	save(s);
}

/* ---- verbs ----------------------------------------------------------------------------------- */

/* Takes a piece out of the queue. Returns whether it was there and not started. */
static bool withdraw(struct reviewing *r, int64_t step, const char *path, unsigned number)
{
	for (size_t i = r->request ? 1 : 0; i < r->n; i++) {
		struct review_job *q = &r->queue[i];

		if (q->step != step || q->number != number || !str_eq(q->path, path))
			continue;
		free(q->path);
		memmove(q, q + 1, (--r->n - i) * sizeof(*q));
		return true;
	}
	return false;
}

static void enqueue(struct session *s, const struct review_job *q)
{
	struct reviewing *r = s->reviewing;

	r->queue = xrealloc(r->queue, (r->n + 1) * sizeof(*r->queue));
	r->queue[r->n] = *q;
	r->queue[r->n++].path = xstrdup(q->path);
}

static void judge(struct session *s, enum review_verb verb, const struct hunk *h)
{
	struct reviewing *r = s->reviewing;
	const struct review_job q = {.step = h->step,
				     .path = h->path,
				     .number = h->number,
				     .back = verb == REVIEW_BRING_BACK,
				     .at_once = verb != REVIEW_TAKE_BACK};
	enum review_state was = reviewed_state(&r->v, h->step, h->path, h->number);
	/* A piece that is being taken back is left to finish. */
	bool free_now = was != PIECE_QUEUED || withdraw(r, h->step, h->path, h->number);

	if (verb == REVIEW_KEEP && was != PIECE_TAKEN && free_now)
		set(s, &q, PIECE_KEPT, 0);
	else if (verb == REVIEW_BRING_BACK && was == PIECE_TAKEN)
		enqueue(s, &q);
	else if (verb == REVIEW_BRING_BACK && free_now)
		set(s, &q, PIECE_OPEN, 0);
	else if (verb != REVIEW_BRING_BACK && verb != REVIEW_KEEP && was != PIECE_TAKEN &&
		 free_now) {
		enqueue(s, &q);
		set(s, &q, PIECE_QUEUED, 0);
	}
}

void session_review(struct session *s, enum review_verb verb, const struct hunk *const *list,
		    size_t n)
{
	if (!get(s))
		return;
	for (size_t i = 0; i < n; i++)
		judge(s, verb, list[i]);
	save(s);
	session_review_pump(s, false);
}

void session_review_comment(struct session *s, const struct hunk *h, int line, const char *text)
{
	struct reviewing *r = get(s);

	if (r && reviewed_comment(&r->v, h, line, text))
		save(s);
}

void session_review_sent(struct session *s)
{
	struct reviewing *r = get(s);

	if (!r)
		return;
	reviewed_sent(&r->v);
	save(s);
}

/* ---- points of a message that was sent ---------------------------------------------------------
 */

int session_point_done(struct session *s, const char *name, struct err *err)
{
	struct reviewing *r = get(s);
	const struct point *p = r ? reviewed_handle(&r->v, name, err) : NULL;
	AUTO_FREE char *words = NULL;

	if (!r)
		return err_say(err, -ENOENT, "there is no history, and no review");
	if (!p)
		return -ENOENT;
	words = xasprintf("%u.%u is done, says the agent", p->round, p->number);
	model_add_row(&s->model, ROW_NOTE, 0, 0, 0, "review", words, NULL);
	say(s, NULL, words);
	save(s);
	return 0;
}

void session_on_point_done(struct session *s, const struct client_event *ev)
{
	struct err err = {0};

	/* The point may be handled already: the keeper only checks the stored points. */
	if (session_point_done(s, ev->path, &err) < 0)
		log_info("review", "%s", err.text);
}

void session_point_reopen(struct session *s, unsigned round, unsigned number)
{
	struct reviewing *r = get(s);
	const struct point *p = r ? reviewed_reopen(&r->v, round, number) : NULL;
	AUTO_FREE char *words = NULL;

	if (!p)
		return;
	words = xasprintf("The user opened point %u.%u of the review again: %s: %s", round, number,
			  p->path, p->text);
	session_notice(s, words);
	save(s);
}
