/* view_step_draw - the files of a step beside their diff, or above it. */
/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "core/base/clock.h"
#include "core/base/text.h"
#include "tui/console/views/diff_words.h"
#include "tui/console/views/view_step.h"
#include "tui/look/syntax.h"

#define NUMBER_COLS  6	/* columns of a line's number and a blank */
#define NUMBER_MIN_W 60 /* narrower: no numbers; with two sides, half of it each */

/* ---- one line ------------------------------------------------------------------------------- */

/* The colours of a line of the diff: its style, the style of its changed words, and the class of
 * its code where the style sets no text colour. */
struct ink {
	struct style base, word;
	bool tinted, code;
	uint8_t classes[REVIEW_COLS], marks[REVIEW_COLS];
};

static const int line_roles[] = {
	[DIFF_FILE] = ROLE_DIFF_META,	    [DIFF_HUNK] = ROLE_DIFF_HUNK,
	[DIFF_CONTEXT] = ROLE_DIFF_CONTEXT, [DIFF_ADD] = ROLE_DIFF_ADD,
	[DIFF_DEL] = ROLE_DIFF_DEL,	    [DIFF_META] = ROLE_DIFF_META,
};

static const int class_roles[] = {
	[SYNTAX_PLAIN] = ROLE_TEXT,
	[SYNTAX_COMMENT] = ROLE_SYNTAX_COMMENT,
	[SYNTAX_STRING] = ROLE_SYNTAX_STRING,
	[SYNTAX_NUMBER] = ROLE_SYNTAX_NUMBER,
	[SYNTAX_KEYWORD] = ROLE_SYNTAX_KEYWORD,
	[SYNTAX_TYPE] = ROLE_SYNTAX_TYPE,
};

static bool is_body(int kind)
{
	return kind == DIFF_ADD || kind == DIFF_DEL || kind == DIFF_CONTEXT;
}

static const char *text_at(const struct review *r, const struct review_line *l)
{
	return r->text.data + l->at;
}

static size_t shown_len(const struct review_line *l)
{
	return MIN((size_t)l->len, (size_t)REVIEW_COLS);
}

static void mark_words(const struct review *r, const struct review_line *l, struct ink *ink)
{
	const struct review_line *mate = l->mate ? &r->lines[l->mate - 1] : NULL;
	uint8_t other[REVIEW_COLS];

	if (!mate || !is_body(l->kind))
		return;
	if (l->kind == DIFF_DEL)
		diff_words(text_at(r, l), shown_len(l), text_at(r, mate), shown_len(mate),
			   ink->marks, other);
	else
		diff_words(text_at(r, mate), shown_len(mate), text_at(r, l), shown_len(l), other,
			   ink->marks);
}

static void mix(const struct surface *s, const struct review *r, const struct review_line *l,
		int kind, struct ink *ink)
{
	const struct syntax *lang = r->files[l->file].lang;
	struct style text = surface_role(s, ROLE_TEXT);

	*ink = (struct ink){.base = surface_role(s, line_roles[kind])};
	ink->word = surface_role(s, kind == DIFF_ADD ? ROLE_DIFF_ADD_WORD : ROLE_DIFF_DEL_WORD);
	ink->tinted = ink->base.bg != text.bg;
	ink->code = lang && is_body(kind) && (ink->tinted || kind == DIFF_CONTEXT);
	if (ink->code)
		syntax_line(lang, l->state, text_at(r, l), shown_len(l), ink->classes);
	if (kind == DIFF_ADD || kind == DIFF_DEL)
		mark_words(r, l, ink);
}

static struct style style_at(const struct surface *s, const struct ink *ink, size_t i)
{
	struct style st = ink->marks[i] ? ink->word : ink->base;
	struct style class = surface_role(s, class_roles[ink->classes[i]]);

	if (!ink->code || (ink->classes[i] == SYNTAX_PLAIN && !ink->tinted))
		return st;
	st.fg = class.fg;
	st.attr |= class.attr;
	return st;
}

static bool same_look(const struct ink *ink, size_t a, size_t b)
{
	return ink->classes[a] == ink->classes[b] && ink->marks[a] == ink->marks[b];
}

