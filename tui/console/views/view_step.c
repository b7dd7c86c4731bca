/* view_step - what one step changed, or somebody else after it, or a merge is to write: the files,
 * then one long diff of them all. */
/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "core/base/text.h"
#include "tui/console/views/view_step.h"

#define AHEAD 400   /* lines below the screen that are read in advance */
#define EAGER 20000 /* lines that are read in any case: the list of files has their counts then */

static const enum action hints[] = {
	ACTION_NEXT_HUNK, ACTION_NEXT_FILE, ACTION_SIDE_BY_SIDE, ACTION_FILES,
	ACTION_UNDO,	  ACTION_RESTORE,   ACTION_SEARCH,	 ACTION_FILTER,
	ACTION_FOLD,	  ACTION_WRAP,	    ACTION_BLANKS,	 ACTION_EDIT,
	ACTION_COPY,	  ACTION_EXPORT,    ACTION_BACK,	 ACTION_NONE};

static const enum action edits_hints[] = {ACTION_NEXT_HUNK,   ACTION_NEXT_FILE, ACTION_SIDE_BY_SIDE,
					  ACTION_FILES,	      ACTION_PAGE_DOWN, ACTION_SEARCH,
					  ACTION_SEARCH_NEXT, ACTION_BACK,	ACTION_NONE};

static const enum action other_hints[] = {
	ACTION_NEXT_HUNK, ACTION_NEXT_FILE, ACTION_SIDE_BY_SIDE, ACTION_FILES, ACTION_SEARCH,
	ACTION_FILTER,	  ACTION_FOLD,	    ACTION_COPY,	 ACTION_BACK,  ACTION_NONE};

static const enum action merge_hints[] = {ACTION_CONFIRM, ACTION_PAGE_DOWN, ACTION_PAGE_UP,
					  ACTION_SEARCH,  ACTION_BACK,	    ACTION_NONE};

static void read_on(struct view_step *p)
{
	struct review *r = p->review;
	size_t seen = p->list.cursor < p->rows.n
			      ? diff_row_line(&p->rows.list[p->list.cursor]) + p->list.page
			      : p->list.page;

	if (r->listed && (p->jump || r->n_lines < EAGER || r->n_lines < seen + AHEAD))
		review_more(r);
}

static void go_to_wanted(struct view_step *p)
{
	const struct review *r = p->review;

	if (!p->want || !r->listed)
		return;
	for (size_t i = 0; i < r->n_files; i++) {
		AUTO_FREE char *name = review_name(r->files[i].change);

		if (!str_eq(name, p->want))
			continue;
		p->file = i;
		p->jump = true;
	}
	free(take_ptr(&p->want));
}

void step_want(struct view_step *p, const char *file)
{
	free(p->want);
	p->want = xstrdup(file);
	if (p->review)
		go_to_wanted(p);
}

void step_as_preview(struct view_step *p)
{
	p->preview = true;
}

bool step_has_read(const struct view_step *p)
{
	return !p->review || p->review->whole ||
	       (p->review->listed && p->review->n_lines && !p->jump);
}

static void news(void *data)
{
	struct view_step *p = data;

	p->v.ui->dirty = true;
	go_to_wanted(p);
	read_on(p);
}

const struct review_line *step_line(const struct view_step *p)
{
	if (!p->review || p->list.cursor >= p->rows.n)
		return NULL;
	return &p->review->lines[diff_row_line(&p->rows.list[p->list.cursor])];
}

/* ---- acting --------------------------------------------------------------------------------- */

void step_go_file(struct view_step *p, size_t file)
{
	p->file = file;
	p->jump = true; /* the next drawing goes there */
	read_on(p);
}

static void go_file(struct view_step *p, bool next)
{
	struct review *r = p->review;

	if (r->n_files == 0) {
		ui_say(p->v.ui,
		       r->listed ? "There is no file." : "The changes are still being read.");
		return;
	}
	if (next && p->file + 1 >= r->n_files)
		ui_say(p->v.ui, "This is the last file.");
	else if (next)
		step_go_file(p, p->file + 1);
	else
		step_go_file(p, p->file ? p->file - 1 : 0);
}

