/* view_step - what one step changed, or somebody else after it, or a merge is to write: the files,
 * then one long diff of them all. */
/* SPDX-License-Identifier: MIT */
#include <string.h>
#include <sys/stat.h>

#include "core/base/clock.h"
#include "core/base/path.h"
#include "core/base/text.h"
#include "tui/console/review.h"
#include "tui/console/ui.h"

#define AHEAD	   400 /* lines below the screen that are read in advance */
#define SIDE_MIN_W 100 /* narrower: the files are one line on top */
#define TAB_COLS   8

struct view_step {
	struct view v;
	int64_t step;	       /* 0: of edits or a merge */
	struct barrier edits;  /* with paths, or zeroed */
	struct review *review; /* NULL: there is no history to read */
	struct list list;      /* over diff lines; the cursor is the top line */
	size_t file;	       /* the one that the top line belongs to */
	bool running;	       /* when it was looked at last */
	bool jump;	       /* go to `file` as soon as it is read */
	int left;	       /* columns scrolled off */
};

static const enum action hints[] = {ACTION_NEXT_FILE,	ACTION_PREV_FILE, ACTION_PAGE_DOWN,
				    ACTION_UNDO,	ACTION_RESTORE,	  ACTION_SEARCH,
				    ACTION_SEARCH_NEXT, ACTION_BACK,	  ACTION_NONE};

static const enum action edits_hints[] = {ACTION_NEXT_FILE, ACTION_PREV_FILE,	ACTION_PAGE_DOWN,
					  ACTION_SEARCH,    ACTION_SEARCH_NEXT, ACTION_BACK,
					  ACTION_NONE};

static const enum action merge_hints[] = {ACTION_CONFIRM, ACTION_PAGE_DOWN, ACTION_PAGE_UP,
					  ACTION_SEARCH,  ACTION_BACK,	    ACTION_NONE};

static const int line_roles[] = {
	[DIFF_FILE] = ROLE_DIFF_META,	    [DIFF_HUNK] = ROLE_DIFF_HUNK,
	[DIFF_CONTEXT] = ROLE_DIFF_CONTEXT, [DIFF_ADD] = ROLE_DIFF_ADD,
	[DIFF_DEL] = ROLE_DIFF_DEL,	    [DIFF_META] = ROLE_DIFF_META,
};

static void sync_file(struct view_step *p)
{
	const struct review *r = p->review;

	for (size_t i = 0; i < r->n_files && r->files[i].loaded; i++) {
		if (r->files[i].first_line <= p->list.top)
			p->file = i;
	}
}

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

/* ---- drawing -------------------------------------------------------------------------------- */

static const char *kind_letter(const struct change *c)
{
	switch (c->kind) {
	case CHANGE_CREATED:
		return "A";
	case CHANGE_DELETED:
		return "D";
	case CHANGE_RENAMED:
		return "R";
	case CHANGE_MODIFIED:
		break;
	}
	return "M";
}

static int kind_role(const struct change *c)
{
	switch (c->kind) {
	case CHANGE_CREATED:
		return ROLE_DIFF_ADD;
	case CHANGE_DELETED:
		return ROLE_DIFF_DEL;
	case CHANGE_MODIFIED:
	case CHANGE_RENAMED:
		break;
	}
	return ROLE_DIFF_HUNK;
}

static void counts_text(const struct review_file *f, char *out, size_t size)
{
	out[0] = '\0';
	if (f->loaded && (f->added || f->deleted))
		snprintf(out, size, "+%d -%d", f->added, f->deleted);
}

/* Heap: absolute where it lies in another folder than the first. */
static char *name_of(const struct change *c)
{
	return c->base ? path_join(c->base, c->path) : xstrdup(c->path);
}

static void draw_file(struct surface *s, struct rect line, const struct review_file *f, bool on)
{
	AUTO_FREE char *name = name_of(f->change);
	char counts[32];
	int w, x = line.x + 1;

	counts_text(f, counts, sizeof(counts));
	w = (int)strlen(counts);
	x += surface_text(s, x, line.y, 1, kind_role(f->change), kind_letter(f->change)) + 1;
	surface_hostile(s, x, line.y, line.x + line.w - x - w - 2, on ? ROLE_STRONG : ROLE_TEXT,
			name);
	surface_text(s, line.x + line.w - w - 1, line.y, w, ROLE_DIM, counts);
	ui_row_style(s, line, on, false);
}

