/* view_audit - the live list of the agent's activity. */
/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "tui/console/views/activity_rows.h"

struct view_audit {
	struct view v;
	struct list list; /* the shown items of the activity */
	struct activity activity;
	char agent[64]; /* activity.agent */
};

static const enum action hints[] = {ACTION_DETAILS,	ACTION_LEVEL,	       ACTION_OPEN,
				    ACTION_SEARCH,	ACTION_FILTER,	       ACTION_BOTTOM,
				    ACTION_FOCUS_STEPS, ACTION_FOCUS_TERMINAL, ACTION_NONE};

/* Matches a row with a filter: "kind:deny", "step:12" and plain words. */
static bool row_matches(void *data, const struct row *r)
{
	struct view_audit *a = data;
	AUTO_BUF struct buf b = BUF_INIT;

	buf_reserve(&b, 240);
	buf_fmt(&b, "kind:%s step:%lld ", activity_kind(r->kind), (long long)r->step);
	activity_text(a->v.ui, r, &b);
	return list_match(a->list.filter, b.data);
}

static size_t count(const struct view_audit *a)
{
	return a->activity.n_shown;
}

static const struct row *row_at(const struct view_audit *a, size_t i)
{
	const struct activity_item *item = activity_at(&a->activity, i);

	return item ? activity_row(a->v.ui->spec.model, item) : NULL;
}

/* Keeps the cursor on its item when others are dropped. */
static void changed(struct view *v)
{
	struct view_audit *a = (struct view_audit *)v;
	const struct activity_item *at = activity_at(&a->activity, a->list.cursor);
	uint64_t first = at ? at->first : 0;
	size_t was = a->list.cursor;

	if (!*a->agent && v->ui->spec.model->command)
		ui_agent(v->ui, a->agent, sizeof(a->agent));
	activity_update(&a->activity, v->ui->spec.model);
	at = activity_at(&a->activity, a->list.cursor);
	if (a->list.follow || !first || (at && at->first == first))
		return;
	for (size_t i = 0; i < count(a) && activity_at(&a->activity, i)->first <= first; i++)
		a->list.cursor = i;
	a->list.top -= MIN(a->list.top, was - MIN(was, a->list.cursor));
}

static void draw_row(void *data, struct surface *s, struct rect line, size_t i)
{
	struct view_audit *a = data;
	const struct row *r = row_at(a, i);

	if (r)
		activity_draw(a->v.ui, s, line, activity_at(&a->activity, i), r,
			      a->activity.level == ACTIVITY_ALL);
}

static void draw(struct view *v, struct surface *s, struct rect r, bool focused)
{
	struct view_audit *a = (struct view_audit *)v;

	list_draw(&a->list, s, r, focused, count(a),
		  *a->list.filter ? "Nothing matches the filter."
		  : a->activity.level == ACTIVITY_DECIDED
			  ? "Nothing was asked about or refused. L shows more."
			  : "What the agent runs and changes will be listed here.",
		  draw_row, a);
}

static void note(struct view *v, char *out, size_t size)
{
	struct view_audit *a = (struct view_audit *)v;

	char words[96] = "";
	size_t used = 0;

	if (a->activity.level != ACTIVITY_PLAIN)
		used = (size_t)snprintf(out, size, "%s  ", activity_level_words(a->activity.level));
	if (list_note(&a->list, count(a), words, sizeof(words)))
		snprintf(out + used, size - used, "%s", words);
	else if (v->ui->spec.model->rows_dropped > 0)
		snprintf(out + used, size - used, "newest %d", MODEL_ROWS);
}

static void text_of(void *data, size_t i, struct buf *out)
{
	struct view_audit *a = data;
	const struct row *r = row_at(a, i);

	if (r)
		activity_text(a->v.ui, r, out);
}

static void query(struct view *v, enum query what, const char *text)
{
	struct view_audit *a = (struct view_audit *)v;

	if (what == QUERY_SEARCH) {
		if (!list_search(&a->list, text, count(a), text_of, a))
			ui_say(v->ui, "No line has '%s'.", text);
		return;
	}
	snprintf(a->list.filter, sizeof(a->list.filter), "%s", text);
	activity_filter(&a->activity, a->list.filter);
	a->list.follow = true;
	activity_update(&a->activity, v->ui->spec.model);
}

