/* steplist_draw - the rows of the list of steps. */
/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "core/base/builtin.h"
#include "core/base/clock.h"
#include "core/base/path.h"
#include "core/base/text.h"
#include "core/diff/edited.h"
#include "tui/console/views/steplist.h"

#define FILES_W 50 /* narrower: no number of files */

/* The right part of a row. */
struct state {
	char words[32];
	int role;
	char files[32], added[24], deleted[24];
};

static int state_width(const struct state *st)
{
	int w = (int)(strlen(st->words) + strlen(st->files));

	w += *st->added ? (int)strlen(st->added) + (w > 0) : 0;
	return w + (*st->deleted ? (int)strlen(st->deleted) + (w > 0) : 0);
}

static void number(char *out, size_t size, char sign, size_t n)
{
	snprintf(out, size, "%c%zu%s", sign, n >= 100000 ? n / 1000 : n, n >= 100000 ? "k" : "");
}

static void count_lines(struct state *out, size_t added, size_t deleted)
{
	if (added || deleted)
		number(out->added, sizeof(out->added), '+', added);
	if (deleted)
		number(out->deleted, sizeof(out->deleted), '-', deleted);
}

static void count_files(struct state *out, size_t n, int cols)
{
	if (cols >= FILES_W)
		snprintf(out->files, sizeof(out->files), "%zu file%s", n, n == 1 ? "" : "s");
}

static void say(struct state *out, int role, const char *words)
{
	snprintf(out->words, sizeof(out->words), "%s", words);
	out->role = role;
}

static void state_of_stat(const struct step_stat *stat, const struct step_row *st, int cols,
			  struct state *out)
{
	if (stat->files > 1 || (stat->files && !stat->added && !stat->deleted))
		count_files(out, stat->files, stat->added || stat->deleted ? cols : FILES_W);
	count_lines(out, stat->added, stat->deleted);
	if (stat->files)
		return;
	out->role = ROLE_DIM;
	if (stat->own.n)
		snprintf(out->words, sizeof(out->words),
			 git_files_commit(&stat->own) ? "commit" : "git");
	else if (stat->dirs)
		snprintf(out->words, sizeof(out->words), "%zu dir%s", stat->dirs,
			 stat->dirs == 1 ? "" : "s");
	else
		snprintf(out->words, sizeof(out->words), st->elsewhere ? "outside" : "as before");
}

/* Sets the state: a sign and a word, else the number of lines. */
static void state_of(const struct view_steps *p, const struct step_row *st, int cols,
		     struct state *out)
{
	size_t files = st->created + st->modified + st->deleted + st->renamed;
	const struct step_stat *stat;

	*out = (struct state){.role = ROLE_DIM};
	if (st->running && p->v.ui->spec.model->over)
		say(out, ROLE_EVENT_DENY, "! cut off"); /* the next start rolls it back */
	else if (st->running)
		say(out, ROLE_EVENT_EXEC, "> running");
	else if (st->undone)
		say(out, ROLE_DIM, "- undone");
	else if (st->undone_in)
		say(out, ROLE_EVENT_DENY, "- in part");
	else if (st->gone)
		say(out, ROLE_DIM, "- too old");
	else if (st->incomplete)
		say(out, ROLE_EVENT_DENY, "! partial");
	if (*out->words)
		return;
	if (st->kind == STEP_COMMAND && st->exit_status > 0) {
		snprintf(out->words, sizeof(out->words), "x %d", st->exit_status);
		out->role = ROLE_EVENT_DENY;
		return;
	}
	stat = steplist_stat(p, st);
	if (stat)
		state_of_stat(stat, st, cols, out);
	else if (!p->stats)
		count_files(out, files ? files : st->paths, FILES_W);
}

static void state_of_turn(const struct view_steps *p, const struct line *l, int cols,
			  struct state *out)
{
	const struct turn_sum sum = steplist_turn_sum(p, l->sub);

	*out = (struct state){.role = ROLE_DIM};
	if (sum.undone)
		say(out, ROLE_DIM, "- undone");
	else if (sum.commits)
		say(out, ROLE_DIM, "commit");
	else if (sum.files)
		count_files(out, sum.files, cols);
	count_lines(out, sum.added, sum.deleted);
}

static void state_of_file(const struct stat_file *f, struct state *out)
{
	*out = (struct state){.role = ROLE_DIM};
	if (f->added < 0)
		snprintf(out->words, sizeof(out->words), "binary");
	else
		count_lines(out, (size_t)f->added, (size_t)f->deleted);
}

