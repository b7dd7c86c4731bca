/* view_step - the changes of a step, of external edits or of planned merges: the files, and one
 * long diff of all. */
/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "tui/console/views/view_step.h"

static const enum action hints[] = {
	ACTION_NEXT_HUNK, ACTION_NEXT_FILE, ACTION_SIDE_BY_SIDE, ACTION_FILES,
	ACTION_UNDO,	  ACTION_RESTORE,   ACTION_SEARCH,	 ACTION_FILTER,
	ACTION_FOLD,	  ACTION_WRAP,	    ACTION_BLANKS,	 ACTION_EDIT,
	ACTION_COPY,	  ACTION_EXPORT,    ACTION_BACK,	 ACTION_NONE};

/* Of several steps no file is restored. */
static const enum action range_hints[] = {
	ACTION_NEXT_HUNK, ACTION_NEXT_FILE, ACTION_SIDE_BY_SIDE, ACTION_FILES,
	ACTION_UNDO,	  ACTION_SEARCH,    ACTION_SHOW_REVIEW,	 ACTION_FILTER,
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
	step_read_on(p);
}

/* ---- acting --------------------------------------------------------------------------------- */

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

/* Reads a step that was running when the view was opened, once it has ended. */
static void changed(struct view *v)
{
	struct view_step *p = (struct view_step *)v;
	bool ran = p->running;

	p->running = still_runs(p);
	if (ran && !p->running)
		read_files(p, NULL);
}

/* Shows the files whose names have these words; "": all. */
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

	if (what == QUERY_FILTER)
		filter(p, text);
	else if (p->review)
		step_search(p, text);
}

/* Confirms in the dialog below, which required this view. */
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

	if (step_refuses(p, a))
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
	return step_move(p, a) || step_patch_act(p, a) || step_undo_act(p, a);
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
		.filters = (the_place) == PLACE_STEP, .mouse = step_mouse, .part = view_step_part, \
		.changed = changed, .free = view_free, .hints = (the_hints),                       \
	}
static const struct view_ops ops = OPS(PLACE_STEP, hints);
static const struct view_ops range_ops = OPS(PLACE_STEP, range_hints);
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
	struct view_step *p = make(ui, &range_ops);

	p->from = from;
	p->words = xstrdup(words);
	read_files(p, NULL);
	return &p->v;
}

struct view *view_turn_new(struct ui *ui, int64_t from, int64_t to, const char *words)
{
	struct view_step *p = make(ui, &range_ops);

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
