/* steplist_lines - collects the lines of the list of steps: turns, their steps, and files of
 * these. */
/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "core/base/path.h"
#include "core/base/text.h"
#include "tui/console/views/steplist.h"

#define OPENS_MAX  512
#define TURN_NAMES 5 /* names of steps, in place of an unknown prompt */

const struct step_row *steplist_step(const struct view_steps *p, size_t i)
{
	const struct line *l = i < p->n ? &p->shown[i] : NULL;

	return l && (l->kind == LINE_STEP || l->kind == LINE_FILE || l->kind == LINE_GIT)
		       ? &p->v.ui->spec.model->steps[l->at]
		       : NULL;
}

const struct barrier *steplist_edit(const struct view_steps *p, size_t i)
{
	return i < p->n && p->shown[i].kind == LINE_EDIT
		       ? &p->v.ui->spec.model->edits[p->shown[i].at]
		       : NULL;
}

bool steplist_is_heading(const struct view_steps *p, size_t i)
{
	return i < p->n && p->shown[i].kind >= LINE_SESSION;
}

const struct step_stat *steplist_stat(const struct view_steps *p, const struct step_row *st)
{
	return p->stats && !st->running && !st->gone ? stats_get(p->stats, st->id) : NULL;
}

/* ---- words ------------------------------------------------------------------------------------
 */

static void step_text(const struct step_row *st, struct buf *out)
{
	buf_fmt(out, "%lld ", (long long)st->id);
	if (st->command)
		text_escape(out, st->command, strlen(st->command));
	if (st->undone || st->undone_in)
		buf_str(out, st->undone ? " undone" : " undone in ");
	if (!st->undone && st->undone_in)
		text_escape(out, st->undone_in, strlen(st->undone_in));
	if (st->gone)
		buf_str(out, " too old");
	if (st->incomplete)
		buf_str(out, " incomplete");
}

static void edit_text(const struct barrier *b, struct buf *out)
{
	buf_str(out, "edited from outside:");
	for (size_t i = 0; i < b->n_paths; i++) {
		buf_str(out, i ? ", " : " ");
		text_escape(out, b->paths[i], strlen(b->paths[i]));
	}
}

/* Appends the prompt, or the names of its steps: "sed -i s/a/b/ x.c, make". */
static void turn_text(const struct view_steps *p, const struct line *l, struct buf *out)
{
	const struct model *m = p->v.ui->spec.model;
	const char *words = m->turns[l->at].words;
	size_t n = 0;

	if (words)
		text_escape(out, words, strlen(words));
	for (size_t i = l->sub; !words && i < steplist_turn_end(m, l->sub) && n < TURN_NAMES; i++) {
		const char *name = step_deed(m->steps[i].kind, m->steps[i].command);

		if (!name || step_row_is_note(&m->steps[i]))
			continue;
		buf_str(out, n++ ? ", " : "");
		text_escape(out, name, strlen(name));
	}
}

void steplist_text(const struct view_steps *p, const struct line *l, struct buf *out)
{
	const struct model *m = p->v.ui->spec.model;
	const struct step_stat *stat;

	switch (l->kind) {
	case LINE_STEP:
		step_text(&m->steps[l->at], out);
		break;
	case LINE_EDIT:
		edit_text(&m->edits[l->at], out);
		break;
	case LINE_FILE:
		stat = steplist_stat(p, &m->steps[l->at]);
		if (stat && l->sub < stat->n)
			text_escape(out, stat->list[l->sub].name, strlen(stat->list[l->sub].name));
		break;
	case LINE_GIT:
		stat = steplist_stat(p, &m->steps[l->at]);
		if (stat && l->sub < stat->git.n)
			text_escape(out, stat->git.list[l->sub], strlen(stat->git.list[l->sub]));
		break;
	case LINE_TURN:
		turn_text(p, l, out);
		break;
	case LINE_NOTES:
	case LINE_SESSION:
	case LINE_OLDER:
		break;
	}
}

/* ---- open lines ------------------------------------------------------------------------------ */

struct line_key steplist_key(const struct view_steps *p, const struct line *l)
{
	const struct model *m = p->v.ui->spec.model;
	struct line_key k = {.kind = l->kind};

	switch (l->kind) {
	case LINE_FILE:
	case LINE_GIT:
		k.sub = l->sub;
		k.id = m->steps[l->at].id;
		break;
	case LINE_STEP:
	case LINE_OLDER:
	case LINE_NOTES:
		k.id = m->steps[l->at].id;
		break;
	case LINE_EDIT:
		k.id = m->edits[l->at].last_us;
		break;
	case LINE_TURN:
	case LINE_SESSION:
		k.id = m->turns[l->at].us;
		break;
	}
	return k;
}

