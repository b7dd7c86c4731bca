/* view_themes - the list of themes; the screen shows the one under the cursor. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>

#include "core/base/text.h"
#include "tui/console/frame/ui.h"

struct view_themes {
	struct view v;
	struct buf names; /* a line for each theme */
	char **list_of;	  /* point into names */
	size_t n;
	struct list list;
	bool touched; /* another theme was shown */
};

static const enum action hints[] = {ACTION_DOWN, ACTION_UP, ACTION_OPEN, ACTION_BACK, ACTION_NONE};

/* Roles shown as samples of the theme. */
static const struct {
	const char *words;
	int role;
} samples[] = {
	{"+ ALLOW read ~/notes", ROLE_EVENT_ALLOW},
	{"x DENY write /etc/hosts", ROLE_EVENT_DENY},
	{"? ASK connect example.org", ROLE_EVENT_ASK},
	{"> npm test", ROLE_EVENT_EXEC},
	{"+ int added;", ROLE_DIFF_ADD},
	{"- int removed;", ROLE_DIFF_DEL},
	{"what can be overlooked", ROLE_DIM},
	{"a search hit", ROLE_MATCH},
};

static struct rect size(struct view *v, struct rect body)
{
	const struct view_themes *t = (const struct view_themes *)v;
	int w = MIN(body.w, 64), h = MIN(body.h, (int)MAX(t->n, ARRAY_LEN(samples)) + 2);

	return (struct rect){body.x + (body.w - w) / 2, body.y + (body.h - h) / 2, w, h};
}

static void draw_name(void *data, struct surface *s, struct rect line, size_t i)
{
	const struct view_themes *t = data;

	surface_hostile_end(s, line.x + 1, line.y, line.w - 1, ROLE_MODAL, t->list_of[i]);
}

static void draw(struct view *v, struct surface *s, struct rect r, bool focused)
{
	struct view_themes *t = (struct view_themes *)v;
	struct rect in = ui_modal(s, r, "themes", false);
	struct rect names = {in.x, in.y, MIN(22, in.w), in.h};

	list_draw(&t->list, s, names, focused, t->n, "There is none.", draw_name, t);
	for (int y = 0; y < in.h && y < (int)ARRAY_LEN(samples); y++)
		surface_text(s, names.x + names.w + 2, in.y + y, MAX(0, in.w - names.w - 2),
			     samples[y].role, samples[y].words);
}

/* Applies a theme; after an error the previous one stays, and a message says so. */
static int wear(struct view_themes *t, bool keep)
{
	struct ui *ui = t->v.ui;
	struct err err = {0};

	int r;

	t->touched = true;
	if (t->list.cursor >= t->n)
		return -ENOENT;
	r = ui->spec.verbs->theme(ui->spec.data, t->list_of[t->list.cursor], keep, &err);
	if (r < 0)
		ui_say(ui, "x %s", err.text);
	return r;
}

static void keep(struct view_themes *t)
{
	struct ui *ui = t->v.ui;
	AUTO_BUF struct buf name = BUF_INIT;

	if (t->list.cursor >= t->n)
		return;
	text_escape(&name, t->list_of[t->list.cursor], strlen(t->list_of[t->list.cursor]));
	if (wear(t, true) == 0)
		ui_say(ui, "Your settings have it now: ui.theme = %s", name.data);
	ui_pop(ui);
}

static void leave(struct view_themes *t)
{
	struct ui *ui = t->v.ui;
	struct err ignored = {0};

	if (t->touched && ui->spec.verbs->theme(ui->spec.data, NULL, false, &ignored) < 0)
		ui_say(ui, "x %s", ignored.text);
	ui_pop(ui);
}

static bool act(struct view *v, enum action a)
{
	struct view_themes *t = (struct view_themes *)v;
	const char *name = t->list.cursor < t->n ? t->list_of[t->list.cursor] : "";

	if (a == ACTION_COPY) {
		ui_copy(v->ui, name, strlen(name));
		return true;
	}

	if (list_act(&t->list, a, t->n)) {
		t->list.follow = false;
		wear(t, false);
		return true;
	}
	if (a == ACTION_OPEN)
		keep(t);
	else if (a == ACTION_BACK)
		leave(t);
	return a == ACTION_OPEN || a == ACTION_BACK;
}

static void mouse(struct view *v, const struct mouse *m, struct rect r)
{
	struct view_themes *t = (struct view_themes *)v;
	size_t was = t->list.cursor;

	list_mouse(&t->list, m, (struct rect){r.x, r.y + 1, r.w, MAX(0, r.h - 2)}, t->n);
	if (t->list.cursor != was)
		wear(t, false);
	if (m->action == MOUSE_PRESS && m->twice)
		keep(t);
}

static void view_free(struct view *v)
{
	struct view_themes *t = (struct view_themes *)v;

	free(t->list_of);
	buf_done(&t->names);
	free(v);
}

static const struct view_ops ops = {
	.place = PLACE_THEMES,
	.size = size,
	.draw = draw,
	.act = act,
	.does = DOES_MOVE | DOES_OPEN,
	.mouse = mouse,
	.free = view_free,
	.hints = hints,
};

struct view *view_themes_new(struct ui *ui)
{
	struct view_themes *t;
	const char *worn =
		ui->spec.verbs->theme_name ? ui->spec.verbs->theme_name(ui->spec.data) : NULL;
	char *save = NULL;

	if (!ui->spec.verbs->theme) {
		ui_say(ui, "Colours cannot be changed here.");
		return NULL;
	}
	t = xcalloc(1, sizeof(*t));
	t->v = (struct view){.ops = &ops, .ui = ui};
	t->names = (struct buf)BUF_INIT;
	ui->spec.verbs->themes(ui->spec.data, &t->names);
	for (char *n = strtok_r(t->names.data, "\n", &save); n; n = strtok_r(NULL, "\n", &save)) {
		t->list_of = xrealloc(t->list_of, (t->n + 1) * sizeof(char *));
		if (worn && str_eq(n, worn))
			t->list.cursor = t->n;
		t->list_of[t->n++] = n;
	}
	return &t->v;
}