static void state_of_edit(const struct barrier *b, struct state *out)
{
	const enum edited_what what = edited_what(b);

	*out = (struct state){.role = ROLE_EVENT_ASK};
	if (what != EDITED_FILES)
		snprintf(out->words, sizeof(out->words),
			 what == EDITED_COMMIT ? "! commit" : "! git");
	else
		snprintf(out->words, sizeof(out->words),
			 b->count < 100 ? "! %zu edited" : "! edited", b->count);
}

static const struct stat_file *file_of(const struct view_steps *p, const struct line *l)
{
	const struct step_stat *stat = steplist_stat(p, &p->v.ui->spec.model->steps[l->at]);

	return stat && l->sub < stat->n ? &stat->list[l->sub] : NULL;
}

static void line_state(const struct view_steps *p, const struct line *l, int cols,
		       struct state *out)
{
	const struct model *m = p->v.ui->spec.model;
	const struct stat_file *f;

	*out = (struct state){.role = ROLE_DIM};
	switch (l->kind) {
	case LINE_STEP:
		state_of(p, &m->steps[l->at], cols, out);
		break;
	case LINE_TURN:
		state_of_turn(p, l, cols, out);
		break;
	case LINE_EDIT:
		state_of_edit(&m->edits[l->at], out);
		break;
	case LINE_FILE:
		f = file_of(p, l);
		if (f)
			state_of_file(f, out);
		break;
	case LINE_GIT:
	case LINE_NOTES:
	case LINE_SESSION:
	case LINE_OLDER:
		break;
	}
}

/* Draws a number in a colour of the diff, on the background of the list. */
static int draw_count(struct surface *s, int x, int y, int role, const char *text)
{
	struct style st = surface_role(s, role), plain = surface_role(s, ROLE_TEXT);

	if (st.fg == COLOR_DEFAULT || st.attr & plain.attr)
		st = surface_role(s, role == ROLE_DIFF_ADD ? ROLE_EVENT_ALLOW : ROLE_EVENT_DENY);
	st.bg = plain.bg;
	return *text ? surface_text_style(s, x, y, 16, &st, text) + 1 : 0;
}

static void draw_state(struct surface *s, int x, int y, const struct state *st)
{
	if (*st->words)
		x += surface_text(s, x, y, 16, st->role, st->words) + 1;
	if (*st->files)
		x += surface_text(s, x, y, 16, ROLE_DIM, st->files) + 1;
	x += draw_count(s, x, y, ROLE_DIFF_ADD, st->added);
	draw_count(s, x, y, ROLE_DIFF_DEL, st->deleted);
}

/* ---- rows -------------------------------------------------------------------------------------
 */

static int draw_when(struct surface *s, struct rect line, int x, int64_t wall_us)
{
	char hms[16];

	if (line.w < 60)
		return 0;
	clock_hms(hms, wall_us);
	return surface_text(s, x, line.y, 9, ROLE_DIM, hms) + 1;
}

static void draw_edit(const struct view_steps *p, struct surface *s, struct rect line, int x,
		      int end, const struct barrier *b)
{
	AUTO_BUF struct buf names = BUF_INIT;
	const enum edited_what what = edited_what(b);

	x += draw_when(s, line, x, b->last_us);
	x += surface_text(s, x, line.y, 8, ROLE_EVENT_ASK, "  !") + 2;
	for (size_t i = 0; i < MIN(b->n_paths, (size_t)5); i++)
		if (!edited_is_noise(what, b->paths[i]))
			buf_fmt(&names, "%s%s", names.len ? ", " : "",
				ui_edited(p->v.ui, b->paths[i]));
	surface_hostile_end(s, x, line.y, end - x, ROLE_TEXT, names.data);
}

/* Draws "Nov 24 09:12  claude". */
static void draw_heading(const struct view_steps *p, struct surface *s, struct rect line,
			 const struct line *l)
{
	const struct model *m = p->v.ui->spec.model;
	const struct turn_mark *t = l->kind == LINE_SESSION ? &m->turns[l->at] : NULL;
	int x = line.x + 1;
	char when[32];

	clock_day(when, sizeof(when), t ? t->us : m->steps[l->at].began_us, true);
	x += surface_text(s, x, line.y, line.w, ROLE_DIM, "== ");
	x += surface_text(s, x, line.y, line.x + line.w - x, ROLE_DIM, when) + 1;
	surface_hostile_end(s, x, line.y, line.x + line.w - x - 1, ROLE_DIM,
			    t ? t->agent : "earlier");
}

