/* bars - the rows that the agent can never draw on: requests, hints, status, tabs. */
/* SPDX-License-Identifier: MIT */
#include <string.h>
#include <sys/wait.h>

#include "core/base/clock.h"
#include "core/base/path.h"
#include "core/base/text.h"
#include "tui/console/replay/replay.h"
#include "tui/console/frame/ui.h"

static void draw_prompt(struct ui *ui, struct surface *s, struct rect r)
{
	const struct prompt *p = &ui->prompt;
	const char *words = p->what == QUERY_TIME      ? "time"
			    : p->what == QUERY_NOTE    ? "why, for the agent"
			    : p->what == QUERY_COMMENT ? "comment"
			    : p->what == QUERY_SEARCH  ? "search"
						       : "filter";
	int used;

	if (!p->view && p->what != QUERY_NOTE) {
		surface_fmt(s, r.x + 1, r.y, r.w - 1, ROLE_BAR_MESSAGE,
			    "There is nothing to %s here: Esc goes back.", words);
		return;
	}
	used = surface_fmt(s, r.x + 1, r.y, r.w - 1, ROLE_BAR_KEY, "%s: ", words);

	used += surface_text(s, r.x + 1 + used, r.y, r.w - used - 2, ROLE_BAR_MESSAGE, p->text);
	s->cursor = (struct cursor){
		.visible = true, .x = r.x + 1 + used, .y = r.y, .shape = CURSOR_BAR};
	if (r.w - used > 34)
		surface_text(s, r.x + r.w - 26, r.y, 26, ROLE_BAR,
			     p->what == QUERY_NOTE ? "Enter, then d denies"
						   : "Enter keeps, Esc clears");
}

/* Returns whether a message is in the row below the keys: if these must be visible, or a request
 * has their row. In a replay that row is the time line. */
static bool says_below(const struct ui *ui)
{
	bool asks = ui->spec.model->n_asks > 0 || ui_top(ui)->ops->place == PLACE_APPROVALS;

	return ui->message_until_us > ui->now_us && asks && !ui->spec.replay;
}

/* Draws "? ASK 1 of 3  write .git/hooks/x   C-] a to answer" over the whole row, in its own
 * colours. */
static void draw_alert(struct ui *ui, struct surface *s, struct rect r)
{
	const struct model *m = ui->spec.model;
	const struct ask *ask = &m->asks[0];
	enum place place = ui_top(ui)->ops->place;
	bool past = ui->spec.replay; /* nothing can be answered */
	int text = past ? ROLE_BAR : ROLE_ALERT, key = past ? ROLE_BAR_MESSAGE : ROLE_ALERT_KEY;
	char keys[48], op[24];
	int used, right;

	surface_fill(s, r, text);
	ui_keys(ui, place, ACTION_FOCUS_APPROVALS, keys, sizeof(keys));
	right = past ? 0 : (int)strlen(keys) + (int)strlen("  answers ");
	used = surface_fmt(s, r.x + 1, r.y, r.w - 1, key, "? %s ",
			   past	       ? "asked here:"
			   : ask->held ? "HELD"
				       : "ASK");
	if (m->n_prompts > 1)
		used += surface_fmt(s, r.x + 1 + used, r.y, r.w - used - 1, key, "1 of %zu ",
				    m->n_prompts);
	if (ask->held)
		snprintf(op, sizeof(op), "%s", guard_verb(ask->held->what));
	else
		ui_wish(ask, op, sizeof(op));
	used += surface_text(s, r.x + 1 + used, r.y, 22, text, op);
	surface_hostile(s, r.x + 2 + used, r.y, r.w - used - right - 4, text,
			ask->held ? ask->command : ui_path(ui, ask->path));
	if (!past)
		surface_fmt(s, r.x + r.w - right, r.y, right, key, " %s answers", keys);
}

static void add_button(struct ui *ui, int x, int w, enum action a)
{
	if (ui->n_buttons < BAR_BUTTONS)
		ui->buttons[ui->n_buttons++] = (struct bar_button){x, w, a};
}

/* Returns whether the action changes files, where nothing may. */
static bool is_refused(const struct ui *ui, enum action a)
{
	return (ui->spec.read_only || ui->spec.replay) &&
	       (a == ACTION_UNDO || a == ACTION_UNDO_TURN || a == ACTION_REDO ||
		a == ACTION_RESTORE || a == ACTION_RESTORE_HUNK);
}

