/* view_review_load - selects the steps of a review; a worker reads their hunks. */
/* SPDX-License-Identifier: MIT */
#include <stdatomic.h>
#include <string.h>

#include "core/base/text.h"
#include "tui/console/views/view_review.h"

struct review_load {
	struct view_review *view; /* NULL: abandoned */
	char **folders, *state_dir;
	int64_t *steps;
	size_t n;
	atomic_bool stop;
	int result;
	struct err err;
	struct hunks hunks;
};

/* ---- selected steps -------------------------------------------------------------------------- */

/* Returns whether a step is the agent's work: in effect, and no undo. */
static bool is_reviewed(const struct step_row *s)
{
	return !s->undone && !s->gone && !s->running && !s->elsewhere &&
	       !step_is_restore(s->kind, s->command);
}

/* Returns the mark of the newest turn with a step to review. */
static const struct turn_mark *newest_turn(const struct model *m)
{
	for (size_t i = m->n_steps; i-- > 0;)
		if (is_reviewed(&m->steps[i]))
			return turn_mark_of(m->turns, m->n_turns, m->steps[i].id);
	return NULL;
}

static bool is_chosen(const struct view_review *p, const struct turn_mark *turn,
		      const struct step_row *s)
{
	const struct model *m = p->v.ui->spec.model;

	if (!is_reviewed(s))
		return false;
	if (p->session)
		return !s->earlier;
	if (p->from)
		return s->id >= p->from && s->id <= p->to;
	return turn ? turn_mark_of(m->turns, m->n_turns, s->id) == turn : !s->earlier;
}

static void name_it(struct view_review *p, const struct turn_mark *turn)
{
	AUTO_BUF struct buf words = BUF_INIT;

	if (p->from)
		return;
	if (!p->session && turn && turn->words)
		text_escape(&words, turn->words, strlen(turn->words));
	else
		buf_str(&words, p->session ? "all since the session began" : "the newest turn");
	free(p->words);
	p->words = buf_take(&words);
}

static int64_t *steps_now(struct view_review *p, size_t *n)
{
	const struct model *m = p->v.ui->spec.model;
	const struct turn_mark *turn = newest_turn(m);
	int64_t *list = xcalloc(m->n_steps + 1, sizeof(*list));

	*n = 0;
	for (size_t i = 0; i < m->n_steps; i++)
		if (is_chosen(p, turn, &m->steps[i]))
			list[(*n)++] = m->steps[i].id;
	name_it(p, turn);
	return list;
}

/* ---- the worker ------------------------------------------------------------------------------ */

static void load_free(struct review_load *l)
{
	util_free_list(&l->folders);
	free(l->state_dir);
	free(l->steps);
	hunks_done(&l->hunks);
	free(l);
}

static void work(void *job) /* worker thread */
{
	struct review_load *l = job;
	struct journal *j = NULL;

	l->result = journal_open_all(&j, (const char *const *)l->folders, l->state_dir, &l->err);
	if (l->result == 0)
		l->result = hunks_load(&l->hunks, j, l->steps, l->n, &l->stop, &l->err);
	journal_close_all(j);
}

/* Moves the cursor to the hunk that it was in. */
static void go_back(struct view_review *p, const struct hunk *was)
{
	for (size_t i = 0; i < p->n_rows; i++) {
		const struct hunk *h = &p->hunks.list[p->rows[i].hunk];

		if (p->rows[i].kind != REVIEW_ROW_HUNK || h->step != was->step ||
		    h->number != was->number || !str_eq(h->path, was->path))
			continue;
		p->list.cursor = i;
		return;
	}
}

static void take(struct view_review *p, struct review_load *l)
{
	struct hunk was = {0};
	AUTO_FREE char *path = NULL;
	bool first = !p->read;

	if (p->list.cursor < p->n_rows) {
		was = p->hunks.list[p->rows[p->list.cursor].hunk];
		path = xstrdup(was.path);
		was.path = path;
	}
	hunks_done(&p->hunks);
	p->hunks = l->hunks;
	l->hunks = (struct hunks){.text = BUF_INIT};
	p->read = true;
	p->n_rows = 0; /* they are of the old hunks */
	free(p->pieces);
	p->pieces = xcalloc(p->hunks.n + 1, sizeof(*p->pieces));
	for (size_t i = 0; i < p->hunks.n; i++)
		p->pieces[i].hidden = review_state_of(p, i) == PIECE_KEPT;
	review_build(p);
	if (path)
		go_back(p, &was);
	else if (first)
		p->list.cursor = 0;
}

static void done(void *job)
{
	struct review_load *l = job;
	struct view_review *p = l->view;

	if (!p) {
		load_free(l);
		return;
	}
	p->load = NULL;
	p->why[0] = '\0';
	if (l->result < 0)
		snprintf(p->why, sizeof(p->why), "%.255s", l->err.text);
	else
		take(p, l);
	load_free(l);
	p->v.ui->dirty = true;
	review_reload(p);
}

void review_reload(struct view_review *p)
{
	const struct ui_spec *spec = &p->v.ui->spec;
	size_t n;
	AUTO_FREE int64_t *now = steps_now(p, &n);
	struct review_load *l;

	if (p->load || !spec->folders || !spec->state_dir || !spec->verbs->submit)
		return;
	if (p->steps && n == p->n_steps && memcmp(now, p->steps, n * sizeof(*now)) == 0)
		return;
	free(p->steps);
	p->steps = take_ptr(&now);
	p->n_steps = n;
	l = xcalloc(1, sizeof(*l));
	l->view = p;
	l->folders = util_list_copy(spec->folders);
	l->state_dir = xstrdup(spec->state_dir);
	l->steps = xcalloc(n + 1, sizeof(*l->steps));
	memcpy(l->steps, p->steps, n * sizeof(*l->steps));
	l->n = n;
	l->hunks.text = (struct buf)BUF_INIT;
	p->load = l;
	spec->verbs->submit(spec->data, work, done, l);
}

void review_load_abandon(struct view_review *p)
{
	if (!p->load)
		return;
	p->load->view = NULL;
	atomic_store(&p->load->stop, true);
	p->load = NULL;
}