static void go_hunk(struct view_step *p, bool next)
{
	size_t i = p->list.cursor;

	p->in_tree = false;
	while (next ? i + 1 < p->rows.n : i > 0) {
		i += next ? 1 : (size_t)-1;
		if (p->rows.list[i].kind != DIFF_HUNK)
			continue;
		p->list.cursor = i;
		/* Its lines are what one wants to see. */
		if (i + p->list.page / 2 > p->list.top + p->list.page)
			p->list.top = i - MIN(p->list.page / 4, i);
		p->jump = false;
		read_on(p);
		return;
	}
	ui_say(p->v.ui, next ? "This is the last hunk%s" : "This is the first hunk%s",
	       next && !p->review->whole ? " read so far." : ".");
}

/* Of the heading above the cursor, and all of them. */
static void fold(struct view_step *p, bool all)
{
	struct review *r = p->review;
	size_t at;
	bool folded;

	if (!step_line(p))
		return;
	at = diff_row_line(&p->rows.list[p->list.cursor]);
	if (all) {
		folded = !r->lines[r->files[p->file].first_line].folded;
		for (size_t i = 0; i < r->n_files && r->files[i].loaded; i++)
			if (r->files[i].n_lines)
				r->lines[r->files[i].first_line].folded = folded;
		at = r->files[p->file].first_line;
	} else {
		while (at > r->files[p->file].first_line && r->lines[at].kind != DIFF_HUNK)
			at--;
		if (diff_rows_below(r, at))
			r->lines[at].folded = !r->lines[at].folded;
	}
	p->rows.stale = true;
	p->list.cursor = diff_rows_find(&p->rows, at);
}

static bool scroll(struct view_step *p, enum action a)
{
	bool moved = true;

	if (a == ACTION_LEFT)
		p->left = MAX(0, p->left - STEP_LEFT_COLS);
	else if (a == ACTION_RIGHT && p->look.wrap)
		ui_say(p->v.ui, "Lines are wrapped: nothing goes on at the right.");
	else if (a == ACTION_RIGHT)
		p->left = MIN(REVIEW_COLS, p->left + STEP_LEFT_COLS);
	else
		moved = list_act(&p->list, a, p->rows.n);
	p->list.follow = false;
	if (moved)
		p->jump = false;
	if (moved)
		read_on(p);
	return moved;
}

static bool look(struct view_step *p, enum action a)
{
	const struct review_line *l = step_line(p);
	struct ui *ui = p->v.ui;

	switch ((int)a) {
	case ACTION_SIDE_BY_SIDE:
		p->look.split = !p->look.split;
		if (p->look.split && ui->layout.body.w < STEP_SPLIT_W)
			ui_say(ui, "Two columns need %d, this is %d.", STEP_SPLIT_W,
			       ui->layout.body.w);
		break;
	case ACTION_WRAP:
		p->look.wrap = !p->look.wrap;
		ui_say(ui, p->look.wrap ? "Long lines are wrapped." : "Long lines are cut.");
		break;
	case ACTION_BLANKS:
		p->look.blank = !p->look.blank;
		ui_say(ui, p->look.blank ? "Changes of blanks alone are left out."
					 : "Changes of blanks are shown.");
		break;
	case ACTION_FOLD:
	case ACTION_FOLD_ALL:
		fold(p, a == ACTION_FOLD_ALL);
		break;
	case ACTION_OPEN:
		if (!l || (l->kind != DIFF_FILE && l->kind != DIFF_HUNK))
			return false;
		fold(p, false);
		break;
	case ACTION_FILES:
		p->in_tree = !p->in_tree;
		break;
	default:
		return false;
	}
	ui->dirty = true;
	return true;
}