static void next_level(struct view_audit *a)
{
	activity_set(&a->activity, (a->activity.level + 1) % ACTIVITY_LEVELS);
	activity_update(&a->activity, a->v.ui->spec.model);
	a->list.follow = true;
	ui_say(a->v.ui, "Activity: %s.", activity_level_words(a->activity.level));
}

static void details(struct view_audit *a)
{
	const struct activity_item *item = activity_at(&a->activity, a->list.cursor);
	const struct row *r = row_at(a, a->list.cursor);

	if (r)
		ui_push(a->v.ui, view_detail_new(a->v.ui, r, item));
}

static bool open_row(struct view_audit *a)
{
	const struct row *r = row_at(a, a->list.cursor);
	struct ui *ui = a->v.ui;

	if (r && r->kind == ROW_ASK && ui->spec.model->n_asks > 0)
		ui_push(ui, dialog_approval_new(ui));
	else if (r && r->step != 0)
		ui_push(ui, view_step_new(ui, r->step));
	else
		details(a); /* of what was refused, its reason */
	return true;
}

static bool publish(struct view_audit *a)
{
	const struct row *r = row_at(a, a->list.cursor);
	struct ui *ui = a->v.ui;
	uint16_t port = r ? model_offer(ui->spec.model, r->seq) : 0;

	if (!port)
		ui_say(ui, "No server listens by this line.");
	else if (!ui->spec.verbs->publish)
		ui_say(ui, "In the session's own console only.");
	else
		ui->spec.verbs->publish(ui->spec.data, port);
	return true;
}

static bool act(struct view *v, enum action what)
{
	struct view_audit *a = (struct view_audit *)v;
	const struct row *r = what == ACTION_COPY ? row_at(a, a->list.cursor) : NULL;

	if (r && r->text && *r->text) { /* only the path or command */
		ui_copy(v->ui, r->text, strlen(r->text));
		return true;
	}
	if (list_keys(&a->list, v->ui, what, count(a), text_of, a))
		return true;
	switch ((int)what) {
	case ACTION_LEVEL:
		next_level(a);
		return true;
	case ACTION_DETAILS:
		details(a);
		return true;
	case ACTION_OPEN:
		return open_row(a);
	case ACTION_PUBLISH:
		return publish(a);
	case ACTION_BACK:
		if (!*a->list.filter)
			return false;
		query(v, QUERY_FILTER, "");
		return true;
	default:
		return false;
	}
}

static void mouse(struct view *v, const struct mouse *m, struct rect r)
{
	struct view_audit *a = (struct view_audit *)v;

	list_mouse(&a->list, m, r, count(a));
	if (m->action == MOUSE_PRESS && m->twice)
		open_row(a);
}

static void view_free(struct view *v)
{
	activity_done(&((struct view_audit *)v)->activity);
	free(v);
}

static const struct view_ops ops = {
	.place = PLACE_AUDIT,
	.draw = draw,
	.act = act,
	.note = note,
	.query = query,
	.filters = true,
	.does = DOES_MOVE | DOES_OPEN,
	.mouse = mouse,
	.changed = changed,
	.free = view_free,
	.hints = hints,
};

void view_audit_quiet(struct view *v)
{
	struct view_audit *a = (struct view_audit *)v;

	activity_set(&a->activity, ACTIVITY_STAYS);
}

struct view *view_audit_new(struct ui *ui)
{
	struct view_audit *a = xcalloc(1, sizeof(*a));

	a->v = (struct view){.ops = &ops, .ui = ui};
	a->list.follow = a->list.tails = true;
	a->activity.matches = row_matches;
	a->activity.data = a;
	a->activity.agent = a->agent;
	a->activity.folder = ui->spec.folders && ui->spec.folders[0] && ui->spec.folders[1]
				     ? NULL
				     : ui->spec.folder;
	return &a->v;
}