static void draw_files(struct view_step *p, struct surface *s, struct rect r)
{
	const struct review *rv = p->review;
	size_t rows = (size_t)MAX(r.h, 1);
	size_t top = p->file >= rows / 2 ? p->file - rows / 2 : 0;

	if (top + rows > rv->n_files)
		top = rv->n_files > rows ? rv->n_files - rows : 0;
	for (int y = 0; y < r.h && top + (size_t)y < rv->n_files; y++)
		draw_file(s, (struct rect){r.x, r.y + y, r.w, 1}, &rv->files[top + (size_t)y],
			  top + (size_t)y == p->file);
}

/* Escaped, with tabs as the blanks they stand for: code is read here. */
static void expand(const char *text, size_t len, struct buf *out)
{
	size_t from = 0;

	for (size_t i = 0; i <= len; i++) {
		if (i < len && text[i] != '\t')
			continue;
		text_escape(out, text + from, i - from);
		from = i + 1;
		for (int col = text_width(out->data); i < len; col++) {
			buf_ch(out, ' ');
			if ((col + 1) % TAB_COLS == 0)
				break;
		}
	}
}

/* The text from column `cols` on. */
static const char *skip_cols(const char *s, int cols)
{
	size_t len = strlen(s), i = 0;

	while (i < len && cols > 0) {
		int32_t cp;

		i += text_decode(s + i, len - i, &cp);
		cols -= MAX(text_cp_width(cp), 0);
	}
	return s + i;
}

static void draw_line(struct view_step *p, struct surface *s, struct rect line,
		      const struct review_line *l)
{
	AUTO_BUF struct buf b = BUF_INIT;
	bool body = l->kind == DIFF_ADD || l->kind == DIFF_DEL || l->kind == DIFF_CONTEXT;
	bool numbers = line.w >= 60;
	int x = line.x + 1, role = line_roles[l->kind];
	const char *sign = l->kind == DIFF_ADD ? "+" : l->kind == DIFF_DEL ? "-" : " ";
	size_t len = MIN((size_t)l->len, (size_t)4096); /* nobody scrolls further right */

	if (numbers && body)
		surface_fmt(s, x, line.y, 6, ROLE_DIM, "%5d",
			    l->kind == DIFF_DEL ? l->old_line : l->new_line);
	x += numbers ? 6 : 0;
	if (body)
		surface_text(s, x, line.y, 1, role, sign);
	expand(p->review->text.data + l->at, len, &b);
	if (l->kind == DIFF_FILE && str_starts(b.data, "diff "))
		role = ROLE_DIFF_FILE;
	x += body ? 2 : 0;
	surface_text(s, x, line.y, line.x + line.w - x, role,
		     skip_cols(b.data, body ? p->left : 0));
}

static void draw_diff(struct view_step *p, struct surface *s, struct rect r)
{
	const struct review *rv = p->review;
	struct rect old = surface_clip(s, r);

	p->list.page = (size_t)MAX(r.h, 1);
	if (!p->jump)
		p->list.top = MIN(p->list.top,
				  rv->n_lines > p->list.page ? rv->n_lines - p->list.page : 0);
	for (int y = 0; y < r.h && p->list.top + (size_t)y < rv->n_lines; y++) {
		struct rect line = {r.x, r.y + y, r.w, 1};
		size_t i = p->list.top + (size_t)y;

		draw_line(p, s, line, &rv->lines[i]);
		if (*p->list.search && i == p->list.cursor)
			ui_row_style(s, line, true, true);
	}
	if (rv->n_lines == 0 || (p->jump && rv->busy))
		surface_text(s, r.x + 1, r.y + (rv->n_lines > 0 ? r.h - 1 : 0), r.w, ROLE_DIM,
			     rv->whole ? "" : "Reading...");
	s->clip = old;
}

/* Columns of what it is called. */
static int draw_name(struct view_step *p, struct surface *s, int x, int y, int w)
{
	char hms[16];

	if (p->step)
		return surface_fmt(s, x, y, w, ROLE_TITLE_FOCUS,
				   p->step < 0 ? " > background " : " > step %lld ",
				   (long long)p->step);
	if (!p->edits.paths)
		return surface_text(s, x, y, w, ROLE_TITLE_FOCUS, " > what the merge will write ");
	clock_hms(hms, p->edits.last_us);
	return surface_fmt(s, x, y, w, ROLE_TITLE_FOCUS,
			   " > edited from outside after step %lld, %s ", (long long)p->edits.after,
			   hms);
}