/* Of a row: what a search looks at. */
static void text_of(void *data, size_t i, struct buf *out)
{
	const struct view_step *p = data;
	const struct diff_row *row = &p->rows.list[i];
	const uint32_t sides[] = {row->left, row->right};
	const struct review *r = p->review;

	for (size_t k = 0; k < ARRAY_LEN(sides); k++) {
		const struct review_line *l = sides[k] ? &r->lines[sides[k] - 1] : NULL;

		if (l && !(k && sides[0] == sides[1]))
			diff_expand(r->text.data + l->at, MIN(l->len, (uint32_t)REVIEW_COLS), 0,
				    out);
	}
}

/* The match is brought into the middle of the page. */
static void show_match(struct view_step *p)
{
	size_t half = p->list.page / 2;

	p->jump = p->in_tree = false;
	p->list.top = p->list.cursor > half ? p->list.cursor - half : 0;
	read_on(p);
}

static void read_files(struct view_step *p, const struct undo_plan *merges)
{
	const struct ui_spec *spec = &p->v.ui->spec;
	const char *const other[] = {p->folder, NULL};
	const char *const *folders = p->folder ? other : spec->folders;

	if (!folders || !spec->state_dir || !spec->verbs->submit)
		return;
	review_free(p->review);
	p->rows.n = p->rows.lines = p->tree_files = p->n_tree = 0;
	p->rows.stale = true;
	p->review = review_new(&(struct review_spec){.folders = folders,
						     .state_dir = spec->state_dir,
						     .step = p->step,
						     .from = p->from,
						     .to = p->to,
						     .places = p->places,
						     .edits = p->edits.paths ? &p->edits : NULL,
						     .merges = merges,
						     .filter = p->list.filter,
						     .submit = spec->verbs->submit,
						     .data = spec->data,
						     .news = news,
						     .view = p});
	review_more(p->review);
}

static bool still_runs(const struct view_step *p)
{
	const struct model *m = p->v.ui->spec.model;

	for (size_t i = 0; i < m->n_steps; i++) {
		if (m->steps[i].id == p->step)
			return m->steps[i].running;
	}
	return false;
}

/* A step that ran when it was opened can be read when it has ended. */
static void changed(struct view *v)
{
	struct view_step *p = (struct view_step *)v;
	bool ran = p->running;

	p->running = still_runs(p);
	if (ran && !p->running)
		read_files(p, NULL);
}

/* The files whose names have these words; "": all of them. */
static void filter(struct view_step *p, const char *text)
{
	snprintf(p->list.filter, sizeof(p->list.filter), "%s", text);
	p->list.top = p->list.cursor = p->file = 0;
	p->jump = false;
	read_files(p, NULL);
}

static void query(struct view *v, enum query what, const char *text)
{
	struct view_step *p = (struct view_step *)v;
	struct review *r = p->review;

	if (what == QUERY_FILTER) {
		filter(p, text);
		return;
	}
	if (!r)
		return;
	step_rows(p);
	if (!list_search(&p->list, text, p->rows.n, text_of, p))
		ui_say(v->ui, "No line %shas '%s'.", r->whole ? "" : "read so far ", text);
	else if (*text)
		show_match(p);
}

static void search_on(struct view_step *p, bool back)
{
	if (list_search_next(&p->list, back, p->rows.n, text_of, p))
		show_match(p);
	else
		ui_say(p->v.ui, "No match.");
}

static void undo(struct view_step *p)
{
	if (p->step || p->from)
		ui_undo(p->v.ui, UNDO_BACK, p->from ? p->from : p->step);
	else
		ui_say(p->v.ui, "You (or another program) made this edit; undo leaves it alone.");
}

static void restore(struct view_step *p)
{
	const struct review *r = p->review;
	AUTO_FREE char *path = NULL;

	if (p->from)
		ui_say(p->v.ui, "Open the step itself: a file is restored as before one step.");
	else if (!r->listed)
		ui_say(p->v.ui, "The changes are still being read: press it again.");
	else if (p->file >= r->n_files)
		ui_say(p->v.ui, "There is no file to restore.");
	if (!p->step || p->file >= r->n_files)
		return;
	path = review_name(r->files[p->file].change);
	ui_restore(p->v.ui, p->step, path);
}