static int draw_fold(const struct view_steps *p, struct surface *s, int x, int y,
		     const struct line *l)
{
	bool open = steplist_is_open(p, l);
	const char *sign = s->ascii ? (open ? "v" : ">") : open ? "▾" : "▸";

	return surface_text(s, x, y, 1, ROLE_BORDER_FOCUS, sign) + 1;
}

/* Draws "15:33 fix the greeting". */
static void draw_turn(const struct view_steps *p, struct surface *s, struct rect line, int x,
		      int end, const struct line *l)
{
	const struct turn_mark *t = &p->v.ui->spec.model->turns[l->at];
	AUTO_BUF struct buf words = BUF_INIT, fit = BUF_INIT;
	char when[32];

	clock_day(when, sizeof(when), t->us, false);
	x += draw_fold(p, s, x, line.y, l);
	x += surface_text(s, x, line.y, end - x, ROLE_DIM, when) + 1;
	steplist_text(p, l, &words);
	text_fit_end(&fit, words.data, end - x);
	surface_text(s, x, line.y, end - x, t->words ? ROLE_STRONG : ROLE_TEXT, fit.data);
}

static void draw_git(const struct view_steps *p, struct surface *s, struct rect line, int x,
		     const struct line *l)
{
	const struct step_stat *stat = steplist_stat(p, &p->v.ui->spec.model->steps[l->at]);

	x += surface_text(s, x, line.y, 4, ROLE_DIFF_META, "git") + 1;
	if (stat && l->sub < stat->git.n)
		surface_hostile_end(s, x, line.y, line.x + line.w - x - 1, ROLE_TEXT,
				    stat->git.list[l->sub]);
}

static void draw_notes(const struct view_steps *p, struct surface *s, struct rect line, int x,
		       int end, const struct line *l)
{
	size_t files = steplist_note_files(p, l);
	AUTO_BUF struct buf fit = BUF_INIT;
	AUTO_FREE char *words =
		xasprintf("%zu file%s outside the folder", files, files == 1 ? "" : "s");

	x += draw_fold(p, s, x, line.y, l);
	text_fit_end(&fit, words, end - x);
	surface_text(s, x, line.y, end - x, ROLE_DIM, fit.data);
}

static void draw_file(const struct view_steps *p, struct surface *s, struct rect line, int x,
		      int end, const struct line *l)
{
	const struct stat_file *f = file_of(p, l);
	char sign[2] = "";

	if (!f)
		return;
	sign[0] = f->sign;
	x += draw_count(s, x + 2, line.y,
			f->sign == 'A'	 ? ROLE_DIFF_ADD
			: f->sign == 'D' ? ROLE_DIFF_DEL
					 : ROLE_DIFF_HUNK,
			sign) +
	     2;
	surface_hostile_end(s, x, line.y, end - x, ROLE_TEXT, ui_path(p->v.ui, f->name));
}

/* Draws "claude: edit a.c": the agent dim, the verb or program coloured, the rest as text. */
static void draw_name(struct surface *s, int x, int y, int end, const struct step_row *st)
{
	const char *name = st->command ? st->command : "", *colon = strstr(name, ": ");
	bool dim = st->undone || st->gone, agent = st->kind == STEP_AMBIENT && colon &&
						   !memchr(name, ' ', (size_t)(colon - name));
	int role = st->kind == STEP_AMBIENT ? ROLE_EVENT_TOUCH : ROLE_EVENT_EXEC;

	if (st->kind == STEP_AMBIENT && !*name)
		name = "(background)";
	if (dim) {
		surface_hostile_end(s, x, y, end - x, ROLE_DIM, name);
		return;
	}
	if (agent) {
		AUTO_FREE char *who = xstrndup(name, (size_t)(colon - name) + 1);

		x += surface_hostile_end(s, x, y, end - x, ROLE_DIM, who) + 1;
		name = colon + 2;
	}
	if (strcspn(name, " ") < strlen(name)) {
		AUTO_FREE char *verb = xstrndup(name, strcspn(name, " "));

		x += surface_hostile_end(s, x, y, end - x, role, verb) + 1;
		name += strlen(verb) + 1;
		role = ROLE_TEXT;
	}
	if (x < end)
		surface_hostile_end(s, x, y, end - x, role, name);
}

