/* ui - the console without a terminal: panes, popups, focus, and the verbs of keys. */
/* SPDX-License-Identifier: MIT */
#include "tui/console/frame/ui.h"

#include <string.h>
#include <utf8proc.h>

#include "core/base/text.h"
#include "tui/console/replay/moment.h"
#include "tui/console/replay/replay.h"

struct ui *ui_new(const struct ui_spec *spec)
{
	struct ui *ui = xcalloc(1, sizeof(*ui));

	ui->spec = *spec;
	ui->panes[PANE_TERMINAL] = spec->replay ? view_replay_new(ui) : view_terminal_new(ui);
	ui->panes[PANE_AUDIT] = view_audit_new(ui);
	ui->panes[PANE_STEPS] = view_steps_new(ui);
	panes_load(ui);
	if (spec->board)
		ui_push(ui, view_sessions_new(ui));
	ui->dirty = true;
	return ui;
}

void ui_free(struct ui *ui)
{
	if (!ui)
		return;
	ui_export_abandon(ui);
	line_blame_abandon(ui);
	panes_save(ui);
	free(ui->note_ready);
	for (size_t i = 0; i < UI_SAID; i++)
		free(ui->said[i].words);
	for (size_t i = 0; i < UI_SINGLES; i++)
		free(ui->singles[i].dir);
	while (ui->n_popups > 0)
		ui_pop(ui);
	moment_done(ui);
	select_done(ui);
	for (size_t i = 0; i < PANE_COUNT; i++)
		ui_drop(ui->panes[i]);
	clipboard_done(ui);
	free(ui);
}

void ui_drop(struct view *v)
{
	if (v && v->ops->free)
		v->ops->free(v);
	else
		free(v);
}

struct view *ui_top(const struct ui *ui)
{
	return ui->n_popups > 0 ? ui->popups[ui->n_popups - 1] : ui->panes[ui->focus];
}

void ui_push(struct ui *ui, struct view *v)
{
	if (ui->n_popups == UI_POPUPS) {
		ui_drop(v);
		return;
	}
	ui->popups[ui->n_popups++] = v;
	ui->keys.typed.n = 0;
	ui_hush(ui);
	ui->dirty = true;
}

void ui_close(struct ui *ui, struct view *v)
{
	size_t kept = 0;

	for (size_t i = 0; i < ui->n_popups; i++) {
		if (ui->popups[i] != v)
			ui->popups[kept++] = ui->popups[i];
	}
	if (kept == ui->n_popups)
		return;
	ui->n_popups = kept;
	if (ui->prompt.view && ui->prompt.view == v)
		ui->prompt.view = NULL; /* further typed text is still no command */
	ui_drop(v);
	ui->keys.typed.n = 0;
	ui->dirty = true;
}

void ui_pop(struct ui *ui)
{
	if (ui->n_popups > 0)
		ui_close(ui, ui->popups[ui->n_popups - 1]);
}

void ui_swallow(struct ui *ui)
{
	ui->swallows = true;
	ui->gone_us = 0;
}

void ui_vanish(struct ui *ui, struct view *v)
{
	if (ui_top(ui) == v)
		ui_swallow(ui);
	ui_close(ui, v);
}

bool ui_armed(struct ui *ui, int64_t shown_us)
{
	int64_t since = MAX(shown_us, ui->input_us);

	if (ui->now_us - since >= UI_ARM_US)
		return true;
	if (!ui->wake_us || since + UI_ARM_US < ui->wake_us)
		ui->wake_us = since + UI_ARM_US;
	return false;
}

/* ---- size ----------------------------------------------------------------------------------- */

void ui_relayout(struct ui *ui, int w, int h)
{
	ui->layout = layout_compute(w, h, ui->focus, ui->zoom, &ui->wish);
	ui->dirty = true;
}

struct rect ui_agent_pane(const struct ui *ui)
{
	const struct layout *now = &ui->layout;
	int h = now->body.h + (now->mode == LAYOUT_TOO_SMALL ? 0 : 2);
	struct layout_wish shown = ui->wish;
	struct layout l;

	shown.hidden &= ~(1u << PANE_TERMINAL);
	l = layout_compute(now->body.w, h, PANE_TERMINAL, ui->zoom && ui->focus == PANE_TERMINAL,
			   &shown);
	return l.pane[PANE_TERMINAL].w ? l.pane[PANE_TERMINAL] : l.body;
}

struct rect ui_resize(struct ui *ui, int w, int h)
{
	struct rect was = ui->layout.body;