/* Returns the columns of "q back" and the blanks behind it, 0: the action has no key there, or no
 * effect. */
static int hint_width(struct ui *ui, enum action a)
{
	char keys[48];

	if (is_refused(ui, a))
		return 0;
	if (!keymap_keys_of(ui->spec.keymap, ui_top(ui)->ops->place, a, keys, sizeof(keys)))
		return 0;
	return text_width(keys) + 1 + text_width(action_label(a)) + 3;
}

static int draw_hint(struct ui *ui, struct surface *s, int x, int y, enum action a)
{
	int w = hint_width(ui, a);
	char keys[48];

	if (!w)
		return x;
	add_button(ui, x, w - 2, a);
	ui_keys(ui, ui_top(ui)->ops->place, a, keys, sizeof(keys));
	x += surface_text(s, x, y, w, ROLE_BAR_KEY, keys) + 1;
	return x + surface_text(s, x, y, w, ROLE_BAR, action_label(a)) + 3;
}

/* Draws the keys that go on after the agent's end; its message is there for a few seconds only. */
static int draw_over_keys(struct ui *ui, struct surface *s, int x, int y, int end)
{
	const enum action keys[] = {ACTION_QUIT, ACTION_RESTART};

	for (size_t i = 0; i < ARRAY_LEN(keys); i++)
		if ((keys[i] != ACTION_RESTART || ui->spec.verbs->restart) &&
		    x + hint_width(ui, keys[i]) <= end)
			x = draw_hint(ui, s, x, y, keys[i]);
	return x;
}

/* Draws the view's keys that fit before `end`; always the key that leaves the view. */
static void draw_keys(struct ui *ui, struct surface *s, int x, int y, int end)
{
	enum action out = ui->n_popups ? ACTION_BACK : ACTION_QUIT;
	const enum action *hints = ui_top(ui)->ops->hints;
	bool leads = ui->n_popups ? ui_holds(ui, ui_top(ui), out) : ui->spec.replay != NULL;
	int kept = leads ? hint_width(ui, out) : 0;
	bool over = ui->over && !ui->n_popups && !ui->spec.replay;

	if (over)
		x = draw_over_keys(ui, s, x, y, end);
	for (; hints && *hints != ACTION_NONE; hints++) {
		if (*hints == out)
			kept = 0;
		if (over && *hints == ACTION_QUIT)
			continue;
		if (x + hint_width(ui, *hints) > end - kept)
			break;
		x = draw_hint(ui, s, x, y, *hints);
	}
	if (kept)
		draw_hint(ui, s, x, y, out);
}

/* Returns the part of the message that has no room in the row of the keys, from a word on; "" if
 * all of it has. */
static const char *message_rest(const struct ui *ui, int cols)
{
	const char *at = ui->message, *rest = NULL, *end = at + strlen(at);
	int x = 0;

	if (text_width(at) <= cols)
		return end;
	while (at < end && x <= cols) {
		int32_t cp;

		if (*at == ' ')
			rest = at + 1;
		at += text_decode(at, (size_t)(end - at), &cp);
		x += MAX(0, text_cp_width(cp));
	}
	return rest ? rest : end;
}

static void draw_message(struct surface *s, struct rect r, const char *words)
{
	AUTO_BUF struct buf fit = BUF_INIT;

	text_fit_end(&fit, words, r.w);
	surface_text(s, r.x, r.y, r.w, ROLE_BAR_MESSAGE, fit.data);
}

/* Returns whether the message goes on in the row below the keys. */
static bool says_on(const struct ui *ui, int cols)
{
	return ui->message_until_us > ui->now_us && !ui->prompt.active && !says_below(ui) &&
	       !ui->spec.replay && *message_rest(ui, cols);
}

