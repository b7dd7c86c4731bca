/* note - text from the user to the agent: typed in the dialog of a denial, or cordon's notices;
 * pasted by a key. */
/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "core/base/text.h"
#include "core/session/answers/answers.h"
#include "tui/console/frame/ui.h"
#include "tui/term/term.h"

/* The denied call returns an errno, which explains nothing to the agent. So the note is text for
 * its prompt: "Denied: write src/x. use the other file". It is pasted only when the user presses
 * the key, while the agent waits for input; Enter is left to the user. */
static void ask_for(struct ui *ui)
{
	ui->prompt = (struct prompt){.active = true, .what = QUERY_NOTE};
	ui->dirty = true;
}

void note_typed(struct ui *ui, const char *text)
{
	char keys[48];

	if (ui_top(ui)->ops->place != PLACE_APPROVALS) { /* its question has gone meanwhile */
		ui_swallow(ui);
		text = "";
	}
	snprintf(ui->note, sizeof(ui->note), "%s", text);
	ui_keys(ui, PLACE_APPROVALS, ACTION_DENY, keys, sizeof(keys));
	if (*text)
		ui_say(ui, "%s denies, and keeps the note for the agent.", keys);
}

void note_denied(struct ui *ui, const struct ask *ask)
{
	AUTO_BUF struct buf b = BUF_INIT;
	const char *path = ask ? ui_path(ui, ask->path) : NULL;
	char op[32];

	if (!*ui->note || !ask)
		return;
	ui_wish(ask, op, sizeof(op));
	buf_fmt(&b, "Denied: %s ", op);
	text_escape(&b, path, strlen(path));
	buf_fmt(&b, ". %s", ui->note);
	free(ui->note_ready);
	ui->note_ready = buf_take(&b);
	ui->note[0] = '\0';
}

bool note_can_paste(struct ui *ui)
{
	if (ui->spec.term && !ui->spec.headless && !ui->spec.replay && !ui->spec.model->exited)
		return true;
	ui_say(ui, "The agent's terminal is not here.");
	return false;
}

/* Pastes the text into the agent's prompt; an agent can distinguish a paste from keys. */
void note_paste(struct ui *ui, const char *text)
{
	struct event ev = {.type = EVENT_PASTE, .paste_begins = true, .paste_ends = true};

	if (ui->spec.read_only)
		return;
	while (ui->n_popups > 0)
		ui_pop(ui);
	ui_focus(ui, PANE_TERMINAL);
	ev.paste = (struct span){text, strlen(text)};
	term_input(ui->spec.term, &ev, ui->layout.pane[PANE_TERMINAL]);
}

/* Pastes the note about a denial, else the news for the agent. */
static void paste(struct ui *ui)
{
	const struct model *m = ui->spec.model;
	AUTO_FREE char *text = NULL;

	if (!ui->note_ready && !(m->notices && ui->spec.verbs->notices)) {
		ui_say(ui, "There is nothing to tell the agent: w in the dialog of a request "
			   "writes a note.");
		return;
	}
	if (!note_can_paste(ui))
		return;
	text = ui->note_ready ? take_ptr(&ui->note_ready) : ui->spec.verbs->notices(ui->spec.data);
	if (text)
		note_paste(ui, text);
}

void note_offer(struct ui *ui)
{
	const struct model *m = ui->spec.model;
	char keys[48];

	if (!ui->spec.agent || m->noticed == ui->noticed)
		return;
	ui->noticed = m->noticed;
	/* An agent's hook that announced a prompt or a question fetches the notices. */
	if (!m->n_notices || m->hook_listens || m->hook_asks || (m->prompt && *m->prompt))
		return;
	ui_keys(ui, PLACE_TERMINAL, ACTION_PASTE_NOTE, keys, sizeof(keys));
	if (*keys && strlen(ui->message) + strlen(keys) + 20 < sizeof(ui->message))
		snprintf(ui->message + strlen(ui->message),
			 sizeof(ui->message) - strlen(ui->message), " %s tells the agent.", keys);
}

bool note_act(struct ui *ui, enum action a)
{
	if (a == ACTION_NOTE)
		ask_for(ui);
	else if (a == ACTION_PASTE_NOTE)
		paste(ui);
	return a == ACTION_NOTE || a == ACTION_PASTE_NOTE;
}
