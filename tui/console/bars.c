/* bars - the rows that the agent can never draw on: requests, hints, status, tabs. */
/* SPDX-License-Identifier: MIT */
#include <string.h>
#include <sys/wait.h>

#include "core/base/text.h"
#include "tui/console/replay.h"
#include "tui/console/ui.h"

static void draw_prompt(struct ui *ui, struct surface *s, struct rect r)
{
	const struct prompt *p = &ui->prompt;
	const char *words = p->what == QUERY_TIME     ? "time"
			    : p->what == QUERY_NOTE   ? "why, for the agent"
			    : p->what == QUERY_SEARCH ? "search"
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

/* A message stands where the keys are; where those must be seen, or a request has that row, in the
 * row below, which is the time line of a replay. */
static bool says_below(const struct ui *ui)
{
	bool asks = ui->spec.model->n_asks > 0 || ui_top(ui)->ops->place == PLACE_APPROVALS;

	return ui->message_until_us > ui->now_us && asks && !ui->spec.replay;
}

/* "? ASK 1 of 3  write .git/hooks/x   C-] a to answer": over the whole row, in its own colours. */
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

void bars_draw_hints(struct ui *ui, struct surface *s, struct rect r)
{
	struct view *top = ui_top(ui);
	const enum action *hints = top->ops->hints;
	char keys[48], help[48];
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
		surface_text(s, x, r.y, r.w - 2, ROLE_BAR_MESSAGE, ui->message);
		return;
	}
	ui_keys(ui, top->ops->place, ACTION_HELP, help, sizeof(help));
	help_w = text_width(help) + 6;
	for (; hints && *hints != ACTION_NONE; hints++) {
		int w;

		if (!keymap_keys_of(ui->spec.keymap, top->ops->place, *hints, keys, sizeof(keys)))
			continue;
		w = text_width(keys) + 1 + text_width(action_label(*hints)) + 3;
		if (x + w > r.x + r.w - help_w)
			break;
		add_button(ui, x, w - 2, *hints);
		x += surface_text(s, x, r.y, w, ROLE_BAR_KEY, keys) + 1;
		x += surface_text(s, x, r.y, w, ROLE_BAR, action_label(*hints)) + 3;
	}
	x = r.x + r.w - help_w;
	add_button(ui, x, help_w, ACTION_HELP);
	x += surface_text(s, x, r.y, help_w, ROLE_BAR_KEY, help) + 1;
	surface_text(s, x, r.y, 4, ROLE_BAR, "help");
}

/* ---- status --------------------------------------------------------------------------------- */

struct segment {
	char text[160];
	int role;
	int weight; /* the lightest goes first when the row is narrow; 0: empty */
};

static void elapsed_text(const struct ui *ui, char *out, size_t size)
{
	int64_t s = MAX((int64_t)0, (ui->now_us - ui->spec.model->began_us) / 1000000);

	if (s >= 3600)
		snprintf(out, size, "%d:%02d:%02d", (int)(s / 3600), (int)(s / 60 % 60),
			 (int)(s % 60));
	else
		snprintf(out, size, "%d:%02d", (int)(s / 60), (int)(s % 60));
}

/* "4 steps, 1 undone" */
static void count_steps(const struct model *m, char *out, size_t size)
{
	size_t undone = 0, n;

	for (size_t i = 0; i < m->n_steps; i++)
		undone += m->steps[i].undone;
	n = m->n_steps - undone;
	if (undone)
		snprintf(out, size, "%zu step%s, %zu undone", n, n == 1 ? "" : "s", undone);
	else
		snprintf(out, size, "%zu step%s", n, n == 1 ? "" : "s");
}

static void agent_segment(const struct ui *ui, struct segment *g)
{
	const struct model *m = ui->spec.model;
	const struct step_row *step = NULL;
	char command[96];
	size_t running = model_running(m, &step);

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
	} else if (running > 0 && step) {
		text_escape_into(command, sizeof(command), step->command ? step->command : "",
				 step->command ? strlen(step->command) : 0);
		if (step->kind == STEP_AMBIENT) /* its number is none of the human's */
			snprintf(g->text, sizeof(g->text), "> %.60s",
				 *command ? command : "(background)");
		else
			snprintf(g->text, sizeof(g->text), "step %lld: %.60s", (long long)step->id,
				 command);
		g->role = ROLE_STATUS_OK;
	} else {
		count_steps(m, g->text, sizeof(g->text));
	}
}

static size_t status_segments(struct ui *ui, struct segment *g)
{
	const struct model *m = ui->spec.model;
	char memory[24];
	size_t n = 0;

	agent_segment(ui, &g[n++]);
	g[n] = (struct segment){.weight = 8, .role = m->network ? ROLE_STATUS_WARN : ROLE_STATUS};
	snprintf(g[n++].text, sizeof(g->text), "network %s",
		 m->network	   ? "OPEN"
		 : m->asks_network ? "asks"
				   : "off");
	g[n] = (struct segment){.weight = *m->secrets ? 7 : 0, .role = ROLE_STATUS_WARN};
	snprintf(g[n++].text, sizeof(g->text), "secrets: %.60s", m->secrets);
	g[n] = (struct segment){.weight = m->n_asks ? 10 : 0, .role = ROLE_STATUS_WARN};
	snprintf(g[n++].text, sizeof(g->text), "? %zu waiting", m->n_asks);
	g[n] = (struct segment){.weight = 6, .role = ROLE_STATUS};
	snprintf(g[n++].text, sizeof(g->text), "%s", m->backend);
	g[n] = (struct segment){.weight = *m->tier ? 3 : 0, .role = ROLE_STATUS};
	snprintf(g[n++].text, sizeof(g->text), "%s", m->tier);
	text_size(memory, sizeof(memory), m->memory);
	g[n] = (struct segment){.weight = m->exited || !m->started || ui->spec.attached ? 0 : 4,
				.role = ROLE_STATUS};
	snprintf(g[n++].text, sizeof(g->text), "cpu %.0f%%  mem %s", m->cpu_percent, memory);
	g[n] = (struct segment){.weight = m->decisions.looked ? 2 : 0, .role = ROLE_STATUS_WARN};
	snprintf(g[n++].text, sizeof(g->text), "looked for %llu hidden",
		 (unsigned long long)m->decisions.looked);
	g[n] = (struct segment){.weight = 5, .role = ROLE_STATUS};
	elapsed_text(ui, g[n++].text, sizeof(g->text));
	return n;
}

/* Width of what is left, with " | " between. */
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
	struct segment g[9];
	size_t n = status_segments(ui, g);
	bool first = true;
	int x = r.x + 1;

	if (ui->spec.replay) {
		replay_draw_bar(ui, s, r);
		return;
	}
	surface_fill(s, r, ROLE_STATUS);
	if (says_below(ui)) {
		surface_text(s, x, r.y, r.w - 2, ROLE_BAR_MESSAGE, ui->message);
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
