/* view_review - the changes of a turn, hunk by hunk: kept, taken back, commented, sent to the
 * agent. */
/* SPDX-License-Identifier: MIT */
#include "tui/console/views/view_review.h"

#include <string.h>

#include "core/base/path.h"
#include "core/base/text.h"
#include "tui/console/replay/moment.h"
#include "tui/console/views/line_blame.h"

static const enum action hints[] = {ACTION_KEEP_HUNK,	ACTION_TAKE_BACK,   ACTION_COMMENT,
				    ACTION_SEND_REVIEW, ACTION_COMMIT_KEPT, ACTION_KEEP_ALL,
				    ACTION_BRING_BACK,	ACTION_NEXT_HUNK,   ACTION_REVIEW_SCOPE,
				    ACTION_FOLD,	ACTION_FOLD_ALL,    ACTION_EDIT,
				    ACTION_BLAME,	ACTION_MOMENT,	    ACTION_TAKE_BACK_NOW,
				    ACTION_BACK,	ACTION_NONE};

static const enum action message_hints[] = {ACTION_SEND_REVIEW, ACTION_BACK, ACTION_NONE};
static const struct view_ops ops, message_ops;

const struct review_row *review_row_at(const struct view_review *p)
{
	return p->list.cursor < p->n_rows ? &p->rows[p->list.cursor] : NULL;
}

/* ---- moving ---------------------------------------------------------------------------------- */

static void go(struct view_review *p, enum review_row_kind kind, bool next)
{
	size_t i = p->list.cursor;

	while (next ? i + 1 < p->n_rows : i > 0) {
		i += next ? 1 : (size_t)-1;
		if (p->rows[i].kind != kind)
			continue;
		p->list.cursor = i;
		if (i + p->list.page / 2 > p->list.top + p->list.page) /* shows its lines */
			p->list.top = i - MIN(p->list.page / 4, i);
		return;
	}
}

/* Moves to the next hunk without a verdict. */
static void go_on(struct view_review *p, size_t hunk)
{
	for (size_t pass = 0; pass < 2; pass++)
		for (size_t i = 0; i < p->n_rows; i++) {
			const struct review_row *r = &p->rows[i];

			if (r->kind != REVIEW_ROW_HUNK || (!pass && r->hunk <= hunk) ||
			    review_state_of(p, r->hunk) != PIECE_OPEN)
				continue;
			p->list.cursor = i;
			if (i < p->list.top || i + p->list.page / 2 > p->list.top + p->list.page)
				p->list.top = i - MIN(p->list.page / 4, i);
			return;
		}
}

/* ---- verdicts -------------------------------------------------------------------------------- */

/* Sends one verdict for all these hunks: they are written to the store at once. */
static void say_all(struct view_review *p, enum review_verb verb, const struct hunk *const *list,
		    size_t n)
{
	const struct ui_spec *spec = &p->v.ui->spec;

	if (n)
		spec->verbs->review(spec->data, verb, list, n);
	review_build(p);
}

/* Judges the hunk at the cursor; on a file, all its hunks. */
static void judge(struct view_review *p, enum review_verb verb)
{
	const struct review_row *r = review_row_at(p);
	AUTO_FREE const struct hunk **list = xcalloc(p->hunks.n + 1, sizeof(void *));
	size_t hunk = r ? r->hunk : 0, n = 0;
	bool file = r && r->kind == REVIEW_ROW_FILE;

	if (!r)
		return;
	/* Taken back from the last to the first, and restored in the opposite order: each hunk
	 * finds the file as it left it. */
	for (size_t k = 0; k < p->hunks.n; k++) {
		size_t i = verb == REVIEW_BRING_BACK ? k : p->hunks.n - 1 - k;
		const struct hunk *h = &p->hunks.list[i];

		if (!(file ? str_eq(h->path, p->hunks.list[hunk].path) : i == hunk))
			continue;
		if (review_state_of(p, i) == PIECE_TAKEN && verb == REVIEW_KEEP)
			ui_say(p->v.ui, "It is taken back: u brings it back.");
		else if (verb != REVIEW_BRING_BACK || review_state_of(p, i) != PIECE_OPEN)
			list[n++] = h;
		p->pieces[i].toggled = false;
	}
	if (verb == REVIEW_BRING_BACK && n == 0)
		ui_say(p->v.ui,
		       "This was neither kept nor taken back: there is nothing to bring back.");
	say_all(p, verb, list, n);
	if (verb != REVIEW_BRING_BACK)
		go_on(p, hunk);
}