	ui->wish = layouts_get(&ui->layouts, w, h);
	ui_relayout(ui, w, h);
	if (ui->layout.body.w != was.w || ui->layout.body.h != was.h)
		select_end(ui);
	return ui_agent_pane(ui);
}

void ui_focus(struct ui *ui, enum pane p)
{
	const struct layout *l = &ui->layout;

	ui->focus = p;
	ui->keys.typed.n = 0;
	panes_show(ui, p);
	ui_relayout(ui, l->body.w, l->mode == LAYOUT_TOO_SMALL ? l->body.h : l->body.h + 2);
}

/* ---- input ---------------------------------------------------------------------------------- */

static void prompt_tell(struct ui *ui, const char *text)
{
	struct prompt *p = &ui->prompt;

	if (p->view && p->what != QUERY_COMMENT)
		p->view->ops->query(p->view, p->what, text);
}

static void prompt_end(struct ui *ui, bool keep)
{
	ui->prompt.active = false;
	if (ui->prompt.what == QUERY_NOTE)
		note_typed(ui, keep ? ui->prompt.text : "");
	else if (ui->prompt.what == QUERY_COMMENT)
		ui->prompt.view->ops->query(ui->prompt.view, QUERY_COMMENT,
					    keep ? ui->prompt.text : "");
	else if (!keep)
		prompt_tell(ui, "");
	else if (ui->prompt.view && ui->prompt.view->ops->place == PLACE_REPLAY)
		replay_prompt(ui, ui->prompt.what, ui->prompt.text);
}

static void prompt_add(struct ui *ui, const char *text, size_t len)
{
	struct prompt *p = &ui->prompt;
	char safe[PROMPT_TEXT];
	size_t used = strlen(p->text);

	text_escape_into(safe, sizeof(safe), text, len);
	if (used + strlen(safe) < sizeof(p->text))
		memcpy(p->text + used, safe, strlen(safe) + 1);
	prompt_tell(ui, p->text);
}

static void prompt_key(struct ui *ui, const struct key *k)
{
	struct prompt *p = &ui->prompt;
	size_t len = strlen(p->text);

	if (k->sym == SYM_ESC || (k->sym == 'c' && k->mods == MOD_CTRL)) {
		prompt_end(ui, false);
	} else if (k->sym == SYM_ENTER) {
		prompt_end(ui, true);
	} else if (k->sym == SYM_BACKSPACE || (k->sym == 'h' && k->mods == MOD_CTRL)) {
		while (len > 0 && ((unsigned char)p->text[len - 1] & 0xc0) == 0x80)
			len--;
		p->text[len ? len - 1 : 0] = '\0';
		prompt_tell(ui, p->text);
	} else if (k->sym == 'u' && k->mods == MOD_CTRL) {
		p->text[0] = '\0';
		prompt_tell(ui, p->text);
	} else if (k->mods == 0 && k->sym >= ' ' && k->sym < 0x110000) {
		utf8proc_uint8_t utf8[4];
		utf8proc_ssize_t n = utf8proc_encode_char((utf8proc_int32_t)k->sym, utf8);

		prompt_add(ui, (const char *)utf8, (size_t)MAX(n, 0));
	}
}

static bool terminal_has_keys(const struct ui *ui)
{
	return ui->n_popups == 0 && ui->focus == PANE_TERMINAL &&
	       ui_top(ui)->ops->place == PLACE_TERMINAL;
}

/* Returns whether the text since the last Enter is a line. A lone digit, y or n is an answer to the
 * agent's own question. */
static bool is_line(const struct ui *ui)
{
	const struct sent *s = &ui->sent;

	return s->pasted || s->chars > s->answers || s->answers > 2;
}

/* Counts the user's lines to the agent: each may be a prompt. Arrows, Tab and Enter alone only
 * select in the agent's menus. */
static void count_line(struct ui *ui, const struct event *ev)
{
	static const char answers[] = "0123456789yYnN";
	struct sent *s = &ui->sent;
	const struct key *k = &ev->key;
	bool plain = !(k->mods & ~(uint32_t)MOD_SHIFT);

	if (ev->type == EVENT_PASTE) {
		s->pasted |= ev->paste.len > 0;
	} else if (ev->type == EVENT_KEY && k->sym == SYM_ENTER && !k->mods) {
		if (is_line(ui) && ui->spec.verbs->turn)
			ui->spec.verbs->turn(ui->spec.data);
		*s = (struct sent){0};
	} else if (ev->type == EVENT_KEY && k->mods == MOD_CTRL &&
		   (k->sym == 'c' || k->sym == 'u')) {
		*s = (struct sent){0};
	} else if (ev->type == EVENT_KEY && plain && k->sym > ' ' && k->sym < 0x110000) {
		s->chars++;
		s->answers += k->sym < 0x80 && strchr(answers, (int)k->sym) != NULL;
	}
}