void bars_draw_hints(struct ui *ui, struct surface *s, struct rect r)
{
	struct view *top = ui_top(ui);
	char help[48];
	bool says = ui->message_until_us > ui->now_us;
	bool asks = ui->spec.model->n_asks > 0 && !(ui->spec.replay && says);
	int x = r.x + 1, help_w;

	surface_fill(s, r, ROLE_BAR);
	ui->n_buttons = 0;
	if (ui->prompt.active) {
		draw_prompt(ui, s, r);
		return;
	}
	if (asks && top->ops->place != PLACE_APPROVALS) {
		draw_alert(ui, s, r);
		add_button(ui, r.x, r.w, ACTION_FOCUS_APPROVALS);
		return;
	}
	if (says && !says_below(ui)) {
		const char *rest = message_rest(ui, r.w - 2);
		AUTO_FREE char *head =
			says_on(ui, r.w - 2)
				? xstrndup(ui->message, (size_t)(rest - ui->message) - 1)
				: xstrdup(ui->message);

		draw_message(s, (struct rect){x, r.y, r.w - 2, 1}, head);
		return;
	}
	ui_keys(ui, top->ops->place, ACTION_HELP, help, sizeof(help));
	help_w = text_width(help) + 6;
	draw_keys(ui, s, x, r.y, r.x + r.w - help_w);
	x = r.x + r.w - help_w;
	add_button(ui, x, help_w, ACTION_HELP);
	x += surface_text(s, x, r.y, help_w, ROLE_BAR_KEY, help) + 1;
	surface_text(s, x, r.y, 4, ROLE_BAR, "help");
}

/* ---- status --------------------------------------------------------------------------------- */

#define SEGMENTS    12
#define PLACE_COLS  28 /* of the folder's path */
#define NAME_COLS   24
#define PROMPT_COLS 14 /* the same, on a narrow row */
#define METER_CELLS 6

struct segment {
	char text[256];
	int role;
	int weight; /* on a narrow row the lowest is dropped first; 0: empty */
};

/* Writes the working folder and branch: "~/project main". */
static void place_segment(struct ui *ui, struct segment *g)
{
	const struct model *m = ui->spec.model;
	const char *folder = m->folder ? m->folder : "", *home = m->home, *branch;
	const char *below = home ? path_below(folder, home) : NULL;
	AUTO_BUF struct buf place = BUF_INIT, fit = BUF_INIT;

	*g = (struct segment){.weight = *folder ? 6 : 0, .role = ROLE_STATUS};
	branch = branch_of(&ui->branch, m->folder, ui->now_us);
	if (below)
		buf_fmt(&place, *below ? "~/" : "~");
	text_escape(&place, below ? below : folder, strlen(below ? below : folder));
	text_fit_middle(&fit, place.data, PLACE_COLS);
	snprintf(g->text, sizeof(g->text), "%s%s%.60s", fit.data, *branch ? " " : "", branch);
}

/* Writes "claude without prompts" if the agent was told not to ask by itself (agent.prompts). */
static void name_segment(const struct ui *ui, struct segment *g)
{
	char name[NAME_COLS];

	*g = (struct segment){.weight = ui->spec.model->command ? 1 : 0, .role = ROLE_STATUS};
	ui_agent(ui, name, sizeof(name));
	snprintf(g->text, sizeof(g->text), "%s%s", name,
		 ui->spec.model->unprompted ? " without prompts" : "");
	g->weight = g->weight && ui->spec.model->unprompted ? 6 : g->weight;
}

/* Writes "━━──── 42%": six cells are one whole core. */
static void meter_segment(const struct ui *ui, bool ascii, struct segment *g)
{
	const struct model *m = ui->spec.model;
	int full = (int)MIN(m->cpu_percent * METER_CELLS / 100 + 0.5, METER_CELLS);
	AUTO_BUF struct buf meter = BUF_INIT;
	char memory[24];

	*g = (struct segment){.weight = m->exited || !m->started ? 0 : 2, .role = ROLE_STATUS};
	for (int i = 0; i < METER_CELLS; i++)
		buf_str(&meter, i < full ? (ascii ? "=" : "━") : ascii ? "-" : "─");
	text_size(memory, sizeof(memory), m->memory);
	snprintf(g->text, sizeof(g->text), "cpu %s %.0f%%  mem %s", meter.data, m->cpu_percent,
		 memory);
}

/* Writes "fix the greeting: 4 steps, 1 undone": the prompt in so many columns, and its own steps.
 * Without a known prompt, counts the steps of the session. */
