/* clipboard - asks the user before the agent's text goes to the clipboard. */
/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "core/base/path.h"
#include "core/base/text.h"
#include "tui/console/frame/ui.h"

/*
 * The row of messages shows the request, and a key with the prefix allows it: the view and the
 * focus do not change. Only the text that was shown is copied: while a request waits, others are
 * dropped, so that the text cannot be exchanged before the key is pressed. The key counts after
 * half a second, as an answer does.
 */

#define WAIT_US	  30000000
#define SHOWN_MAX 40 /* columns of the shown text */

/* Counts characters, if the text is UTF-8. */
static size_t count(const char *text, size_t len)
{
	size_t n = 0;

	for (size_t i = 0; i < len; i++)
		n += ((unsigned char)text[i] & 0xc0) != 0x80;
	return n;
}

static void drop(struct ui *ui)
{
	free(ui->clip.text);
	ui->clip = (struct clip){0};
}

void clipboard_request(struct ui *ui, const char *text, size_t len, int64_t now_us)
{
	const char *command = ui->spec.model->command ? ui->spec.model->command : "the agent";
	AUTO_FREE char *program = xstrndup(command, strcspn(command, " "));
	AUTO_BUF struct buf safe = BUF_INIT, fit = BUF_INIT, who = BUF_INIT;
	size_t chars = count(text, len);
	char keys[48];

	ui->now_us = now_us;
	if (ui->clip.text && ui->now_us < ui->clip.until_us)
		return;
	drop(ui);
	ui->clip = (struct clip){.text = xmalloc(len + 1), .len = len};
	memcpy(ui->clip.text, text, len);
	ui->clip.shown_us = ui->now_us;
	ui->clip.until_us = ui->now_us + WAIT_US;
	text_escape(&who, path_base(program), strlen(path_base(program)));
	text_escape(&safe, text, MIN(len, (size_t)4 * SHOWN_MAX));
	text_fit_end(&fit, safe.data, SHOWN_MAX);
	ui_keys(ui, PLACE_GLOBAL, ACTION_CLIPBOARD, keys, sizeof(keys));
	ui_say(ui, "%s wants to put %zu character%s into your clipboard (%s lets it): \"%s\"",
	       who.data, chars, chars == 1 ? "" : "s", keys, fit.data);
	ui->message_until_us = ui->clip.until_us;
}

void clipboard_allow(struct ui *ui)
{
	if (!ui->clip.text || ui->now_us >= ui->clip.until_us)
		ui_say(ui, "Nothing asks for your clipboard.");
	else if (ui->now_us - ui->clip.shown_us < UI_ARM_US)
		return;
	else
		ui_copy(ui, ui->clip.text, ui->clip.len);
	drop(ui);
}

void clipboard_done(struct ui *ui)
{
	drop(ui);
}
