/* view_audit - what the agent touches, live. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/base/path.h"
#include "core/base/text.h"
#include "tui/console/activity.h"
#include "tui/console/ui.h"

#define TIME_MIN_W 56 /* narrower rows do without the time */
#define OP_COLS	   7

struct view_audit {
	struct view v;
	struct list list; /* over what is shown of the activity */
	struct activity activity;
};

static const enum action hints[] = {ACTION_DETAILS,	ACTION_LEVEL,	       ACTION_OPEN,
				    ACTION_SEARCH,	ACTION_FILTER,	       ACTION_BOTTOM,
				    ACTION_FOCUS_STEPS, ACTION_FOCUS_TERMINAL, ACTION_NONE};

/* Verdicts have a sign and a word, not only a colour. */
static const struct {
	const char *sign, *word, *name;
	int role;
} kinds[] = {
	[ROW_TOUCH] = {" ", "", "touch", ROLE_EVENT_TOUCH},
	[ROW_DENY] = {"x", "DENY ", "deny", ROLE_EVENT_DENY},
	[ROW_EXEC] = {">", "", "exec", ROLE_EVENT_EXEC},
	[ROW_ASK] = {"?", "ASK ", "ask", ROLE_EVENT_ASK},
	[ROW_DECISION] = {"+", "", "decision", ROLE_EVENT_ALLOW},
	[ROW_NOTE] = {"-", "", "note", ROLE_EVENT_NOTE},
	[ROW_EXTERNAL] = {"!", "EDIT ", "edit", ROLE_EVENT_ASK},
};

/*
 * What was decided is told in the words of the answer: "+ ALLOW reading ~/notes/a once". Where they
 * name no object, as of one that came too late, the request's stands before them; what is taken
 * back is neither allowed nor denied.
 */
struct verdict {
	const char *sign, *word, *words;
	bool whole; /* the words say it all */
	int role;
};

static struct verdict verdict_of(const struct row *r)
{
	const char *words = r->more ? r->more : "";
	bool denied = r->result != 0;

	if (str_eq(r->op, "revoke"))
		return (struct verdict){"-", "", words, true, ROLE_EVENT_NOTE};
	if (str_starts(words, "allow ") || str_starts(words, "deny "))
		return (struct verdict){denied ? "x" : "+", denied ? "DENY " : "ALLOW ",
					strchr(words, ' ') + 1, true,
					denied ? ROLE_EVENT_DENY : ROLE_EVENT_ALLOW};
	if (str_starts(words, "deny: "))
		words += strlen("deny: ");
	return (struct verdict){denied ? "x" : "+", denied ? "DENY " : "ALLOW ", words, false,
				denied ? ROLE_EVENT_DENY : ROLE_EVENT_ALLOW};
}

static struct verdict shown_as(const struct row *r)
{
	const char *more = r->more ? r->more : "";

	if (r->kind == ROW_DECISION)
		return verdict_of(r);
	/* A profile's rule: it comes again and again, and is no alarm. */
	if (r->kind == ROW_DENY && r->expected)
		return (struct verdict){"-", "refused ", more, false, ROLE_DIM};
	return (struct verdict){kinds[r->kind].sign, kinds[r->kind].word, more, false,
				kinds[r->kind].role};
}

static void row_text(struct ui *ui, const struct row *r, struct buf *out)
{
	const char *path = ui_path(ui, r->text);
	struct verdict v = shown_as(r);
	char op[24];

	ui_op(r->op, op, sizeof(op));
	buf_str(out, v.word);
	buf_str(out, op);
	buf_ch(out, ' ');
	text_escape(out, path, strlen(path));
	if (*v.words) {
		buf_ch(out, ' ');
		text_escape(out, v.words, strlen(v.words));
	}
}

