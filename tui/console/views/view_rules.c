/* view_rules - answers that stay in force, and rules of settings files: their words, state and
 * source; revokes them. */
/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "core/base/clock.h"
#include "core/base/text.h"
#include "core/session/answers/answers.h"
#include "tui/console/frame/ui.h"

struct view_rules {
	struct view v;
	struct list list;
};

static const enum action hints[] = {ACTION_REVOKE, ACTION_SEARCH, ACTION_BACK, ACTION_NONE};

/* Returns an answer, the newest first: a mistake is usually the last one. */
static const struct given *rule_at(const struct view_rules *p, size_t i)
{
	const struct model *m = p->v.ui->spec.model;

	return i < m->n_given ? &m->given[m->n_given - 1 - i] : NULL;
}

/* Returns a rule of the settings; they come after the answers. */
static const struct lasting *lasting_at(const struct view_rules *p, size_t i)
{
	const struct model *m = p->v.ui->spec.model;

	return i >= m->n_given && i - m->n_given < m->n_lasting ? &m->lasting[i - m->n_given]
								: NULL;
}

static size_t count(const struct model *m)
{
	return m->n_given + m->n_lasting;
}

static bool is_over(const struct given *g)
{
	return g->over || (g->answer.until && g->answer.until <= clock_expiry_s());
}

static const char *state_of(const struct given *g, int *role)
{
	*role = is_over(g) ? ROLE_DIM : g->answer.allow ? ROLE_EVENT_ALLOW : ROLE_EVENT_DENY;
	if (is_over(g))
		return "- over";
	return g->answer.allow ? "+ ALLOW" : "x DENY";
}

/* Draws a rule, with its source at the end. */
static void draw_lasting(struct surface *s, struct rect line, const struct lasting *l)
{
	AUTO_FREE char *where = xasprintf("%s:%d", l->file, l->line);
	int x = line.x + 1, end = line.x + line.w, w = MIN((int)strlen(where), line.w / 2);

	x += surface_text(s, x, line.y, 9, ROLE_DIM,
			  l->removed ? "- removed"
			  : l->by_us ? "answer"
				     : "rule") +
	     1;
	x = line.x + (line.w >= 60 ? 11 : 10);
	surface_hostile_end(s, x, line.y, end - x - w - 2, l->removed ? ROLE_DIM : ROLE_TEXT,
			    l->words);
	surface_hostile(s, end - w - 1, line.y, w, ROLE_DIM, where);
}

static void draw_row(void *data, struct surface *s, struct rect line, size_t i)
{
	const struct given *g = rule_at(data, i);
	int x = line.x + 1, role;
	const char *state, *words;
	char hms[16];

	if (lasting_at(data, i))
		draw_lasting(s, line, lasting_at(data, i));
	if (!g)
		return;
	state = state_of(g, &role);
	if (line.w >= 60) {
		clock_hms(hms, g->wall_us);
		x += surface_text(s, x, line.y, 9, ROLE_DIM, hms) + 1;
	}
	surface_text(s, x, line.y, 8, role, state);
	x += 8;
	words = strchr(g->words, ' '); /* without the verdict */
	surface_hostile(s, x, line.y, line.x + line.w - x, is_over(g) ? ROLE_DIM : ROLE_TEXT,
			words ? words + 1 : g->words);
}

static void text_of(void *data, size_t i, struct buf *out)
{
	const struct given *g = rule_at(data, i);

	const struct lasting *l = lasting_at(data, i);
	const char *words = g ? g->words : l ? l->words : "";

	text_escape(out, words, strlen(words));
}

static struct rect size(struct view *v, struct rect body)
{
	int w = MIN(body.w, 100);
	int h = MIN(body.h, MAX((int)MIN(count(v->ui->spec.model), (size_t)20) + 6, 10));

	return (struct rect){body.x + (body.w - w) / 2, body.y + (body.h - h) / 2, w, h};
}

static void draw_numbers(const struct model *m, struct surface *s, int x, int y, int w)
{
	const struct decisions *d = &m->decisions;
	AUTO_BUF struct buf b = BUF_INIT, fit = BUF_INIT;

	buf_fmt(&b, "%llu question%s: %llu allowed, %llu denied, %zu open",
		(unsigned long long)d->asked, d->asked == 1 ? "" : "s",
		(unsigned long long)d->allowed, (unsigned long long)d->denied, m->n_asks);
	if (d->by_nobody)
		buf_fmt(&b, ", %llu without an answer in time", (unsigned long long)d->by_nobody);
	buf_ch(&b, '.');
	if (d->reads[0])
		buf_fmt(&b, " %llu reads checked, %llu granted by a rule.",
			(unsigned long long)d->reads[0], (unsigned long long)d->reads[1]);
	text_fit_end(&fit, b.data, w);
	surface_text(s, x, y, w, ROLE_MODAL_LABEL, fit.data);
}

/* Returns how much of the words fits the first of two lines: whole processes, if one fits. */
static size_t first_line(const char *words, int w)
{
	size_t n = 0;

	for (const char *at = words; (at = strstr(at, "; ")) && at - words < w; at += 2)
		n = (size_t)(at - words) + 2;
	return n && strlen(words) > (size_t)w ? n : strlen(words);
}