/* Draws the text from column `from` on, as much as fits. Returns the columns of the whole text. */
static int draw_runs(struct surface *s, struct rect r, int from, const struct ink *ink,
		     const char *text, size_t len)
{
	struct rect old = surface_clip(s, r);
	int col = 0;

	for (size_t i = 0, to; i < len; i = to) {
		AUTO_BUF struct buf b = BUF_INIT;
		struct style st = style_at(s, ink, i);
		int at = col;

		for (to = i + 1; to < len && same_look(ink, i, to); to++)
			;
		while (to < len && ((unsigned char)text[to] & 0xc0) == 0x80)
			to++; /* no part of a character */
		col = diff_expand(text + i, to - i, col, &b);
		if (col > from && at - from < r.w)
			surface_text_style(s, r.x + at - from, r.y, col - at, &st, b.data);
	}
	s->clip = old;
	return col;
}

/* Draws a sign at an edge where the text continues. */
static void draw_edges(struct surface *s, struct rect r, bool before, bool after)
{
	if (before)
		surface_text(s, r.x - 1, r.y, 1, ROLE_DIM, "<");
	if (after)
		surface_text(s, r.x + r.w - 1, r.y, 1, ROLE_STRONG, ">");
}

static int number_cols(const struct view_step *p, int w)
{
	return w >= (p->split ? NUMBER_MIN_W / 2 + 14 : NUMBER_MIN_W) ? NUMBER_COLS : 0;
}

struct side {	       /* one side of a row, or the whole row */
	uint32_t line; /* 0: no line on this side */
	uint32_t col;
	int kind;
	bool old; /* shows the old file's number */
};

static void draw_side(struct view_step *p, struct surface *s, struct rect line,
		      const struct side *side)
{
	const struct review *rv = p->review;
	const struct review_line *l = side->line ? &rv->lines[side->line - 1] : NULL;
	bool begins = side->col == 0;
	int numbers = number_cols(p, line.w), from = p->look.wrap ? (int)side->col : p->left, all;
	struct rect text = {line.x + 1 + numbers + 2, line.y, line.w - 3 - numbers, 1};
	struct ink ink;

	if (!l || side->col == COL_OVER)
		return;
	mix(s, rv, l, side->kind, &ink);
	if (ink.tinted)
		surface_paint(s, (struct rect){text.x - 2, line.y, text.w + 2, 1}, &ink.base);
	if (numbers && begins)
		surface_fmt(s, line.x + 1, line.y, numbers, ROLE_DIM, "%5d",
			    side->old ? l->old_line : l->new_line);
	surface_text_style(s, text.x - 2, line.y, 1, &ink.base,
			   !begins		    ? " "
			   : side->kind == DIFF_ADD ? "+"
			   : side->kind == DIFF_DEL ? "-"
						    : " ");
	all = draw_runs(s, text, from, &ink, text_at(rv, l), shown_len(l));
	if (!p->look.wrap)
		draw_edges(s, text, from > 0, all - from > text.w);
}

/* Writes the name that git's line has twice: there it often does not fit. */
static void name_file(const struct change *c, struct buf *out)
{
	AUTO_FREE char *name = review_name(c);

	buf_clear(out);
	if (c->old_path) {
		text_escape(out, c->old_path, strlen(c->old_path));
		buf_str(out, " -> ");
	}
	text_escape(out, name, strlen(name));
}

/* Draws headings, and lines that are not in a file. */
static void draw_heading_line(struct view_step *p, struct surface *s, struct rect line,
			      const struct diff_row *row)
{
	const struct review *rv = p->review;
	const struct review_line *l = &rv->lines[row->left - 1];
	AUTO_BUF struct buf b = BUF_INIT;
	int role = line_roles[l->kind], x = line.x + 1 + number_cols(p, line.w), w;

	if (l->kind == DIFF_FILE || l->kind == DIFF_HUNK)
		x = line.x + 1;
	diff_expand(text_at(rv, l), shown_len(l), 0, &b);
	if (l->kind == DIFF_FILE && str_starts(b.data, "diff ")) {
		role = ROLE_DIFF_FILE;
		name_file(rv->files[l->file].change, &b);
	}
	w = line.x + line.w - x;
	if (row->quiet)
		buf_str(&b, "  (blanks alone)");
	if (l->folded)
		buf_fmt(&b, "  [%zu lines folded]", diff_rows_below(rv, row->left - 1));
	surface_text(s, x, line.y, w, role, b.data);
	draw_edges(s, (struct rect){x, line.y, w, 1}, false, text_width(b.data) > w);
}