static void count_steps(const struct model *m, int cols, char *out, size_t size)
{
	const bool said = m->prompt && *m->prompt;
	const struct turn_mark *turn = said && m->n_turns ? &m->turns[m->n_turns - 1] : NULL;
	AUTO_BUF struct buf words = BUF_INIT, fit = BUF_INIT;
	size_t undone = 0, n = 0, used;

	for (size_t i = m->n_steps; i-- > 0;) {
		if (turn && turn_mark_of(m->turns, m->n_turns, m->steps[i].id) != turn)
			break;
		if (m->steps[i].earlier || step_row_is_note(&m->steps[i]))
			continue;
		undone += m->steps[i].undone;
		n += !m->steps[i].undone;
	}
	if (said)
		text_escape(&words, m->prompt, strlen(m->prompt));
	text_fit_end(&fit, words.data, cols);
	used = (size_t)snprintf(out, size, "%.200s%s%zu step%s", fit.data, fit.len ? ": " : "", n,
				n == 1 ? "" : "s");
	if (undone)
		snprintf(out + used, size - used, ", %zu undone", undone);
}

/* Returns the newest running step in which the agent does not only write its own files. */
static const struct step_row *running_work(const struct model *m)
{
	for (size_t i = m->over ? 0 : m->n_steps; i-- > 0;) {
		const struct step_row *st = &m->steps[i];
		const char *deed =
			st->kind == STEP_AMBIENT ? step_deed(st->kind, st->command) : NULL;

		if (st->running && !(deed && str_starts(deed, "edit ~/.")))
			return st;
	}
	return NULL;
}

static void agent_segment(const struct ui *ui, struct segment *g)
{
	const struct model *m = ui->spec.model;
	const struct step_row *step = running_work(m);
	char command[96];

	*g = (struct segment){.weight = 9, .role = ROLE_STATUS};
	if (m->exited && !ui->over) {
		snprintf(g->text, sizeof(g->text), "ending");
	} else if (m->exited) {
		int st = m->wait_status;

		if (WIFSIGNALED(st))
			snprintf(g->text, sizeof(g->text), "x ended by signal %d", WTERMSIG(st));
		else
			snprintf(g->text, sizeof(g->text), "%s ended with %d",
				 WEXITSTATUS(st) ? "x" : "+", WEXITSTATUS(st));
		g->role = st == 0 ? ROLE_STATUS_OK : ROLE_STATUS_ERROR;
	} else if (!m->started) {
		snprintf(g->text, sizeof(g->text), "starting");
	} else if (step) {
		text_escape_into(command, sizeof(command), step->command ? step->command : "",
				 step->command ? strlen(step->command) : 0);
		if (step->kind == STEP_AMBIENT) /* the user knows no number for it */
			snprintf(g->text, sizeof(g->text), "> %.60s",
				 *command ? command : "(background)");
		else
			snprintf(g->text, sizeof(g->text), "step %lld: %.60s", (long long)step->id,
				 command);
		g->role = ROLE_STATUS_OK;
	} else {
		count_steps(m, ui->layout.status.w < 110 ? PROMPT_COLS : 3 * PROMPT_COLS, g->text,
			    sizeof(g->text));
	}
}

/* Writes "? 2 waiting" for answers to cordon, or "? claude asks" in its own terminal. */
static void asks_segment(const struct ui *ui, struct segment *g)
{
	const struct model *m = ui->spec.model;
	bool asks = m->n_asks || (m->agent_asks && !m->exited);
	char name[NAME_COLS];

	*g = (struct segment){.weight = asks ? 10 : 0, .role = ROLE_STATUS_WARN};
	ui_agent(ui, name, sizeof(name));
	if (m->n_asks)
		snprintf(g->text, sizeof(g->text), "? %zu waiting", m->n_asks);
	else
		snprintf(g->text, sizeof(g->text), "? %s asks", name);
}