static bool same_key(const struct line_key *a, const struct line_key *b)
{
	return a->kind == b->kind && a->id == b->id && a->sub == b->sub;
}

static struct opened *opened_of(const struct view_steps *p, const struct line_key *k)
{
	for (size_t i = 0; i < p->n_opens; i++)
		if (same_key(&p->opens[i].key, k))
			return &p->opens[i];
	return NULL;
}

/* Returns whether a line is open: if the user has not decided, the newest turn, and turns without
 * words. */
bool steplist_is_open(const struct view_steps *p, const struct line *l)
{
	const struct model *m = p->v.ui->spec.model;
	struct line_key k = steplist_key(p, l);
	const struct opened *o = opened_of(p, &k);

	if (o)
		return o->open;
	if (l->kind != LINE_TURN)
		return false;
	return !m->turns[l->at].words || steplist_turn_at(m, m->n_steps - 1) == l->at;
}

void steplist_open(struct view_steps *p, const struct line *l, bool open)
{
	struct line_key k = steplist_key(p, l);
	struct opened *o = opened_of(p, &k);

	if (!o && p->n_opens == OPENS_MAX) { /* the older half is forgotten */
		p->n_opens /= 2;
		memmove(p->opens, p->opens + p->n_opens, p->n_opens * sizeof(*p->opens));
	}
	if (!o) {
		p->opens = xrealloc(p->opens, (p->n_opens + 1) * sizeof(*p->opens));
		o = &p->opens[p->n_opens++];
	}
	*o = (struct opened){.key = k, .open = open};
}

/* ---- lines ------------------------------------------------------------------------------------
 */

static void add(struct view_steps *p, struct line l)
{
	if (p->n == p->cap) {
		p->cap = p->cap ? 2 * p->cap : 256;
		p->shown = xrealloc(p->shown, p->cap * sizeof(*p->shown));
	}
	p->shown[p->n++] = l;
}

static void add_match(struct view_steps *p, struct line l)
{
	AUTO_BUF struct buf b = BUF_INIT;

	if (*p->list.filter)
		steplist_text(p, &l, &b);
	if (list_match(p->list.filter, b.data))
		add(p, l);
}

/* Adds the edits after this step, oldest first; 0: after no listed step. */
static void add_edits(struct view_steps *p, const int64_t *places, int64_t after, unsigned depth)
{
	for (size_t i = p->v.ui->spec.model->n_edits; i-- > 0;)
		if (places[i] == after)
			add_match(p, (struct line){.kind = LINE_EDIT, .at = i, .depth = depth});
}

static int64_t place_of(const struct model *m, const struct barrier *b)
{
	for (size_t i = m->n_steps; i-- > 0;)
		if (m->steps[i].id == b->after)
			return b->after;
	return 0;
}

size_t steplist_turn_at(const struct model *m, size_t step)
{
	const struct turn_mark *t =
		step < m->n_steps ? turn_mark_of(m->turns, m->n_turns, m->steps[step].id) : NULL;

	return t ? (size_t)(t - m->turns) : SIZE_MAX;
}

size_t steplist_turn_end(const struct model *m, size_t first)
{
	size_t turn = steplist_turn_at(m, first), end = first + 1;

	while (end < m->n_steps && steplist_turn_at(m, end) == turn)
		end++;
	return end;
}

/* Returns the turn that began the session of this turn; SIZE_MAX: unknown. */
static size_t session_at(const struct model *m, size_t turn)
{
	while (turn != SIZE_MAX && !m->turns[turn].session)
		turn = turn ? turn - 1 : SIZE_MAX;
	return turn;
}

/* Adds a heading where a session begins, unless all steps are this session's. */
static void add_session(struct view_steps *p, size_t step)
{
	const struct model *m = p->v.ui->spec.model;
	size_t session = session_at(m, steplist_turn_at(m, step));
	bool new = step ? session != session_at(m, steplist_turn_at(m, step - 1))
			: m->steps[0].earlier;

	if (new &&session == SIZE_MAX)
		add(p, (struct line){.kind = LINE_OLDER, .at = step});
	else if (new)
		add(p, (struct line){.kind = LINE_SESSION, .at = session});
}