static void draw_row(struct view_step *p, struct surface *s, struct rect line,
		     const struct diff_row *row)
{
	struct side left = {row->left, row->left_col, row->kind, true};
	struct side right = {row->right, row->right_col, row->kind, false};
	int half = (line.w - 1) / 2;

	if (!is_body(row->kind)) {
		draw_heading_line(p, s, line, row);
		return;
	}
	left.old = row->both || row->kind == DIFF_DEL;
	if (!row->both) {
		draw_side(p, s, line, row->right ? &right : &left);
		return;
	}
	if (row->kind != DIFF_CONTEXT) {
		left.kind = DIFF_DEL;
		right.kind = DIFF_ADD;
	}
	draw_side(p, s, (struct rect){line.x, line.y, half, 1}, &left);
	surface_vline(s, line.x + half, line.y, 1, ROLE_BORDER);
	draw_side(p, s, (struct rect){line.x + half + 1, line.y, line.w - half - 1, 1}, &right);
}

/* ---- the diff ------------------------------------------------------------------------------- */

/* Builds the rows; the cursor stays on its line. */
void step_rows(struct view_step *p)
{
	struct diff_look look = p->look;
	int w = p->cols ? p->cols : 80; /* 80 before the first drawing */
	struct diff_rows *rows = &p->rows;
	size_t line = SIZE_MAX, above = p->list.cursor - MIN(p->list.top, p->list.cursor);
	int side;

	if (p->list.cursor < rows->n)
		line = diff_row_line(&rows->list[p->list.cursor]);
	look.split &= w >= STEP_SPLIT_W;
	side = look.split ? (w - 1) / 2 : w;
	p->split = look.split;
	look.cols = side - 3 - number_cols(p, side);
	rows->stale |= rows->look.cols != look.cols && look.wrap;
	if (!diff_rows_build(rows, p->review, &look) || line == SIZE_MAX)
		return;
	p->list.cursor = diff_rows_find(rows, line);
	p->list.top = p->list.cursor - MIN(above, p->list.cursor);
}

static void go_to_file(struct view_step *p)
{
	const struct review_file *f = &p->review->files[p->file];

	if (!p->jump || !f->loaded)
		return;
	p->list.cursor = p->list.top = diff_rows_find(&p->rows, f->first_line);
	p->jump = false;
}

static void draw_diff(struct view_step *p, struct surface *s, struct rect r, bool focused)
{
	const struct review *rv = p->review;
	struct rect old = surface_clip(s, r);

	p->cols = r.w;
	step_rows(p);
	go_to_file(p);
	list_fit(&p->list, p->rows.n, r.h);
	if (!p->jump && step_line(p))
		p->file = step_line(p)->file;
	for (int y = 0; y < r.h && p->list.top + (size_t)y < p->rows.n; y++) {
		struct rect line = {r.x, r.y + y, r.w, 1};
		size_t i = p->list.top + (size_t)y;

		draw_row(p, s, line, &p->rows.list[i]);
		ui_mark(s, line, p->list.search);
		if (i == p->list.cursor && focused && !p->in_tree)
			ui_row_point(s, line);
	}
	if (rv->n_lines == 0 || (p->jump && rv->busy))
		surface_text(s, r.x + 1, r.y + (rv->n_lines > 0 ? r.h - 1 : 0), r.w, ROLE_DIM,
			     rv->whole ? "" : "Reading...");
	s->clip = old;
}

/* ---- heading and edges ----------------------------------------------------------------------- */

static const struct step_row *row_of(const struct view_step *p)
{
	const struct model *m = p->v.ui->spec.model;

	for (size_t i = 0; p->step && i < m->n_steps; i++)
		if (m->steps[i].id == p->step)
			return &m->steps[i];
	return NULL;
}

/* Of an edit by the agent itself the name says who made it. */
static bool is_nameless(const struct step_row *st)
{
	return st && st->kind == STEP_AMBIENT && !(st->command && *st->command);
}

