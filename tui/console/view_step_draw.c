/* view_step_draw - the files of a step beside their diff, or above it. */
/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "core/base/clock.h"
#include "core/base/path.h"
#include "core/base/text.h"
#include "tui/console/view_step.h"

#define SIDE_MIN_W 100 /* narrower: the files are one line on top */

static const int line_roles[] = {
	[DIFF_FILE] = ROLE_DIFF_META,	    [DIFF_HUNK] = ROLE_DIFF_HUNK,
	[DIFF_CONTEXT] = ROLE_DIFF_CONTEXT, [DIFF_ADD] = ROLE_DIFF_ADD,
	[DIFF_DEL] = ROLE_DIFF_DEL,	    [DIFF_META] = ROLE_DIFF_META,
};

static void sync_file(struct view_step *p)
{
	const struct review *r = p->review;

	for (size_t i = 0; !p->chosen && i < r->n_files && r->files[i].loaded; i++) {
		if (r->files[i].first_line <= p->list.top)
			p->file = i;
	}
}

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

char *view_step_name(const struct change *c)
{
	return c->base ? path_join(c->base, c->path) : xstrdup(c->path);
}

static void draw_file(struct ui *ui, struct surface *s, struct rect line,
		      const struct review_file *f, bool on)
{
	AUTO_FREE char *name = view_step_name(f->change);
	char counts[32];
	int w, x = line.x + 1;

	counts_text(f, counts, sizeof(counts));
	w = (int)strlen(counts);
	x += surface_text(s, x, line.y, 1, kind_role(f->change), kind_letter(f->change)) + 1;
	surface_hostile(s, x, line.y, line.x + line.w - x - w - 2, on ? ROLE_STRONG : ROLE_TEXT,
			ui_path(ui, name));
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
		draw_file(p->v.ui, s, (struct rect){r.x, r.y + y, r.w, 1},
			  &rv->files[top + (size_t)y], top + (size_t)y == p->file);
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

/* What goes on beyond an edge has a sign there. */
static void draw_text(struct surface *s, struct rect line, int role, const char *text, bool more)
{
	surface_text(s, line.x, line.y, line.w, role, text);
	if (more)
		surface_text(s, line.x - 1, line.y, 1, ROLE_DIM, "<");
	if (text_width(text) > line.w)
		surface_text(s, line.x + line.w - 1, line.y, 1, ROLE_STRONG, ">");
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
	draw_text(s, (struct rect){x, line.y, line.x + line.w - x, 1}, role,
		  skip_cols(b.data, body ? p->left : 0), body && p->left > 0);
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
			ui_row_point(s, line);
		ui_mark(s, line, p->list.search);
	}
	if (rv->n_lines == 0 || (p->jump && rv->busy))
		surface_text(s, r.x + 1, r.y + (rv->n_lines > 0 ? r.h - 1 : 0), r.w, ROLE_DIM,
			     rv->whole ? "" : "Reading...");
	s->clip = old;
}

static const struct step_row *row_of(const struct view_step *p)
{
	const struct model *m = p->v.ui->spec.model;

	for (size_t i = 0; p->step && i < m->n_steps; i++)
		if (m->steps[i].id == p->step)
			return &m->steps[i];
	return NULL;
}

/* Columns of what it is called. */
static int draw_name(struct view_step *p, struct surface *s, int x, int y, int w)
{
	const struct step_row *st = row_of(p);
	const char *undone = st && st->undone ? ", undone" : "";
	char hms[16];

	if (p->step < 0)
		return surface_fmt(s, x, y, w, ROLE_TITLE_FOCUS, " > background%s ", undone);
	if (p->step)
		return surface_fmt(s, x, y, w, ROLE_TITLE_FOCUS, " > step %lld%s ",
				   (long long)p->step, undone);
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
	const struct step_row *st = row_of(p);
	int x = r.x + 1, right;
	char at[96] = "";

	for (int i = 0; i < r.w; i++)
		surface_text(s, r.x + i, r.y, 1, ROLE_BORDER_FOCUS, s->ascii ? "=" : "━");
	if (rv && rv->n_files > 0)
		snprintf(at, sizeof(at), " %s%.20s%sfile %zu of %zu%s ",
			 *p->list.filter ? "filter: " : "", p->list.filter,
			 *p->list.filter ? ", " : "", p->file + 1, rv->n_files,
			 rv->whole ? "" : ", reading");
	right = (int)strlen(at) + 2;
	x += draw_name(p, s, x, r.y, r.w - 2);
	if (st && st->command && *st->command && r.w - x > right + 8) {
		x += surface_hostile_end(s, x, r.y, r.w - x - right, ROLE_STRONG, st->command);
		surface_text(s, x, r.y, 1, ROLE_TEXT, " ");
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
			     *p->list.filter ? "No file matches the filter."
					     : "Nothing of this step is left to show.");
	} else if (r.w >= SIDE_MIN_W) {
		int w = MIN(40, r.w / 3);

		draw_files(p, s, (struct rect){r.x, r.y, w, r.h});
		surface_vline(s, r.x + w, r.y, r.h, ROLE_BORDER);
		draw_diff(p, s, (struct rect){r.x + w + 1, r.y, r.w - w - 1, r.h});
	} else {
		draw_file(p->v.ui, s, (struct rect){r.x, r.y, r.w, 1}, &rv->files[p->file], true);
		draw_diff(p, s, (struct rect){r.x, r.y + 1, r.w, MAX(0, r.h - 1)});
	}
}

void view_step_draw(struct view *v, struct surface *s, struct rect r, bool focused)
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