/* The hunk at the cursor, as before the step; that is a step of its own. */
static void restore_hunk(struct view_step *p)
{
	struct ui *ui = p->v.ui;
	const struct review_line *l = step_line(p);
	const struct review_file *f = l ? &p->review->files[l->file] : NULL;
	AUTO_FREE char *path = f ? review_name(f->change) : NULL;
	unsigned hunk = 0;
	uint64_t request;

	for (const struct review_line *i = p->review->lines + (f ? f->first_line : 0); f && i <= l;
	     i++)
		hunk += i->kind == DIFF_HUNK;
	if (!p->step || !ui->spec.verbs->restore_hunk) {
		ui_say(ui, p->step ? "Not from here: in the session's own console."
				   : "Only a hunk of one step can be restored.");
	} else if (!hunk) {
		ui_say(ui, "Go to a hunk first: n.");
	} else if (ui->spec.model->job.active) {
		ui_say(ui, "Another undo or redo is still at work.");
	} else {
		request = ui->spec.verbs->restore_hunk(ui->spec.data, p->step, path, hunk);
		if (request)
			ui_push(ui, dialog_progress_new(ui, request));
	}
}

/* The dialog below asked for this to be read. */
static void confirm(struct ui *ui)
{
	struct view *dialog;

	ui_pop(ui);
	dialog = ui_top(ui);
	if (dialog->ops->place == PLACE_PLAN)
		dialog->ops->act(dialog, ACTION_CONFIRM);
}

/* Refuses the actions that are about the session of this console, in a diff of another one. */
static bool is_refused(struct view_step *p, enum action a)
{
	switch ((int)a) {
	case ACTION_UNDO:
	case ACTION_REDO:
	case ACTION_RESTORE:
	case ACTION_RESTORE_HUNK:
	case ACTION_EDIT:
	case ACTION_BLAME:
	case ACTION_MOMENT:
	case ACTION_SHOW_REVIEW:
	case ACTION_DIFF_SESSION:
	case ACTION_DIFF_TURN:
	case ACTION_DIFF_MARK:
		if (p->folder)
			ui_say(p->v.ui, "These are changes of another session: go there for that.");
		return p->folder != NULL;
	default:
		return false;
	}
}

static bool act(struct view *v, enum action a)
{
	struct view_step *p = (struct view_step *)v;

	if (is_refused(p, a))
		return true;
	if (p->review)
		step_rows(p);
	if (p->review && step_tree_act(p, a))
		return true;
	if (a == ACTION_BACK && *p->list.filter) {
		filter(p, "");
		return true;
	}
	if (a == ACTION_BACK) {
		ui_pop(v->ui);
		return true;
	}
	if (a == ACTION_CONFIRM) {
		confirm(v->ui);
		return true;
	}
	if (!p->review)
		return false;
	if (a == ACTION_ALL_PLACES) {
		p->places = !p->places;
		read_files(p, NULL);
		return true;
	}
	if (scroll(p, a) || look(p, a) || step_patch_act(p, a))
		return true;
	switch ((int)a) {
	case ACTION_NEXT_FILE:
	case ACTION_PREV_FILE:
		go_file(p, a == ACTION_NEXT_FILE);
		return true;
	case ACTION_NEXT_HUNK:
	case ACTION_PREV_HUNK:
		go_hunk(p, a == ACTION_NEXT_HUNK);
		return true;
	case ACTION_SEARCH_NEXT:
	case ACTION_SEARCH_PREV:
		search_on(p, a == ACTION_SEARCH_PREV);
		return true;
	case ACTION_UNDO:
		undo(p);
		return true;
	case ACTION_RESTORE:
		restore(p);
		return true;
	case ACTION_RESTORE_HUNK:
		restore_hunk(p);
		return true;
	default:
		return false;
	}
}

