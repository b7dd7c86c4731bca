/* note - what the human tells the agent about a denial: typed in the dialog, pasted by a key. */
/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "core/base/text.h"
#include "core/session/answers.h"
#include "tui/console/ui.h"
#include "tui/term/term.h"

/*
 * The agent cannot be told by the denied call: that has its errno. So the note is text for its
 * prompt: "Denied: write src/x. use the other file". It is pasted when the human presses the key,
 * which is when the agent waits for them, and never by itself; nor is it sent: Enter is theirs.
 */
static void ask_for(struct ui *ui)
{
	ui->prompt = (struct prompt){.active = true, .what = QUERY_NOTE};
	ui->dirty = true;
}

void note_typed(struct ui *ui, const char *text)
{
	char keys[48];

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

/* As a paste: what an agent that asks for those can tell from keys. */
static void paste(struct ui *ui)
{
	struct event ev = {.type = EVENT_PASTE, .paste_begins = true, .paste_ends = true};

	if (!ui->note_ready) {
		ui_say(ui, "There is no note: w in the dialog of a request writes one.");
		return;
	}
	if (!ui->spec.term || ui->spec.attached || ui->spec.model->exited) {
		ui_say(ui, "The agent's terminal is not here.");
		return;
	}
	while (ui->n_popups > 0)
		ui_pop(ui);
	ui_focus(ui, PANE_TERMINAL);
	ev.paste = (struct span){ui->note_ready, strlen(ui->note_ready)};
	term_input(ui->spec.term, &ev, ui->layout.pane[PANE_TERMINAL]);
	free(ui->note_ready);
	ui->note_ready = NULL;
}

bool note_act(struct ui *ui, enum action a)
{
	if (a == ACTION_NOTE)
		ask_for(ui);
	else if (a == ACTION_PASTE_NOTE)
		paste(ui);
	return a == ACTION_NOTE || a == ACTION_PASTE_NOTE;
}
