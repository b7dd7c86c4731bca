/* view_step_move - moves in a diff: files, hunks, folds, matches, the look, and the mouse. */
/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "core/base/text.h"
#include "tui/console/views/view_step.h"

#define AHEAD 400   /* lines read in advance below the screen */
#define EAGER 20000 /* lines read in any case, for the counts in the list of files */

void step_read_on(struct view_step *p)
{
	struct review *r = p->review;
	size_t seen = p->list.cursor < p->rows.n
			      ? diff_row_line(&p->rows.list[p->list.cursor]) + p->list.page
			      : p->list.page;

	if (r->listed && (p->jump || r->n_lines < EAGER || r->n_lines < seen + AHEAD))
		review_more(r);
}

const struct review_line *step_line(const struct view_step *p)
{
	if (!p->review || p->list.cursor >= p->rows.n)
		return NULL;
	return &p->review->lines[diff_row_line(&p->rows.list[p->list.cursor])];
}

void step_go_file(struct view_step *p, size_t file)
{
	p->file = file;
	p->jump = true; /* at the next drawing */
	step_read_on(p);
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
		/* Makes its lines visible. */
		if (i + p->list.page / 2 > p->list.top + p->list.page)
			p->list.top = i - MIN(p->list.page / 4, i);
		p->jump = false;
		step_read_on(p);
		return;
	}
	ui_say(p->v.ui, next ? "This is the last hunk%s" : "This is the first hunk%s",
	       next && !p->review->whole ? " read so far." : ".");
}

/* Folds the heading above the cursor, or all headings. */
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
		step_read_on(p);
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

/* Appends a row's text for a search. */
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

/* Scrolls the match to the middle of the page. */
static void show_match(struct view_step *p)
{
	size_t half = p->list.page / 2;

	p->jump = p->in_tree = false;
	p->list.top = p->list.cursor > half ? p->list.cursor - half : 0;
	step_read_on(p);
}

static void search_on(struct view_step *p, bool back)
{
	if (list_search_next(&p->list, back, p->rows.n, text_of, p))
		show_match(p);
	else
		ui_say(p->v.ui, "No match.");
}

void step_search(struct view_step *p, const char *text)
{
	const struct review *r = p->review;

	step_rows(p);
	if (!list_search(&p->list, text, p->rows.n, text_of, p))
		ui_say(p->v.ui, "No line %shas '%s'.", r->whole ? "" : "read so far ", text);
	else if (*text)
		show_match(p);
}

bool step_move(struct view_step *p, enum action a)
{
	if (scroll(p, a) || look(p, a))
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
	default:
		return false;
	}
}

/* Rows begin below the heading and, on a narrow screen, the file's name. */
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

void step_mouse(struct view *v, const struct mouse *m, struct rect r)
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
