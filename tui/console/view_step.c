/* view_step - what one step changed, or somebody else after it, or a merge is to write: the files,
 * then one long diff of them all. */
/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "core/base/text.h"
#include "tui/console/view_step.h"

#define AHEAD 400 /* lines below the screen that are read in advance */

static const enum action hints[] = {
	ACTION_NEXT_FILE, ACTION_PREV_FILE,   ACTION_PAGE_DOWN, ACTION_UNDO, ACTION_RESTORE,
	ACTION_SEARCH,	  ACTION_SEARCH_NEXT, ACTION_FILTER,	ACTION_BACK, ACTION_NONE};

static const enum action edits_hints[] = {ACTION_NEXT_FILE, ACTION_PREV_FILE,	ACTION_PAGE_DOWN,
					  ACTION_SEARCH,    ACTION_SEARCH_NEXT, ACTION_BACK,
					  ACTION_NONE};

static const enum action merge_hints[] = {ACTION_CONFIRM, ACTION_PAGE_DOWN, ACTION_PAGE_UP,
					  ACTION_SEARCH,  ACTION_BACK,	    ACTION_NONE};

static void news(void *data)
{
	struct view_step *p = data;
	struct review *r = p->review;

	p->v.ui->dirty = true;
	if (p->jump && p->file < r->n_files && r->files[p->file].loaded) {
		p->list.top = r->files[p->file].first_line;
		p->jump = false;
	}
	if (r->listed && (p->jump || r->n_lines < p->list.top + p->list.page + AHEAD))
		review_more(r);
}

/* ---- acting --------------------------------------------------------------------------------- */

static void scroll_to(struct view_step *p, size_t line)
{
	struct review *r = p->review;

	p->jump = p->chosen = false;
	p->list.top = line;
	if (r->n_lines < line + p->list.page + AHEAD)
		review_more(r);
}

static void go_file(struct view_step *p, bool next)
{
	struct review *r = p->review;

	if (r->n_files == 0)
		return;
	if (next && p->file + 1 >= r->n_files) {
		ui_say(p->v.ui, "This is the last file.");
		return;
	}
	if (!next && p->file > 0 && (p->chosen || r->files[p->file].first_line == p->list.top))
		p->file--;
	else if (next)
		p->file++;
	p->jump = !r->files[p->file].loaded;
	if (p->jump)
		review_more(r);
	else
		scroll_to(p, r->files[p->file].first_line);
	p->chosen = true;
}

static bool scroll(struct view_step *p, enum action a)
{
	size_t top = p->list.top, page = MAX(p->list.page, (size_t)2) - 1;

	switch ((int)a) {
	case ACTION_UP:
		scroll_to(p, top ? top - 1 : 0);
		return true;
	case ACTION_DOWN:
		scroll_to(p, top + 1);
		return true;
	case ACTION_PAGE_UP:
		scroll_to(p, top > page ? top - page : 0);
		return true;
	case ACTION_PAGE_DOWN:
		scroll_to(p, top + page);
		return true;
	case ACTION_TOP:
		scroll_to(p, 0);
		return true;
	case ACTION_BOTTOM:
		scroll_to(p, p->review->n_lines);
		return true;
	case ACTION_LEFT:
		p->left = MAX(0, p->left - TAB_COLS);
		return true;
	case ACTION_RIGHT:
		p->left = MIN(4096, p->left + TAB_COLS);
		return true;
	default:
		return false;
	}
}

static void text_of(void *data, size_t i, struct buf *out)
{
	const struct review *r = data;

	text_escape(out, r->text.data + r->lines[i].at, r->lines[i].len);
}

/* The match is brought into the middle of the page. */
static void show_match(struct view_step *p)
{
	size_t half = p->list.page / 2;

	scroll_to(p, p->list.cursor > half ? p->list.cursor - half : 0);
}

static void read_files(struct view_step *p, const struct undo_plan *merges)
{
	const struct ui_spec *spec = &p->v.ui->spec;

	if (!spec->folders || !spec->state_dir || !spec->verbs->submit)
		return;
	review_free(p->review);
	p->review = review_new(&(struct review_spec){.folders = spec->folders,
						     .state_dir = spec->state_dir,
						     .step = p->step,
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
	p->list.top = p->file = 0;
	p->jump = p->chosen = false;
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
	if (!*p->list.search)
		p->list.cursor = p->list.top;
	if (!list_search(&p->list, text, r->n_lines, text_of, r))
		ui_say(v->ui, "No line %shas '%s'.", r->whole ? "" : "read so far ", text);
	else if (*text)
		show_match(p);
}

static void search_on(struct view_step *p, bool back)
{
	if (list_search_next(&p->list, back, p->review->n_lines, text_of, p->review))
		show_match(p);
	else
		ui_say(p->v.ui, "No match.");
}

static void undo(struct view_step *p)
{
	if (p->step)
		ui_undo(p->v.ui, UNDO_BACK, p->step);
	else
		ui_say(p->v.ui, "You (or another program) made this edit; undo leaves it alone.");
}

static void restore(struct view_step *p)
{
	const struct review *r = p->review;
	AUTO_FREE char *path = NULL;

	if (!p->step || p->file >= r->n_files)
		return;
	path = view_step_name(r->files[p->file].change);
	ui_restore(p->v.ui, p->step, path);
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

static bool act(struct view *v, enum action a)
{
	struct view_step *p = (struct view_step *)v;

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
	if (scroll(p, a))
		return true;
	switch ((int)a) {
	case ACTION_NEXT_FILE:
	case ACTION_PREV_FILE:
		go_file(p, a == ACTION_NEXT_FILE);
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
	default:
		return false;
	}
}

static void mouse(struct view *v, const struct mouse *m, struct rect r)
{
	struct view_step *p = (struct view_step *)v;

	(void)r;
	if (!p->review)
		return;
	for (int i = 0; i < 3; i++) {
		if (m->action == MOUSE_WHEEL_UP || m->action == MOUSE_WHEEL_DOWN)
			scroll(p, m->action == MOUSE_WHEEL_UP ? ACTION_UP : ACTION_DOWN);
	}
}

static void view_free(struct view *v)
{
	struct view_step *p = (struct view_step *)v;

	review_free(p->review);
	barrier_done(&p->edits);
	free(v);
}

#define OPS(the_place, the_hints)                                                                  \
	{                                                                                          \
		.place = (the_place), .draw = view_step_draw, .act = act, .query = query,          \
		.filters = (the_place) == PLACE_STEP, .mouse = mouse, .changed = changed,          \
		.free = view_free, .hints = (the_hints),                                           \
	}
static const struct view_ops ops = OPS(PLACE_STEP, hints);
static const struct view_ops edits_ops = OPS(PLACE_STEP, edits_hints);
static const struct view_ops merge_ops = OPS(PLACE_PLAN, merge_hints);

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