/* "kind:deny", "step:12" beside plain words. */
static bool row_matches(void *data, const struct row *r)
{
	struct view_audit *a = data;
	AUTO_BUF struct buf b = BUF_INIT;

	buf_reserve(&b, 240);
	buf_fmt(&b, "kind:%s step:%lld ", kinds[r->kind].name, (long long)r->step);
	row_text(a->v.ui, r, &b);
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

/* The cursor stays on its item when others go. */
static void changed(struct view *v)
{
	struct view_audit *a = (struct view_audit *)v;
	const struct activity_item *at = activity_at(&a->activity, a->list.cursor);
	uint64_t first = at ? at->first : 0;
	size_t was = a->list.cursor;

	activity_update(&a->activity, v->ui->spec.model);
	at = activity_at(&a->activity, a->list.cursor);
	if (a->list.follow || !first || (at && at->first == first))
		return;
	for (size_t i = 0; i < count(a) && activity_at(&a->activity, i)->first <= first; i++)
		a->list.cursor = i;
	a->list.top -= MIN(a->list.top, was - MIN(was, a->list.cursor));
}

/* Columns of sign and word. */
static int draw_sign(struct surface *s, int x, int y, int role, const char *sign, const char *word)
{
	int from = x;

	x += surface_text(s, x + 1, y, 2, role, sign) + 2;
	return x + surface_text(s, x, y, 8, role, word) - from;
}

/* "commit" of "git -c user.name=x -C sub commit -m y"; how long it is, 0: there is none. */
static size_t git_verb(const char *command, const char **ret)
{
	const char *at = command ? command + strcspn(command, " ") : "";

	while (*at == ' ') {
		const char *word = ++at;
		size_t len = strcspn(word, " ");

		at += len;
		if (*word != '-') {
			*ret = word;
			return len;
		}
		if (len == 2 && strchr("cC", word[1]) && *at == ' ') /* with a value */
			at += 1 + strcspn(at + 1, " ");
	}
	return 0;
}

/* "git commit: 12 files below .git" */
static void draw_group(struct ui *ui, struct surface *s, struct rect line,
		       const struct activity_item *item, const struct row *r)
{
	const struct model *m = ui->spec.model;
	AUTO_BUF struct buf text = BUF_INIT;
	AUTO_FREE char *dir = NULL;
	const char *command = NULL, *verb;
	size_t len = 0;

	for (size_t i = 0; i < m->n_steps; i++)
		if (m->steps[i].id == r->step)
			command = m->steps[i].command;
	if (command && str_starts(command, "git "))
		len = git_verb(command, &verb);
	dir = xstrndup(r->text, activity_git_dir(r->text));
	buf_str(&text, "git");
	if (len)
		buf_fmt(&text, " %.*s", (int)len, verb);
	buf_fmt(&text, ": %zu file%s below %s", item->objects, item->objects == 1 ? "" : "s",
		ui_path(ui, dir));
	surface_hostile_end(s, line.x, line.y, line.w, ROLE_DIM, text.data);
}

/* "5 hosts allowed by profiles: C-] n" */
static void draw_note(struct ui *ui, struct surface *s, struct rect line, const struct row *r,
		      int role)
{
	AUTO_FREE char *words = NULL;
	const char *text = r->text && *r->text ? r->text : r->op ? r->op : "";
	char keys[32];

	if (r->kind == ROW_NOTE && str_eq(r->op, "hosts")) {
		ui_keys(ui, PLACE_TERMINAL, ACTION_SHOW_CONNECTIONS, keys, sizeof(keys));
		words = *keys ? xasprintf("%s: %s", text, keys) : NULL;
	}
	surface_hostile_end(s, line.x, line.y, line.w, role, words ? words : text);
}

static void draw_object(struct ui *ui, struct surface *s, struct rect line, const struct row *r,
			const struct verdict *v)
{
	int x = line.x, end = line.x + line.w;
	char op[24];

	if (r->kind != ROW_EXTERNAL) { /* its word says what it is */
		ui_op(r->op, op, sizeof(op));
		surface_text(s, x, line.y, end - x, r->kind == ROW_TOUCH ? ROLE_DIM : v->role, op);
		x += MAX(text_width(op), *v->word ? 0 : OP_COLS) + 1;
	}
	x += surface_hostile(s, x, line.y, end - x - 1, v->role, ui_path(ui, r->text));
	if (*v->words && end - x > 8)
		surface_hostile_end(s, x + 2, line.y, end - x - 3, ROLE_DIM, ui_path(ui, v->words));
}

/* "DENY write  ~/.claude/backups: 5 names  the reason that all have" */
static void draw_refusals(struct ui *ui, struct surface *s, struct rect line,
			  const struct activity_item *item, const struct row *r,
			  const struct verdict *v)
{
	AUTO_FREE char *dir = xstrndup(r->text, (size_t)(path_base(r->text) - r->text) - 1);
	AUTO_FREE char *words = xasprintf("%s: %zu names", dir, item->objects);
	struct row all = *r;

	all.text = words;
	draw_object(ui, s, line, &all, v);
}

/* "x3": how often, at the right. Returns the columns that are left. */
static int draw_times(struct surface *s, struct rect line, const struct activity_item *item,
		      const struct row *r)
{
	char times[16];
	int w = snprintf(times, sizeof(times), "x%zu", item->rows);

	if (item->rows < 2 || activity_is_group(item, r) || line.w < 30)
		return line.w;
	surface_text(s, line.x + line.w - w - 1, line.y, w, ROLE_DIM, times);
	return line.w - w - 1;
}

static void draw_row(void *data, struct surface *s, struct rect line, size_t i)
{
	struct view_audit *a = data;
	const struct activity_item *item = activity_at(&a->activity, i);
	const struct row *r = row_at(a, i);
	int x = line.x, end;
	struct verdict v;
	char hms[16];

	if (!r)
		return;
	end = line.x + draw_times(s, line, item, r);
	v = shown_as(r);
	if (line.w >= TIME_MIN_W) {
		clock_hms(hms, r->wall_us);
		x += surface_text(s, x + 1, line.y, 8, ROLE_DIM, hms) + 2;
	}
	x += draw_sign(s, x, line.y, v.role, v.sign, v.word);
	if (activity_is_group(item, r) && r->kind == ROW_DENY)
		draw_refusals(a->v.ui, s, (struct rect){x, line.y, end - x, 1}, item, r, &v);
	else if (activity_is_group(item, r))
		draw_group(a->v.ui, s, (struct rect){x, line.y, end - x - 1, 1}, item, r);
	else if (r->kind == ROW_EXEC || r->kind == ROW_NOTE)
		draw_note(a->v.ui, s, (struct rect){x, line.y, end - x - 1, 1}, r, v.role);
	else if (v.whole)
		surface_hostile(s, x, line.y, end - x - 1, v.role, v.words);
	else
		draw_object(a->v.ui, s, (struct rect){x, line.y, end - x, 1}, r, &v);
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
		row_text(a->v.ui, r, out);
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
		ui_say(ui, "This line belongs to no step.");
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

	if (r && r->text && *r->text) { /* the path or the command alone */
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
	a->activity.folder = ui->spec.folders && ui->spec.folders[0] && ui->spec.folders[1]
				     ? NULL
				     : ui->spec.folder;
	return &a->v;
}