/* Draws which processes still have a part of a revoked grant. */
static void draw_left(struct surface *s, int x, int y, int w, const char *left)
{
	int n = surface_text(s, x, y, w, ROLE_MODAL_LABEL, "Stays open: ");
	size_t first = first_line(left, w - n);
	AUTO_FREE char *head = xstrndup(left, first);

	surface_hostile(s, x + n, y, w - n, ROLE_TEXT, head);
	surface_hostile(s, x, y + 1, w, ROLE_TEXT, left + first);
}

static void draw_words(struct surface *s, int x, int y, int w, const char *words, const char *few)
{
	surface_text(s, x, y, w, ROLE_MODAL_LABEL, text_width(words) <= w ? words : few);
}

/* Draws the effect of a revocation on the row under the cursor, before or after it. */
static void draw_end(const struct view_rules *p, struct surface *s, int x, int y, int w)
{
	const struct given *g = rule_at(p, p->list.cursor);
	const struct lasting *l = lasting_at(p, p->list.cursor);
	const char *left = g ? g->left : l && l->removed ? p->v.ui->spec.model->left : NULL;
	AUTO_FREE char *words = NULL;
	char key[32];

	if (left) {
		draw_left(s, x, y, w, left);
		return;
	}
	ui_keys(p->v.ui, PLACE_RULES, ACTION_REVOKE, key, sizeof(key));
	words = xasprintf("%s removes an answer: the next access asks. Open files stay readable.",
			  key);
	draw_words(s, x, y, w, words, "Removed: asked again.");
	draw_words(s, x, y + 1, w,
		   "Rules of files are read again if they change: cordon policy list has all.",
		   "All rules: cordon policy list.");
}

static void draw(struct view *v, struct surface *s, struct rect r, bool focused)
{
	struct view_rules *p = (struct view_rules *)v;
	struct rect in = ui_modal(s, r, "your answers", false), list = in;
	size_t n = count(v->ui->spec.model);

	list.h = MAX(in.h - 4, 1);
	list_draw(&p->list, s, list, focused, n,
		  "No standing answers. Each of your answers was for one call.", draw_row, p);
	draw_numbers(v->ui->spec.model, s, in.x, in.y + in.h - 3, in.w);
	draw_end(p, s, in.x, in.y + in.h - 2, in.w);
}

static void forget(struct view_rules *p, const struct lasting *l)
{
	struct ui *ui = p->v.ui;
	AUTO_BUF struct buf file = BUF_INIT;
	struct err err = {0};

	text_escape(&file, l->file, strlen(l->file));
	if (l->removed)
		ui_say(ui, "It is taken out already.");
	else if (!l->by_us)
		ui_say(ui, "Somebody wrote this: edit %s, line %d.", file.data, l->line);
	else if (ui->spec.verbs->forget(ui->spec.data, (size_t)(l - ui->spec.model->lasting),
					&err) < 0)
		ui_say(ui, "x %s: edit %s, line %d.", err.text, file.data, l->line);
	else
		ui_say(ui, "- Taken out of %s, which is read again.", file.data);
}

static void revoke(struct view_rules *p)
{
	const struct given *g = rule_at(p, p->list.cursor);
	struct ui *ui = p->v.ui;

	if (lasting_at(p, p->list.cursor))
		forget(p, lasting_at(p, p->list.cursor));
	if (!g)
		return;
	if (is_over(g) || !g->rule) {
		ui_say(ui, "It does not count any more.");
		return;
	}
	ui_say(ui, "- Taken back: the next access asks again. Files that are open stay open.");
	ui->spec.verbs->revoke(ui->spec.data, g->rule);
}

static bool act(struct view *v, enum action a)
{
	struct view_rules *p = (struct view_rules *)v;
	size_t n = count(v->ui->spec.model);

	if (list_keys(&p->list, v->ui, a, n, text_of, p))
		return true;
	switch ((int)a) {
	case ACTION_REVOKE:
		revoke(p);
		return true;
	case ACTION_BACK:
		ui_pop(v->ui);
		return true;
	default:
		return a == ACTION_SHOW_RULES;
	}
}

static void query(struct view *v, enum query what, const char *text)
{
	struct view_rules *p = (struct view_rules *)v;

	(void)what;
	if (!list_search(&p->list, text, count(v->ui->spec.model), text_of, p))
		ui_say(v->ui, "No answer has '%s'.", text);
}

static void mouse(struct view *v, const struct mouse *m, struct rect r)
{
	struct view_rules *p = (struct view_rules *)v;

	(void)r;
	list_mouse(&p->list, m, p->list.at, count(v->ui->spec.model));
}

static const struct view_ops ops = {
	.place = PLACE_RULES,
	.size = size,
	.draw = draw,
	.act = act,
	.query = query,
	.does = DOES_MOVE,
	.mouse = mouse,
	.hints = hints,
};

struct view *view_rules_new(struct ui *ui)
{
	struct view_rules *p = xcalloc(1, sizeof(*p));

	p->v = (struct view){.ops = &ops, .ui = ui};
	return &p->v;
}