/* Columns of what it is called. */
static int draw_name(struct view_step *p, struct surface *s, int x, int y, int w)
{
	const struct step_row *st = row_of(p);
	const char *undone = st && st->undone ? ", undone" : "", *sign = p->preview ? "" : "> ";
	int role = p->preview ? ROLE_TITLE : ROLE_TITLE_FOCUS;
	AUTO_BUF struct buf part = BUF_INIT;
	char hms[16];

	if (st && !st->undone && st->undone_in) {
		buf_str(&part, ", undone in ");
		text_escape(&part, st->undone_in, strlen(st->undone_in));
		undone = part.data;
	}
	if (p->from)
		return surface_fmt(s, x, y, w, role, " %severything %s ", sign, p->words);
	if (p->step)
		return surface_fmt(s, x, y, w, role, " %sstep %lld%s%s ", sign, (long long)p->step,
				   is_nameless(st) && !p->preview ? ", by no command" : "", undone);
	if (!p->edits.paths)
		return surface_text(s, x, y, w, role, " > what the merge will write ");
	clock_hms(hms, p->edits.last_us);
	return surface_fmt(s, x, y, w, role, " %sedited from outside after step %lld, %s ", sign,
			   (long long)p->edits.after, hms);
}

/* Draws the agent's state: its terminal is covered. */
static void say_agent(const struct view_step *p, char *at, size_t size)
{
	const struct model *m = p->v.ui->spec.model;
	size_t used = strlen(at);

	snprintf(at + used, size - used, "%s%s ", used ? "| " : " ",
		 m->n_asks		  ? "agent asks"
		 : m->exited		  ? "agent has ended"
		 : model_running(m, NULL) ? "agent works"
					  : "agent");
}

static void draw_heading(struct view_step *p, struct surface *s, struct rect r)
{
	const struct review *rv = p->review;
	const struct step_row *st = row_of(p);
	int x = r.x + 1, right;
	char at[160] = "", key[24];

	for (int i = 0; i < r.w; i++)
		surface_text(s, r.x + i, r.y, 1, p->preview ? ROLE_BORDER : ROLE_BORDER_FOCUS,
			     p->preview ? (s->ascii ? "-" : "─")
			     : s->ascii ? "="
					: "━");
	if (rv && rv->n_files > 0)
		snprintf(at, sizeof(at), " %s%.20s%s%sfile %zu of %zu%s ",
			 *p->list.filter ? "filter: " : "", p->list.filter,
			 *p->list.filter ? ", " : "", p->look.blank ? "no blanks, " : "",
			 p->file + 1, rv->n_files, rv->whole ? "" : ", reading");
	if (rv && rv->left_out && (size_t)strlen(at) + 24 < sizeof(at))
		snprintf(at + strlen(at), sizeof(at) - strlen(at), "%s(%zu more: %s) ",
			 *at ? "" : " ", rv->left_out,
			 ui_keys(p->v.ui, PLACE_STEP, ACTION_ALL_PLACES, key, sizeof(key)));
	if (p->preview)
		say_agent(p, at, sizeof(at));
	right = (int)strlen(at) + 2;
	x += draw_name(p, s, x, r.y, r.w - 2);
	if (st && st->command && *st->command && r.w - x > right + 8) {
		x += surface_hostile_end(s, x, r.y, r.w - x - right, ROLE_STRONG, st->command);
		surface_text(s, x, r.y, 1, ROLE_TEXT, " ");
	}
	surface_text(s, r.x + r.w - right, r.y, right, ROLE_DIM, at);
}

static void say_empty(struct view_step *p, struct surface *s, struct rect r)
{
	const struct review *rv = p->review;

	if (!rv->listed)
		surface_text(s, r.x + 1, r.y, r.w, ROLE_DIM,
			     p->step ? "Reading what this step changed..." : "Reading...");
	else if (p->running && (rv->result < 0 || rv->n_files == 0))
		surface_text(s, r.x + 1, r.y, r.w, ROLE_DIM,
			     "This step still runs: its files are in the activity now, here when "
			     "it ends.");
	else if (rv->result < 0)
		surface_hostile(s, r.x + 1, r.y, r.w - 2, ROLE_EVENT_DENY, rv->why);
	else
		surface_text(s, r.x + 1, r.y, r.w, ROLE_DIM,
			     *p->list.filter ? "No file matches the filter."
			     : rv->git.n     ? ""
			     : rv->left_out  ? "Nothing of the project is different."
			     : p->from	     ? "Nothing is different now."
					     : "Nothing of this step is left to show.");
}