static void draw_step(struct surface *s, struct rect line, int x, int end,
		      const struct step_row *st)
{
	char id[24];

	x += draw_when(s, line, x, st->began_us);
	snprintf(id, sizeof(id), "%3lld", (long long)st->id);
	x += surface_text(s, x, line.y, 8, ROLE_DIM, id) + 2;
	draw_name(s, x, line.y, end, st);
}

static void draw_row(void *data, struct surface *s, struct rect line, size_t i)
{
	const struct view_steps *p = data;
	const struct model *m = p->v.ui->spec.model;
	const struct line *l = &p->shown[i];
	int x = line.x + 1 + 2 * (int)l->depth, end = line.x + line.w - p->state_cols - 2;
	struct state state;

	line_state(p, l, line.w, &state);
	switch (l->kind) {
	case LINE_STEP:
		draw_step(s, line, x, end, &m->steps[l->at]);
		break;
	case LINE_EDIT:
		draw_edit(p, s, line, x, end, &m->edits[l->at]);
		break;
	case LINE_FILE:
		draw_file(p, s, line, x, end, l);
		break;
	case LINE_GIT:
		draw_git(p, s, line, x, l);
		break;
	case LINE_TURN:
		draw_turn(p, s, line, x, end, l);
		break;
	case LINE_NOTES:
		draw_notes(p, s, line, x, line.x + line.w - 1, l);
		break;
	case LINE_SESSION:
	case LINE_OLDER:
		draw_heading(p, s, line, l);
		break;
	}
	draw_state(s, line.x + line.w - 1 - state_width(&state), line.y, &state);
}

/* Returns the width of the states of visible rows; further rows are not read for it. */
static int state_cols(const struct view_steps *p, struct rect r)
{
	size_t from = MIN(p->list.top, p->n), upto = MIN(from + (size_t)MAX(r.h, 1), p->n);
	int w = 8;

	for (size_t i = from; i < upto; i++) {
		struct state state;

		line_state(p, &p->shown[i], r.w, &state);
		w = MAX(w, state_width(&state));
	}
	return MIN(w, MAX(8, r.w / 3));
}

/* Draws words over as many lines as needed. Returns the next line. */
static int draw_wrapped(struct surface *s, struct rect r, int y, const char *words)
{
	const char *next = words;

	for (; *words && y < r.y + r.h; words = next) {
		size_t len = ui_fitting(words, MAX(r.w - 3, 2), &next);
		AUTO_FREE char *line = xstrndup(words, len);

		surface_text(s, r.x + 2, y++, r.w - 3, ROLE_DIM, line);
	}
	return y;
}

/* Draws the screen of a first session: what the list will show, and the keys. */
static void draw_welcome(struct ui *ui, struct surface *s, struct rect r)
{
	static const struct {
		enum action action;
		const char *words;
	} rows[] = {{ACTION_HELP, "all keys"},
		    {ACTION_PALETTE, "find an action by words"},
		    {ACTION_FOCUS_APPROVALS, "answer what waits"},
		    {ACTION_DIFF_SESSION, "all that has changed"},
		    {ACTION_UNDO, "undo the newest step"},
		    {ACTION_QUIT, "leave"}};
	int y = r.y;
	char keys[48];

	surface_fill(s, r, ROLE_TEXT);
	y = draw_wrapped(s, r, y, "Each command that changes a file will be a step here.");
	if (ui->spec.replay || r.h < (int)ARRAY_LEN(rows) + 3)
		return;
	y = draw_wrapped(s, r, y + (r.h > (int)ARRAY_LEN(rows) + 3),
			 "Keys are the agent's, but for these:");
	for (size_t i = 0; i < ARRAY_LEN(rows) && y < r.y + r.h; i++) {
		ui_keys(ui, PLACE_TERMINAL, rows[i].action, keys, sizeof(keys));
		surface_text(s, r.x + 4, y, 8, ROLE_BAR_KEY, keys);
		surface_text(s, r.x + 13, y++, r.w - 14, ROLE_DIM, rows[i].words);
	}
}

void steplist_draw(struct view *v, struct surface *s, struct rect r, bool focused)
{
	struct view_steps *p = (struct view_steps *)v;

	if (p->n == 0 && !*p->list.filter) {
		draw_welcome(v->ui, s, r);
		return;
	}
	list_fit(&p->list, p->n, r.h);
	p->state_cols = state_cols(p, r);
	list_draw(&p->list, s, r, focused, p->n, "No step matches the filter.", draw_row, p);
}