/* Returns whether the event may answer a question: text, Enter and Esc do; arrows and Tab only
 * move. */
static bool may_answer(const struct event *ev)
{
	return ev->type == EVENT_PASTE ||
	       (ev->type == EVENT_KEY && ev->key.sym < SYM_UP && ev->key.sym != SYM_TAB);
}

static void to_agent(struct ui *ui, const struct event *ev)
{
	if (ui->spec.read_only) {
		if (ev->type != EVENT_FOCUS)
			ui_say(ui, "You look on: nothing goes to the agent (attach --read-only).");
		return;
	}
	if (ui->spec.headless) {
		if (ev->type != EVENT_FOCUS)
			ui_say(ui, "No key goes to the agent: its terminal is not here.");
		return;
	}
	count_line(ui, ev);
	if (ui->spec.model->agent_asks && may_answer(ev) && ui->spec.verbs->answered)
		ui->spec.verbs->answered(ui->spec.data);
	if (ui->spec.term)
		term_input(ui->spec.term, ev, ui->layout.pane[PANE_TERMINAL]);
}

/* Returns whether a key or a paste was meant for a dialog that has gone. Who begins a sequence of
 * cordon's has seen that. */
static bool is_swallowed(struct ui *ui, const struct event *ev)
{
	const struct key *prefix = &ui->spec.keymap->prefix;
	bool begins =
		ev->type == EVENT_KEY && ev->key.sym == prefix->sym && ev->key.mods == prefix->mods;

	if (!ui->swallows || ui->prompt.active)
		return false;
	if (begins || (ui->gone_us && ui_armed(ui, ui->gone_us))) {
		ui->swallows = false;
		return false;
	}
	ui_say(ui, "The question has gone: that key did nothing. Keys count after a pause.");
	return true;
}

static void on_key(struct ui *ui, const struct event *ev);

/* Handles Alt-key as Esc and key: quick typing looks like Alt, which has no meaning in a prompt. */
static void apart(struct ui *ui, const struct key *k)
{
	struct event esc = {.type = EVENT_KEY, .key = {SYM_ESC, 0}};
	struct event rest = {.type = EVENT_KEY, .key = {k->sym, k->mods & ~(uint32_t)MOD_ALT}};

	on_key(ui, &esc);
	on_key(ui, &rest);
}

static void on_key(struct ui *ui, const struct event *ev)
{
	struct view *top = ui_top(ui);
	bool sequence = ui->keys.typed.n > 0;
	enum action a = ACTION_NONE;
	char keys[64];

	if (ui->prompt.active && ev->key.mods & MOD_ALT) {
		apart(ui, &ev->key);
		return;
	}
	if (ui->prompt.active) {
		prompt_key(ui, &ev->key);
		return;
	}
	if (!sequence && select_key(ui, &ev->key))
		return;
	if (top->ops->key && !sequence && top->ops->key(top, &ev->key))
		return;
	/* The keys of a replay come before those of its panes. */
	if (ui->spec.replay && ui->n_popups == 0 && !sequence)
		a = keymap_single(ui->spec.keymap, PLACE_REPLAY, ev->key);
	if (a != ACTION_NONE) {
		ui_global(ui, a);
		return;
	}
	switch (keymap_feed(ui->spec.keymap, &ui->keys, top->ops->place, ev->key, &a)) {
	case KEYMAP_PENDING:
		break;
	case KEYMAP_NONE:
		if (terminal_has_keys(ui) && !sequence) {
			to_agent(ui, ev);
		} else if (ev->key.mods & MOD_ALT && !sequence) {
			apart(ui, &ev->key);
		} else if (sequence) {
			struct keys one = {.n = 1, .key = {ev->key}};

			keys_format(&one, keys, sizeof(keys));
			ui_say(ui, "No key sequence here ends in %s.", keys);
		}
		break;
	case KEYMAP_FOUND:
		if (a == ACTION_SEND_PREFIX)
			to_agent(ui, ev);
		else
			ui_do(ui, a);
		break;
	}
}