/* Returns the rows for git's words in a view of this height; a low view has none. */
int step_git_rows(const struct view_step *p, int h)
{
	return p->review ? MIN((int)p->review->git.n, MAX(h / 3, 1)) : 0;
}

/* Draws "git  main: f918ed4 -> fca8856, 1 commit taken back", in place of git's own files. */
static void draw_git(struct view_step *p, struct surface *s, struct rect r)
{
	const struct git_words *w = &p->review->git;

	for (int i = 0; i < r.h; i++) {
		int x = r.x + 1 + surface_text(s, r.x + 1, r.y + i, 4, ROLE_DIFF_META, "git") + 1;

		surface_hostile_end(s, x, r.y + i, r.x + r.w - x - 1, ROLE_TEXT, w->list[i]);
	}
}

bool step_wide(const struct view_step *p, struct rect body)
{
	bool one = p->review && p->review->listed && p->review->n_files == 1;

	return !p->preview && !one && body.w >= STEP_SIDE_W;
}

/* Returns the part for a selection: the text of one side of a diff, without numbers and files. */
struct rect view_step_part(const struct view *v, struct rect r, int x, int y)
{
	const struct view_step *p = (const struct view_step *)v;
	bool wide = step_wide(p, r);
	int tree = STEP_TREE_W(r.w), git = step_git_rows(p, r.h), half;
	struct rect diff;

	if (y <= r.y + git) /* the heading, and git's words */
		return (struct rect){r.x, y, r.w, 1};
	r = (struct rect){r.x, r.y + git, r.w, r.h - git};
	diff = (struct rect){r.x, r.y + 2, r.w, MAX(0, r.h - 2)};
	if (wide && x < r.x + tree)
		return (struct rect){r.x, r.y + 1, tree, r.h - 1};
	if (p->in_tree && !wide)
		return (struct rect){r.x, r.y + 1, r.w, r.h - 1};
	if (wide)
		diff = (struct rect){r.x + tree + 1, r.y + 1, r.w - tree - 1, r.h - 1};
	half = (diff.w - 1) / 2;
	if (p->split && x > diff.x + half)
		diff = (struct rect){diff.x + half + 1, diff.y, diff.w - half - 1, diff.h};
	else if (p->split)
		diff.w = half;
	/* A drag from the sign includes it, because headings begin before it. */
	half = 1 + number_cols(p, diff.w);
	if (x >= diff.x + half)
		diff = (struct rect){diff.x + half, diff.y, diff.w - half, diff.h};
	return diff;
}

static void draw_body(struct view_step *p, struct surface *s, struct rect r, bool focused)
{
	const struct review *rv = p->review;
	int git = MIN(step_git_rows(p, r.h + 1), r.h);

	draw_git(p, s, (struct rect){r.x, r.y, r.w, git});
	r = (struct rect){r.x, r.y + git, r.w, MAX(0, r.h - git)};
	if (!rv->listed || rv->result < 0 || rv->n_files == 0) {
		say_empty(p, s, r);
		return;
	}
	step_tree_build(p);
	if (step_wide(p, r)) {
		int w = STEP_TREE_W(r.w);

		surface_vline(s, r.x + w, r.y, r.h, ROLE_BORDER);
		draw_diff(p, s, (struct rect){r.x + w + 1, r.y, r.w - w - 1, r.h}, focused);
		step_tree_draw(p, s, (struct rect){r.x, r.y, w, r.h});
	} else if (p->in_tree) {
		step_tree_draw(p, s, r);
	} else {
		draw_diff(p, s, (struct rect){r.x, r.y + 1, r.w, MAX(0, r.h - 1)}, focused);
		step_tree_row(p, s, (struct rect){r.x, r.y, r.w, 1}, p->file);
	}
}

void view_step_draw(struct view *v, struct surface *s, struct rect r, bool focused)
{
	struct view_step *p = (struct view_step *)v;
	struct rect body = {r.x, r.y + 1, r.w, MAX(0, r.h - 1)};

	surface_fill(s, r, ROLE_TEXT);
	s->cursor.x = body.x;
	s->cursor.y = body.y;
	if (p->review)
		draw_body(p, s, body, focused);
	else
		surface_text(s, body.x + 1, body.y, body.w, ROLE_DIM,
			     "There is no history to read.");
	draw_heading(p, s, (struct rect){r.x, r.y, r.w, 1});
}