/* Adds a step, and its files if it is open. */
static void add_step(struct view_steps *p, size_t i, unsigned depth)
{
	struct line l = {.kind = LINE_STEP, .at = i, .depth = depth};
	const struct step_stat *stat;

	add_match(p, l);
	if (*p->list.filter || !steplist_is_open(p, &l))
		return;
	stat = steplist_stat(p, &p->v.ui->spec.model->steps[i]);
	for (size_t k = 0; stat && k < stat->n; k++)
		add(p, (struct line){.kind = LINE_FILE, .at = i, .sub = k, .depth = depth + 1});
	for (size_t k = 0; stat && k < stat->git.n; k++)
		add(p, (struct line){.kind = LINE_GIT, .at = i, .sub = k, .depth = depth + 1});
}

/* Counts the steps that are not notes. */
static size_t work_of(const struct view_steps *p, size_t from, size_t upto)
{
	size_t n = 0;

	for (size_t i = from; i < upto; i++)
		n += p->places || !step_row_is_note(&p->v.ui->spec.model->steps[i]);
	return n;
}

size_t steplist_note_files(const struct view_steps *p, const struct line *l)
{
	const struct model *m = p->v.ui->spec.model;
	size_t files = 0;

	for (size_t i = l->at; i < l->sub; i++) {
		const struct step_row *st = &m->steps[i];

		if (step_row_is_note(st))
			files += st->created + st->modified + st->deleted + st->renamed;
	}
	return files;
}

/* Adds a row for the notes of a session; those of earlier ones are of no use here. */
static void add_notes(struct view_steps *p, size_t from, size_t upto)
{
	const struct model *m = p->v.ui->spec.model;
	struct line l = {.kind = LINE_NOTES, .at = from, .sub = upto};

	if (p->places || *p->list.filter || m->steps[from].earlier || !steplist_note_files(p, &l))
		return;
	add(p, l);
	for (size_t i = from; i < upto && steplist_is_open(p, &l); i++)
		if (step_row_is_note(&m->steps[i]))
			add_step(p, i, 1);
}

/* Adds the steps of one turn, or steps without a known turn. */
static void add_turn(struct view_steps *p, const int64_t *places, size_t from, size_t upto)
{
	const struct model *m = p->v.ui->spec.model;
	struct line l = {.kind = LINE_TURN, .at = steplist_turn_at(m, from), .sub = from};
	size_t n = work_of(p, from, upto);
	bool row = l.at != SIZE_MAX && !*p->list.filter && !m->turns[l.at].batch &&
		   (m->turns[l.at].words ? n > 0 : n > 1);

	if (row)
		add(p, l);
	if (row && !steplist_is_open(p, &l))
		return;
	for (size_t i = from; i < upto; i++) {
		if (p->places || !step_row_is_note(&m->steps[i]))
			add_step(p, i, row);
		add_edits(p, places, m->steps[i].id, row);
	}
}

static size_t session_end(const struct model *m, size_t from)
{
	const size_t session = session_at(m, steplist_turn_at(m, from));
	size_t end = from;

	do
		end = steplist_turn_end(m, end);
	while (end < m->n_steps && session_at(m, steplist_turn_at(m, end)) == session);
	return end;
}

/* Adds the steps of one session. An earlier one with notes alone has no row. */
static void add_session_steps(struct view_steps *p, const int64_t *places, size_t from, size_t upto)
{
	const struct model *m = p->v.ui->spec.model;
	const bool idle = m->steps[from].earlier && !work_of(p, from, upto);

	if (!idle && !*p->list.filter)
		add_session(p, from);
	add_notes(p, from, upto);
	for (size_t i = from, end; i < upto; i = end) {
		end = steplist_turn_end(m, i);
		add_turn(p, places, i, end);
	}
}

/* Moves the cursor to its line, whose place may have changed. */
static void keep_cursor(struct view_steps *p)
{
	if (p->list.follow || !p->list.chosen)
		return;
	for (size_t i = 0; i < p->n; i++) {
		struct line_key k = steplist_key(p, &p->shown[i]);

		if (same_key(&k, &p->at))
			p->list.cursor = i;
	}
}

void steplist_collect(struct view_steps *p)
{
	const struct model *m = p->v.ui->spec.model;
	AUTO_FREE int64_t *places = xcalloc(m->n_edits + 1, sizeof(*places));
	size_t first = 0, end;

	p->n = 0;
	for (size_t i = 0; i < m->n_edits; i++)
		places[i] = place_of(m, &m->edits[i]);
	add_edits(p, places, 0, 0);
	/* A recording has no turns of earlier sessions. */
	for (; p->v.ui->spec.replay && first < m->n_steps && m->steps[first].earlier; first++)
		add_edits(p, places, m->steps[first].id, 0);
	for (size_t i = first; i < m->n_steps; i = end) {
		end = session_end(m, i);
		add_session_steps(p, places, i, end);
	}
	keep_cursor(p);
}