static void keep_all(struct view_review *p)
{
	AUTO_FREE const struct hunk **list = xcalloc(p->hunks.n + 1, sizeof(void *));
	size_t n = 0;

	for (size_t i = 0; i < p->hunks.n; i++)
		if (review_state_of(p, i) == PIECE_OPEN)
			list[n++] = &p->hunks.list[i];
	say_all(p, REVIEW_KEEP, list, n);
	ui_say(p->v.ui,
	       n == 1 ? "One piece is kept."
	       : n    ? "%zu pieces are kept."
		      : "There is nothing left to keep.",
	       n);
}

/* ---- other actions --------------------------------------------------------------------------- */

static void edit(struct view_review *p)
{
	const struct review_row *r = review_row_at(p);
	struct ui *ui = p->v.ui;
	struct err err = {0};
	AUTO_FREE char *path = NULL;
	int line;

	if (!r || !ui->spec.verbs->edit) {
		ui_say(ui, "Not from here.");
		return;
	}
	path = path_join(ui->spec.folder, p->hunks.list[r->hunk].path);
	line = r->kind == REVIEW_ROW_LINE && p->hunks.lines[r->at].new_line > 0
		       ? p->hunks.lines[r->at].new_line
		       : p->hunks.list[r->hunk].line;
	if (ui->spec.verbs->edit(ui->spec.data, path, line, &err) < 0)
		ui_say(ui, "%s", err.text);
}

/* Runs cordon on a terminal of its own: git's editor, hooks and passphrases need one. */
static void commit(struct view_review *p)
{
	struct ui *ui = p->v.ui;
	const char *const words[] = {"commit", "--pause", "--folder", ui->spec.folder};

	if (ui->spec.read_only)
		ui_say(ui, "In a terminal of its own: cordon commit");
	else
		ui_cordon(ui, words, ARRAY_LEN(words));
}

static void blame(struct view_review *p)
{
	const struct review_row *r = review_row_at(p);
	const struct hunk_line *l = r && r->kind == REVIEW_ROW_LINE ? &p->hunks.lines[r->at] : NULL;
	struct blamed_line of = {.kind = DIFF_META};

	if (l)
		of = (struct blamed_line){.path = p->hunks.list[r->hunk].path,
					  .kind = l->kind,
					  .line = l->new_line,
					  .text = {p->hunks.text.data + l->at, l->len}};
	line_blame(p->v.ui, &of);
}

static void go_to_moment(struct view_review *p)
{
	const struct review_row *r = review_row_at(p);

	if (r)
		moment_go(p->v.ui, p->hunks.list[r->hunk].step, p->hunks.list[r->hunk].path, 0);
}

static void fold(struct view_review *p)
{
	const struct review_row *r = review_row_at(p);
	size_t hunk = r ? r->hunk : 0;

	if (!r)
		return;
	if (r->kind == REVIEW_ROW_POINT && review_point_at(p)->done) {
		p->pieces[hunk].points = !p->pieces[hunk].points;
		return;
	}
	p->pieces[hunk].toggled = !p->pieces[hunk].toggled;
	review_build(p);
	for (size_t i = 0; i < p->n_rows; i++)
		if (p->rows[i].kind == REVIEW_ROW_HUNK && p->rows[i].hunk == hunk)
			p->list.cursor = i;
}

static void change_scope(struct view_review *p)
{
	p->session = !p->session;
	p->from = p->to = 0;
	review_reload(p);
}

static void back(struct view_review *p)
{
	if (p->message.len) {
		buf_clear(&p->message);
		p->v.ops = &ops;
	} else {
		ui_pop(p->v.ui);
	}
}

static bool decide(struct view_review *p, enum action a)
{
	switch ((int)a) {
	case ACTION_KEEP_HUNK:
		judge(p, REVIEW_KEEP);
		return true;
	case ACTION_TAKE_BACK:
		judge(p, REVIEW_TAKE_BACK);
		return true;
	case ACTION_TAKE_BACK_NOW:
		judge(p, REVIEW_TAKE_BACK_NOW);
		return true;
	case ACTION_BRING_BACK:
		if (!review_reopen(p))
			judge(p, REVIEW_BRING_BACK);
		return true;
	case ACTION_KEEP_ALL:
		keep_all(p);
		return true;
	case ACTION_COMMENT:
		review_comment(p);
		return true;
	case ACTION_COMMIT_KEPT:
		commit(p);
		return true;
	default:
		return false;
	}
}