/* The rows begin below the heading, and on a narrow screen below the file's name. */
static void click(struct view_step *p, const struct mouse *m, struct rect r)
{
	bool wide = step_wide(p, r);
	int git = step_git_rows(p, r.h);
	struct rect tree;
	size_t row;

	r = (struct rect){r.x, r.y + git, r.w, r.h - git};
	tree = (struct rect){r.x, r.y + 1, wide ? STEP_TREE_W(r.w) : r.w, r.h - 1};
	if ((wide || p->in_tree) && rect_has(tree, m->x, m->y)) {
		step_tree_click(p, tree, m);
		p->in_tree &= wide;
		return;
	}
	row = p->list.top + (size_t)MAX(0, m->y - r.y - (wide ? 1 : 2));
	if (m->y <= r.y || row >= p->rows.n)
		return;
	p->in_tree = p->jump = false;
	p->list.cursor = row;
	if (m->twice)
		look(p, ACTION_OPEN);
}

static void mouse(struct view *v, const struct mouse *m, struct rect r)
{
	struct view_step *p = (struct view_step *)v;

	if (!p->review)
		return;
	if (m->action == MOUSE_PRESS)
		click(p, m, r);
	for (int i = 0; i < 3; i++) {
		if (m->action == MOUSE_WHEEL_UP || m->action == MOUSE_WHEEL_DOWN)
			scroll(p, m->action == MOUSE_WHEEL_UP ? ACTION_UP : ACTION_DOWN);
	}
}

static void view_free(struct view *v)
{
	struct view_step *p = (struct view_step *)v;

	review_free(p->review);
	diff_rows_done(&p->rows);
	free(p->tree);
	free(p->words);
	free(p->folder);
	free(p->want);
	barrier_done(&p->edits);
	free(v);
}

#define OPS(the_place, the_hints)                                                                  \
	{                                                                                          \
		.place = (the_place), .draw = view_step_draw, .act = act, .query = query,          \
		.does = DOES_MOVE | DOES_SIDEWAYS | DOES_OPEN,                                     \
		.filters = (the_place) == PLACE_STEP, .mouse = mouse, .part = view_step_part,      \
		.changed = changed, .free = view_free, .hints = (the_hints),                       \
	}
static const struct view_ops ops = OPS(PLACE_STEP, hints);
static const struct view_ops edits_ops = OPS(PLACE_STEP, edits_hints);
static const struct view_ops merge_ops = OPS(PLACE_PLAN, merge_hints);
static const struct view_ops other_ops = OPS(PLACE_STEP, other_hints);

static struct view_step *make(struct ui *ui, const struct view_ops *the_ops)
{
	struct view_step *p = xcalloc(1, sizeof(*p));

	p->v = (struct view){.ops = the_ops, .ui = ui};
	return p;
}

struct view *view_step_new(struct ui *ui, int64_t step)
{
	struct view_step *p = make(ui, &ops);

	p->step = step;
	p->running = still_runs(p);
	read_files(p, NULL);
	return &p->v;
}

struct view *view_range_new(struct ui *ui, int64_t from, const char *words)
{
	struct view_step *p = make(ui, &ops);

	p->from = from;
	p->words = xstrdup(words);
	read_files(p, NULL);
	return &p->v;
}

struct view *view_turn_new(struct ui *ui, int64_t from, int64_t to, const char *words)
{
	struct view_step *p = make(ui, &ops);

	p->from = from;
	p->to = to;
	p->words = words ? xasprintf("of: %s", words) : xstrdup("in this turn");
	read_files(p, NULL);
	return &p->v;
}

struct view *view_other_new(struct ui *ui, const char *folder, int64_t from, int64_t to,
			    const char *words)
{
	struct view_step *p = make(ui, &other_ops);

	p->folder = xstrdup(folder);
	p->from = from;
	p->to = to;
	p->words = xstrdup(words);
	read_files(p, NULL);
	return &p->v;
}

struct view *view_edits_new(struct ui *ui, const struct barrier *edits)
{
	struct view_step *p = make(ui, &edits_ops);

	p->edits = barrier_copy(edits);
	read_files(p, NULL);
	return &p->v;
}

struct view *view_merge_new(struct ui *ui, const struct undo_plan *plan)
{
	struct view_step *p = make(ui, &merge_ops);

	read_files(p, plan);
	return &p->v;
}
