/* view_sessions - the sessions that run: where, which agent, since when, what waits. */
/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <string.h>

#include "core/api/link.h"
#include "core/base/clock.h"
#include "core/base/text.h"
#include "tui/console/ui.h"

struct entry {
	char *session, *tag, *folder, *command;
	int64_t since_us;
	uint64_t pending;
};

struct view_sessions;

/* They are asked on a worker: one that is stopped answers after seconds, or never. */
struct asking {
	struct view_sessions *view; /* NULL: it is closed */
	struct entry *list;
	size_t n;
	bool failed;
};

struct view_sessions {
	struct view v;
	struct list list;
	struct asking *asking; /* under way, or NULL */
	struct entry *rows;
	size_t n;
	bool failed;
};

static const enum action hints[] = {ACTION_OPEN, ACTION_BACK, ACTION_NONE};

static void entries_free(struct entry *list, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		free(list[i].session);
		free(list[i].tag);
		free(list[i].folder);
		free(list[i].command);
	}
	free(list);
}

/* ---- asking ---------------------------------------------------------------------------------- */

static int take(struct link *l, void *data, struct err *err)
{
	struct asking *a = data;

	(void)err;
	a->list = xrealloc(a->list, (a->n + 1) * sizeof(*a->list));
	a->list[a->n++] = (struct entry){
		.session = xstrdup(l->session),
		.tag = xstrdup(l->tag),
		.folder = xstrdup(link_field(l, "folder")),
		.command = xstrdup(link_field(l, "command")),
		.since_us = strtoll(link_field(l, "since_us"), NULL, 10),
		.pending = l->pending,
	};
	return 0;
}

static int by_age(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	return (x->since_us < y->since_us) - (x->since_us > y->since_us);
}

static void ask(void *job)
{
	AUTO_BUF struct buf mute = BUF_INIT;
	struct asking *a = job;
	struct err err = {0};

	a->failed = link_each(take, a, &mute, &err) < 0;
	if (a->n)
		qsort(a->list, a->n, sizeof(*a->list), by_age);
}

static void asked(void *job)
{
	struct asking *a = job;
	struct view_sessions *p = a->view;

	if (p) {
		p->rows = a->list;
		p->n = a->n;
		p->failed = a->failed;
		p->asking = NULL;
		p->v.ui->dirty = true;
	} else {
		entries_free(a->list, a->n);
	}
	free(a);
}

/* ---- drawing --------------------------------------------------------------------------------- */

static void add_text(const struct entry *e, struct buf *out)
{
	text_escape(out, e->folder, strlen(e->folder));
	buf_str(out, ": ");
	text_escape(out, e->command, strlen(e->command));
}

/* "* 314d  0:12  1 waits  ~/p: claude" */
static void draw_row(void *data, struct surface *s, struct rect line, size_t i)
{
	const struct view_sessions *p = data;
	struct ui *ui = p->v.ui;
	const struct entry *e = &p->rows[i];
	bool own = str_eq(e->session, ui->spec.model->session);
	long long minutes = MAX(clock_wall_us() - e->since_us, (int64_t)0) / 60000000;
	int role = own ? ROLE_DIM : ROLE_TEXT, x = line.x + 1, end = line.x + line.w;
	AUTO_BUF struct buf what = BUF_INIT;

	x += surface_text(s, x, line.y, 2, role, own ? "* " : "  ");
	surface_text(s, x, line.y, 5, role, e->tag);
	surface_fmt(s, x + 6, line.y, 7, role, "%4lld:%02lld", minutes / 60, minutes % 60);
	if (e->pending)
		surface_fmt(s, x + 15, line.y, 11, ROLE_EVENT_ASK, "? %" PRIu64 " wait%s",
			    e->pending, e->pending == 1 ? "s" : "");
	x += 26;
	buf_fmt(&what, "%s: %s", ui_path(ui, e->folder), e->command);
	surface_hostile(s, x, line.y, MAX(end - x, 0), role, what.data);
}

static struct rect size(struct view *v, struct rect body)
{
	const struct view_sessions *p = (const struct view_sessions *)v;
	int w = MIN(body.w, 100), h = MIN(body.h, MAX((int)MIN(p->n, (size_t)20) + 5, 8));

	return (struct rect){body.x + (body.w - w) / 2, body.y + (body.h - h) / 2, w, h};
}

static void draw(struct view *v, struct surface *s, struct rect r, bool focused)
{
	struct view_sessions *p = (struct view_sessions *)v;
	struct rect in = ui_modal(s, r, "sessions", false);

	surface_text(s, in.x, in.y, in.w, ROLE_MODAL_LABEL,
		     "   ID       FOR  WAITING    FOLDER: COMMAND    (* this one)");
	in.y++;
	in.h = MAX(in.h - 1, 1);
	list_draw(&p->list, s, in, focused, p->n,
		  p->asking	    ? "Asking them..."
		  : p->failed	    ? "They cannot be listed: try cordon sessions."
		  : *p->list.filter ? "No session has these words."
				    : "No session runs.",
		  draw_row, p);
}

/* ---- keys ------------------------------------------------------------------------------------ */

static void text_of(void *data, size_t i, struct buf *out)
{
	const struct view_sessions *p = data;

	if (i < p->n)
		add_text(&p->rows[i], out);
}

static void open_row(struct view_sessions *p)
{
	const struct entry *e = p->list.cursor < p->n ? &p->rows[p->list.cursor] : NULL;
	struct ui *ui = p->v.ui;

	if (!e)
		return;
	if (str_eq(e->session, ui->spec.model->session))
		ui_say(ui, "This is the session that you are in.");
	else if (ui->spec.verbs->attach)
		ui->spec.verbs->attach(ui->spec.data, e->session);
	else
		ui_say(ui, "It is shown by: cordon attach %s  (in another terminal)", e->tag);
}

static bool act(struct view *v, enum action a)
{
	struct view_sessions *p = (struct view_sessions *)v;

	if (list_keys(&p->list, v->ui, a, p->n, text_of, p))
		return true;
	if (a == ACTION_OPEN)
		open_row(p);
	else if (a == ACTION_BACK)
		ui_pop(v->ui);
	else
		return a == ACTION_SHOW_SESSIONS;
	return true;
}

static void mouse(struct view *v, const struct mouse *m, struct rect r)
{
	struct view_sessions *p = (struct view_sessions *)v;

	(void)r;
	list_mouse(&p->list, m, p->list.at, p->n);
	if (m->action == MOUSE_PRESS && m->twice && rect_has(p->list.at, m->x, m->y))
		open_row(p);
}

static void view_free(struct view *v)
{
	struct view_sessions *p = (struct view_sessions *)v;

	if (p->asking)
		p->asking->view = NULL;
	entries_free(p->rows, p->n);
	free(v);
}

static const struct view_ops ops = {
	.place = PLACE_SESSIONS,
	.size = size,
	.draw = draw,
	.act = act,
	.does = DOES_MOVE | DOES_OPEN,
	.mouse = mouse,
	.free = view_free,
	.hints = hints,
};

struct view *view_sessions_new(struct ui *ui)
{
	struct view_sessions *p = xcalloc(1, sizeof(*p));

	p->v = (struct view){.ops = &ops, .ui = ui};
	if (!ui->spec.verbs->submit)
		return &p->v;
	p->asking = xcalloc(1, sizeof(*p->asking));
	p->asking->view = p;
	ui->spec.verbs->submit(ui->spec.data, ask, asked, p->asking);
	return &p->v;
}