static bool look(struct view_review *p, enum action a)
{
	switch ((int)a) {
	case ACTION_NEXT_HUNK:
	case ACTION_PREV_HUNK:
		go(p, REVIEW_ROW_HUNK, a == ACTION_NEXT_HUNK);
		return true;
	case ACTION_NEXT_FILE:
	case ACTION_PREV_FILE:
		go(p, REVIEW_ROW_FILE, a == ACTION_NEXT_FILE);
		return true;
	case ACTION_FOLD:
	case ACTION_OPEN:
		fold(p);
		return true;
	case ACTION_FOLD_ALL:
		p->all = !p->all;
		review_build(p);
		return true;
	case ACTION_REVIEW_SCOPE:
		change_scope(p);
		return true;
	case ACTION_EDIT:
		edit(p);
		return true;
	case ACTION_BLAME:
		blame(p);
		return true;
	case ACTION_MOMENT:
		go_to_moment(p);
		return true;
	default:
		return false;
	}
}

static bool act(struct view *v, enum action a)
{
	struct view_review *p = (struct view_review *)v;
	size_t rows = p->n_rows;

	if (a == ACTION_BACK) {
		back(p);
		return true;
	}
	if (a == ACTION_SEND_REVIEW) {
		p->v.ops = &ops;
		if (review_send(p))
			p->v.ops = &message_ops;
		return true;
	}
	if (p->message.len)
		return false;
	return list_keys(&p->list, v->ui, a, rows, review_row_text, p) || decide(p, a) ||
	       look(p, a);
}

static void query(struct view *v, enum query what, const char *text)
{
	struct view_review *p = (struct view_review *)v;

	if (what == QUERY_COMMENT)
		review_commented(p, text);
	else if (what == QUERY_SEARCH &&
		 !list_search(&p->list, text, p->n_rows, review_row_text, p))
		ui_say(v->ui, "No line has '%s'.", text);
}

static void changed(struct view *v)
{
	struct view_review *p = (struct view_review *)v;
	const struct model *m = v->ui->spec.model;

	review_reload(p);
	if (m->version != p->seen)
		review_build(p);
	if (m->review_said != p->told)
		ui_say(v->ui, "%s", m->review_words);
	p->told = m->review_said;
}

/* Reads which hunks are committed: `cordon commit`, another process, writes that last. */
static void tick(struct view *v)
{
	struct view_review *p = (struct view_review *)v;
	const struct ui_spec *spec = &v->ui->spec;

	spec->verbs->reviewed(spec->data);
	if (spec->model->version != p->seen)
		review_build(p);
}

static void mouse(struct view *v, const struct mouse *m, struct rect r)
{
	struct view_review *p = (struct view_review *)v;
	const struct rect body = {r.x, r.y + 1, r.w, MAX(0, r.h - 1)};

	if (!p->message.len)
		list_mouse(&p->list, m, body, p->n_rows);
}

static void view_free(struct view *v)
{
	struct view_review *p = (struct view_review *)v;

	review_load_abandon(p);
	hunks_done(&p->hunks);
	free(p->pieces);
	free(p->rows);
	free(p->steps);
	free(p->words);
	buf_done(&p->message);
	free(v);
}

#define OPS(the_hints)                                                                             \
	{                                                                                          \
		.place = PLACE_REVIEW, .draw = review_draw, .act = act, .query = query,            \
		.does = DOES_MOVE | DOES_OPEN, .mouse = mouse, .changed = changed, .tick = tick,   \
		.free = view_free, .hints = (the_hints),                                           \
	}
static const struct view_ops ops = OPS(hints);
static const struct view_ops message_ops = OPS(message_hints);

struct view *view_review_of(struct ui *ui, int64_t from, int64_t to, const char *words)
{
	struct view_review *p;

	if (!ui->spec.verbs->review || !ui->spec.verbs->reviewed(ui->spec.data)) {
		ui_say(ui, "Not from here: there is no history to review.");
		return NULL;
	}
	p = xcalloc(1, sizeof(*p));
	p->v = (struct view){.ops = &ops, .ui = ui};
	p->hunks.text = p->message = (struct buf)BUF_INIT;
	p->from = from;
	p->to = to;
	p->words = words ? xstrdup(words) : NULL;
	p->told = ui->spec.model->review_said;
	review_reload(p);
	return &p->v;
}

struct view *view_review_new(struct ui *ui)
{
	return view_review_of(ui, 0, 0, NULL);
}
