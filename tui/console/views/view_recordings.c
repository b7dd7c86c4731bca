/* view_recordings - lists recorded sessions, newest first, like cordon replay --list; Enter plays
 * one. */
/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "core/base/clock.h"
#include "core/base/text.h"
#include "core/record/recorded.h"
#include "tui/console/frame/ui.h"

/* A worker reads the list: a slow disk does not block the console. */
struct reading {
	struct view_recordings *view; /* NULL: closed */
	char *state_dir;
	struct recorded_list all;
};

struct view_recordings {
	struct view v;
	struct list list;
	struct reading *reading; /* in progress, or NULL */
	struct recorded_list all;
};

static const enum action hints[] = {ACTION_OPEN, ACTION_SEARCH, ACTION_COPY, ACTION_BACK,
				    ACTION_NONE};

/* ---- reading --------------------------------------------------------------------------------- */

static void work(void *job)
{
	struct reading *a = job;

	recorded_read(&a->all, a->state_dir);
}

static void done(void *job)
{
	struct reading *a = job;
	struct view_recordings *p = a->view;

	if (p) {
		p->reading = NULL;
		p->all = a->all;
		p->v.ui->dirty = true;
	} else {
		recorded_done(&a->all);
	}
	free(a->state_dir);
	free(a);
}

static void read_list(struct view_recordings *p)
{
	const struct ui_spec *spec = &p->v.ui->spec;

	if (!spec->state_dir || !spec->verbs->submit)
		return;
	p->reading = xcalloc(1, sizeof(*p->reading));
	p->reading->view = p;
	p->reading->state_dir = xstrdup(spec->state_dir);
	spec->verbs->submit(spec->data, work, done, p->reading);
}

/* ---- drawing --------------------------------------------------------------------------------- */

enum field {
	FIELD_ID,
	FIELD_BEGAN,
	FIELD_LENGTH,
	FIELD_TURNS,
	FIELD_FOLDER,
	FIELD_COMMAND,
	FIELD_PROMPT
};

/* Columns of a narrow, middle and wide box; 0: left out. The last column has the rest. */
static const struct {
	const char *head;
	int cols[3];
} fields[] = {[FIELD_ID] = {"ID", {5, 5, 5}},
	      [FIELD_BEGAN] = {"BEGAN", {12, 12, 12}},
	      [FIELD_LENGTH] = {"  LENGTH", {0, 8, 8}},
	      [FIELD_TURNS] = {"TURNS", {0, 5, 5}},
	      [FIELD_FOLDER] = {"FOLDER", {14, 16, 24}},
	      [FIELD_COMMAND] = {"COMMAND", {0, 0, 24}},
	      [FIELD_PROMPT] = {"FIRST PROMPT", {0, 0, 0}}};

static int field_cols(enum field c, struct rect line, int x)
{
	int rest = MAX(line.x + line.w - x, 0);

	if (c == FIELD_PROMPT)
		return rest < 8 ? 0 : rest;
	return MIN(fields[c].cols[line.w < 60 ? 0 : line.w < 100 ? 1 : 2], rest);
}

static const char *tag_of(const struct recorded *r)
{
	const char *dash = strrchr(r->session, '-');

	return dash ? dash + 1 : r->session;
}

/* Returns the text of a field, raw; out is for numbers. */
static const char *field_text(struct ui *ui, const struct recorded *r, enum field c, char *out,
			      size_t size)
{
	char length[24];

	switch (c) {
	case FIELD_ID:
		return tag_of(r);
	case FIELD_BEGAN:
		clock_day(out, size, r->began_s * 1000000, true);
		return out;
	case FIELD_LENGTH:
		clock_length(length, r->length_us);
		snprintf(out, size, "%8s", length);
		return out;
	case FIELD_TURNS:
		snprintf(out, size, "%5zu", r->turns);
		return out;
	case FIELD_FOLDER:
		return ui_home_path(ui, r->folder);
	case FIELD_COMMAND:
		return r->command;
	case FIELD_PROMPT:
		break;
	}
	return r->prompt;
}