static void draw_heading(struct view_step *p, struct surface *s, struct rect r)
{
	const struct review *rv = p->review;
	const struct model *m = p->v.ui->spec.model;
	int x = r.x + 1, right;
	char at[64] = "";

	for (int i = 0; i < r.w; i++)
		surface_text(s, r.x + i, r.y, 1, ROLE_BORDER_FOCUS, s->ascii ? "=" : "━");
	if (rv && rv->n_files > 0)
		snprintf(at, sizeof(at), " file %zu of %zu%s ", p->file + 1, rv->n_files,
			 rv->whole ? "" : ", reading");
	right = (int)strlen(at) + 2;
	x += draw_name(p, s, x, r.y, r.w - 2);
	for (size_t i = 0; p->step && i < m->n_steps; i++) {
		const char *command = m->steps[i].command;

		if (m->steps[i].id == p->step && command && *command && r.w - x > right + 8) {
			x += surface_hostile_end(s, x, r.y, r.w - x - right, ROLE_STRONG, command);
			surface_text(s, x, r.y, 1, ROLE_TEXT, " ");
		}
	}
	surface_text(s, r.x + r.w - right, r.y, right, ROLE_DIM, at);
}

static void draw_body(struct view_step *p, struct surface *s, struct rect r)
{
	const struct review *rv = p->review;

	if (!rv->listed) {
		surface_text(s, r.x + 1, r.y, r.w, ROLE_DIM,
			     p->step ? "Reading what this step changed..." : "Reading...");
	} else if (p->running && (rv->result < 0 || rv->n_files == 0)) {
		surface_text(s, r.x + 1, r.y, r.w, ROLE_DIM,
			     "This step still runs; what it changed shows when it ends.");
	} else if (rv->result < 0) {
		surface_hostile(s, r.x + 1, r.y, r.w - 2, ROLE_EVENT_DENY, rv->why);
	} else if (rv->n_files == 0) {
		surface_text(s, r.x + 1, r.y, r.w, ROLE_DIM,
			     "Nothing of this step is left to show.");
	} else if (r.w >= SIDE_MIN_W) {
		int w = MIN(40, r.w / 3);

		draw_files(p, s, (struct rect){r.x, r.y, w, r.h});
		surface_vline(s, r.x + w, r.y, r.h, ROLE_BORDER);
		draw_diff(p, s, (struct rect){r.x + w + 1, r.y, r.w - w - 1, r.h});
	} else {
		draw_file(s, (struct rect){r.x, r.y, r.w, 1}, &rv->files[p->file], true);
		draw_diff(p, s, (struct rect){r.x, r.y + 1, r.w, MAX(0, r.h - 1)});
	}
}

static void draw(struct view *v, struct surface *s, struct rect r, bool focused)
{
	struct view_step *p = (struct view_step *)v;
	struct rect body = {r.x, r.y + 1, r.w, MAX(0, r.h - 1)};

	(void)focused;
	surface_fill(s, r, ROLE_TEXT);
	if (p->review && !p->jump)
		sync_file(p);
	draw_heading(p, s, (struct rect){r.x, r.y, r.w, 1});
	if (p->review)
		draw_body(p, s, body);
	else
		surface_text(s, body.x + 1, body.y, body.w, ROLE_DIM,
			     "There is no history to read.");
	s->cursor.x = body.x;
	s->cursor.y = body.y;
}

/* ---- acting --------------------------------------------------------------------------------- */

static void scroll_to(struct view_step *p, size_t line)
{
	struct review *r = p->review;

	p->jump = false;
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
	if (!next && p->file > 0 && r->files[p->file].first_line == p->list.top)
		p->file--;
	else if (next)
		p->file++;
	p->jump = !r->files[p->file].loaded;
	if (p->jump)
		review_more(r);
	else
		scroll_to(p, r->files[p->file].first_line);
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

static void query(struct view *v, enum query what, const char *text)
{
	struct view_step *p = (struct view_step *)v;
	struct review *r = p->review;

	if (what != QUERY_SEARCH || !r)
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
	const struct model *m = p->v.ui->spec.model;

	if (!p->step) {
		ui_say(p->v.ui, "No step did this: it is not undone, and no undo goes over it.");
		return;
	}
	for (size_t i = 0; i < m->n_steps; i++) {
		const struct step_row *st = &m->steps[i];

		if (st->id == p->step && !st->undone) {
			ui_undo(p->v.ui, UNDO_BACK, st->id);
			return;
		}
	}
	ui_say(p->v.ui, "This step is undone already: redo brings it back.");
}

static void restore(struct view_step *p)
{
	const struct review *r = p->review;
	AUTO_FREE char *path = NULL;

	if (!p->step || p->file >= r->n_files)
		return;
	path = name_of(r->files[p->file].change);
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
		.place = (the_place), .draw = draw, .act = act, .query = query, .mouse = mouse,    \
		.changed = changed, .free = view_free, .hints = (the_hints),                       \
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