/* Handles a key in a window without room for a view. A question that is not visible cannot be
 * answered, but the agent can be left. */
static void small_key(struct ui *ui, const struct event *ev)
{
	bool sequence = ui->keys.typed.n > 0;
	enum action a = ACTION_NONE;

	if (keymap_feed(ui->spec.keymap, &ui->keys, PLACE_GLOBAL, ev->key, &a) == KEYMAP_FOUND &&
	    sequence && a == ACTION_QUIT)
		ui_do(ui, a);
}

void ui_event(struct ui *ui, const struct event *ev, int64_t now_us)
{
	ui->now_us = now_us;
	ui->dirty = true;
	if (ui->layout.mode == LAYOUT_TOO_SMALL && !terminal_has_keys(ui) &&
	    ui_top(ui)->ops->place != PLACE_LEAVE) {
		if (ev->type == EVENT_KEY && !ui->prompt.active)
			small_key(ui, ev);
		return;
	}
	switch (ev->type) {
	case EVENT_KEY:
		if (!is_swallowed(ui, ev))
			on_key(ui, ev);
		ui->input_us = now_us;
		break;
	case EVENT_PASTE: /* text for the agent or a prompt, never keys */
		if (ui->prompt.active)
			prompt_add(ui, ev->paste.data, ev->paste.len);
		else if (terminal_has_keys(ui) && ui->keys.typed.n == 0 && !is_swallowed(ui, ev))
			to_agent(ui, ev);
		ui->input_us = now_us;
		break;
	case EVENT_MOUSE:
		ui_mouse(ui, &ev->mouse);
		break;
	case EVENT_FOCUS:
		to_agent(ui, ev);
		break;
	case EVENT_COLOR: /* for the console */
		break;
	}
}

void ui_set_keymap(struct ui *ui, const struct keymap *km)
{
	ui->spec.keymap = km;
	ui->keys.typed.n = 0;
	for (size_t i = ui->n_popups; i > 0; i--) /* they show keys of the old keymap */
		if (ui->popups[i - 1]->ops->place == PLACE_HELP ||
		    ui->popups[i - 1]->ops->place == PLACE_PALETTE)
			ui_close(ui, ui->popups[i - 1]);
	ui->dirty = true;
}

/* Reports after each turn how many files it changed, without asking for anything. */
static void offer_review(struct ui *ui)
{
	const struct model *m = ui->spec.model;
	size_t files;
	int64_t newest;
	char keys[48];

	if (!m->rests || ui->n_popups || ui->spec.read_only || ui->spec.replay ||
	    !ui->spec.verbs->review)
		return;
	files = view_steps_turn(ui->panes[PANE_STEPS], &newest);
	if (!files || newest <= ui->offered)
		return;
	ui->offered = newest;
	ui_keys(ui, PLACE_TERMINAL, ACTION_SHOW_REVIEW, keys, sizeof(keys));
	ui_say(ui, "Turn %llu: %zu file%s; %s reviews %s.", (unsigned long long)m->prompts, files,
	       files == 1 ? "" : "s", keys, files == 1 ? "it" : "them");
}

void ui_changed(struct ui *ui)
{
	const struct model *m = ui->spec.model;

	for (size_t i = 0; i < PANE_COUNT; i++) {
		if (ui->panes[i]->ops->changed)
			ui->panes[i]->ops->changed(ui->panes[i]);
	}
	for (size_t i = ui->n_popups; i > 0; i--) { /* a popup may close only itself */
		if (i <= ui->n_popups && ui->popups[i - 1]->ops->changed)
			ui->popups[i - 1]->ops->changed(ui->popups[i - 1]);
	}
	if (m->n_asks > 0 && m->asks[m->n_asks - 1].id > ui->ask_seen) {
		ui->ask_seen = m->asks[m->n_asks - 1].id;
		ui->spec.verbs->alert(ui->spec.data);
	}
	if (m->n_stopped != ui->stopped_seen) {
		AUTO_BUF struct buf words = BUF_INIT;

		ui->stopped_seen = m->n_stopped;
		text_escape(&words, m->stopped, strlen(m->stopped));
		ui_say(ui, "x %s", words.data);
	}
	offer_review(ui);
	ui->dirty = true;
}

void ui_tick(struct ui *ui)
{
	for (size_t i = 0; i < ui->n_popups; i++)
		if (ui->popups[i]->ops->tick)
			ui->popups[i]->ops->tick(ui->popups[i]);
}