static void draw_row(void *data, struct surface *s, struct rect line, size_t i)
{
	struct view_recordings *p = data;
	const struct recorded *r = &p->all.list[i];
	int x = line.x + 1;
	char text[40];

	if (str_eq(r->session, p->v.ui->spec.model->session))
		surface_text(s, line.x, line.y, 1, ROLE_DIM, "*");
	for (size_t c = 0; c < ARRAY_LEN(fields); c++) {
		int w = field_cols((enum field)c, line, x);
		const char *words = field_text(p->v.ui, r, (enum field)c, text, sizeof(text));

		if (w <= 0)
			continue;
		if (c == FIELD_FOLDER)
			surface_hostile(s, x, line.y, w, ROLE_TEXT, words);
		else
			surface_hostile_end(s, x, line.y, w,
					    c == FIELD_PROMPT ? ROLE_TEXT : ROLE_DIM, words);
		x += w + 1;
	}
}

static struct rect size(struct view *v, struct rect body)
{
	const struct view_recordings *p = (const struct view_recordings *)v;
	int w = MIN(body.w, 140);
	int h = MIN(body.h, MAX((int)MIN(p->all.n, (size_t)30) + 4, 8));

	return (struct rect){body.x + (body.w - w) / 2, body.y + (body.h - h) / 2, w, h};
}

static void draw(struct view *v, struct surface *s, struct rect r, bool focused)
{
	struct view_recordings *p = (struct view_recordings *)v;
	struct rect in = ui_modal(s, r, "recordings", false);
	int x = in.x + 1;

	for (size_t c = 0; c < ARRAY_LEN(fields); c++) {
		int w = field_cols((enum field)c, in, x);

		surface_text(s, x, in.y, w, ROLE_MODAL_LABEL, fields[c].head);
		x += w ? w + 1 : 0;
	}
	in.y++;
	in.h = MAX(in.h - 1, 1);
	list_draw(&p->list, s, in, focused, p->all.n,
		  p->reading ? "Reading them..."
			     : "No session is recorded (record.enabled, record.keep).",
		  draw_row, p);
}

/* ---- keys ------------------------------------------------------------------------------------ */

static void text_of(void *data, size_t i, struct buf *out)
{
	struct view_recordings *p = data;
	char text[40];

	for (size_t c = 0; i < p->all.n && c < ARRAY_LEN(fields); c++) {
		const char *words =
			field_text(p->v.ui, &p->all.list[i], (enum field)c, text, sizeof(text));

		buf_str(out, c ? " " : "");
		text_escape(out, words, strlen(words));
	}
}

static void open_row(struct view_recordings *p)
{
	if (p->list.cursor < p->all.n)
		ui_cordon(p->v.ui,
			  (const char *const[]){"replay", p->all.list[p->list.cursor].session}, 2);
}

static bool act(struct view *v, enum action a)
{
	struct view_recordings *p = (struct view_recordings *)v;

	if (list_keys(&p->list, v->ui, a, p->all.n, text_of, p))
		return true;
	if (a == ACTION_OPEN)
		open_row(p);
	else if (a == ACTION_BACK)
		ui_pop(v->ui);
	else
		return a == ACTION_SHOW_RECORDINGS;
	return true;
}

static void query(struct view *v, enum query what, const char *text)
{
	struct view_recordings *p = (struct view_recordings *)v;

	(void)what;
	if (!list_search(&p->list, text, p->all.n, text_of, p))
		ui_say(v->ui, "No recording has '%s'.", text);
}

static void mouse(struct view *v, const struct mouse *m, struct rect r)
{
	struct view_recordings *p = (struct view_recordings *)v;

	(void)r;
	list_mouse(&p->list, m, p->list.at, p->all.n);
	if (m->action == MOUSE_PRESS && m->twice && rect_has(p->list.at, m->x, m->y))
		open_row(p);
}

static void view_free(struct view *v)
{
	struct view_recordings *p = (struct view_recordings *)v;

	if (p->reading)
		p->reading->view = NULL;
	recorded_done(&p->all);
	free(v);
}

static const struct view_ops ops = {
	.place = PLACE_RECORDINGS,
	.size = size,
	.draw = draw,
	.act = act,
	.query = query,
	.does = DOES_MOVE | DOES_OPEN,
	.mouse = mouse,
	.free = view_free,
	.hints = hints,
};

struct view *view_recordings_new(struct ui *ui)
{
	struct view_recordings *p = xcalloc(1, sizeof(*p));

	p->v = (struct view){.ops = &ops, .ui = ui};
	read_list(p);
	return &p->v;
}