static size_t status_segments(struct ui *ui, bool ascii, struct segment *g)
{
	const struct model *m = ui->spec.model;
	size_t n = 0;

	asks_segment(ui, &g[n++]);
	place_segment(ui, &g[n++]);
	name_segment(ui, &g[n++]);
	agent_segment(ui, &g[n++]);
	g[n] = (struct segment){.weight = 8, .role = m->network ? ROLE_STATUS_WARN : ROLE_STATUS};
	snprintf(g[n++].text, sizeof(g->text), "network %s",
		 m->network	   ? "OPEN"
		 : m->asks_network ? "asks"
				   : "off");
	g[n] = (struct segment){.weight = *m->secrets ? 7 : 0, .role = ROLE_STATUS_WARN};
	snprintf(g[n++].text, sizeof(g->text), "secrets: %.60s", m->secrets);
	g[n] = (struct segment){.weight = m->decisions.looked ? 7 : 0, .role = ROLE_STATUS_WARN};
	snprintf(g[n++].text, sizeof(g->text), "%llu secret%s looked for",
		 (unsigned long long)m->decisions.looked, m->decisions.looked == 1 ? "" : "s");
	g[n] = (struct segment){.weight = 4, .role = ROLE_STATUS};
	snprintf(g[n++].text, sizeof(g->text), "%s", m->backend);
	g[n] = (struct segment){.weight = *m->tier ? 3 : 0, .role = ROLE_STATUS};
	snprintf(g[n++].text, sizeof(g->text), "%s", m->tier);
	meter_segment(ui, ascii, &g[n++]);
	g[n] = (struct segment){.weight = 5, .role = ROLE_STATUS};
	clock_length(g[n++].text, MAX((int64_t)0, ui->now_us - m->began_us));
	return n;
}

/* Returns the width of the remaining segments, with " | " between. */
static int segments_width(const struct segment *g, size_t n)
{
	int w = 0;

	for (size_t i = 0; i < n; i++) {
		if (g[i].weight > 0)
			w += text_width(g[i].text) + (w ? 3 : 0);
	}
	return w;
}

void bars_draw_status(struct ui *ui, struct surface *s, struct rect r)
{
	struct segment g[SEGMENTS];
	size_t n = status_segments(ui, s->ascii, g);
	bool first = true;
	int x = r.x + 1;

	if (ui->spec.replay) {
		replay_draw_bar(ui, s, r);
		return;
	}
	if (says_on(ui, r.w - 2)) {
		surface_fill(s, r, ROLE_BAR);
		draw_message(s, (struct rect){x, r.y, r.w - 2, 1}, message_rest(ui, r.w - 2));
		return;
	}
	surface_fill(s, r, ROLE_STATUS);
	if (ui->spec.board) {
		surface_text(s, x, r.y, r.w - 2, says_below(ui) ? ROLE_BAR_MESSAGE : ROLE_STATUS,
			     says_below(ui) ? ui->message : "cordon board");
		return;
	}
	if (says_below(ui)) { /* the requests are the first segment, and stay */
		if (g[0].weight)
			x += surface_fmt(s, x, r.y, r.w - 2, g[0].role, "%s  ", g[0].text);
		draw_message(s, (struct rect){x, r.y, r.x + r.w - 1 - x, 1}, ui->message);
		return;
	}
	while (segments_width(g, n) > r.w - 2) {
		size_t least = n, left = 0;

		for (size_t i = 0; i < n; i++) {
			left += g[i].weight > 0;
			if (g[i].weight > 0 && (least == n || g[i].weight < g[least].weight))
				least = i;
		}
		if (left <= 1)
			break;
		g[least].weight = 0;
	}
	for (size_t i = 0; i < n; i++) {
		AUTO_BUF struct buf fit = BUF_INIT;

		if (g[i].weight == 0)
			continue;
		if (!first)
			x += surface_text(s, x, r.y, 3, ROLE_STATUS, s->ascii ? " | " : " │ ");
		first = false;
		text_fit_end(&fit, g[i].text, r.x + r.w - 1 - x);
		x += surface_text(s, x, r.y, r.x + r.w - x, g[i].role, fit.data);
	}
}

void bars_draw_tabs(struct ui *ui, struct surface *s, struct rect r)
{
	static const char *const names[PANE_COUNT] = {"agent", "activity", "steps"};

	surface_fill(s, r, ROLE_TAB);
	for (int p = 0; p < PANE_COUNT; p++) {
		int x = r.x + r.w * p / PANE_COUNT, w = r.x + r.w * (p + 1) / PANE_COUNT - x;
		bool on = (int)ui->focus == p;
		struct rect cell = {x, r.y, w, 1};
		struct style st = surface_role(s, on ? ROLE_TAB_FOCUS : ROLE_TAB);

		surface_fmt(s, x + MAX(0, (w - (int)strlen(names[p]) - 2) / 2), r.y, w, ROLE_TAB,
			    on ? "> %s" : "  %s", names[p]);
		if (on)
			surface_paint(s, cell, &st);
	}
}
