/* ui_words - messages of the bar, and the form of keys and paths in views. */
/* SPDX-License-Identifier: MIT */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/base/path.h"
#include "core/base/text.h"
#include "core/diff/edited.h"
#include "tui/console/frame/ui.h"

#define MESSAGE_US 6000000

void ui_say(struct ui *ui, const char *fmt, ...)
{
	struct said *said;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(ui->message, sizeof(ui->message), fmt, ap);
	va_end(ap);
	ui->message_until_us = ui->now_us + MESSAGE_US;
	said = &ui->said[ui->n_said++ % UI_SAID];
	free(said->words);
	*said = (struct said){ui->now_us, xstrdup(ui->message)};
	ui->dirty = true;
}

void ui_hush(struct ui *ui)
{
	if (ui->message_until_us < ui->now_us + MESSAGE_US)
		ui->message_until_us = ui->now_us;
}

bool ui_copy(struct ui *ui, const char *text, size_t len)
{
	struct err err = {0};

	if (!ui->spec.verbs->copy) {
		ui_say(ui, "There is nothing here to copy to.");
		return false;
	}
	if (ui->spec.verbs->copy(ui->spec.data, text, len, &err) < 0) {
		ui_say(ui, "%s", err.text);
		return false;
	}
	ui_say(ui, "Copied %zu byte%s.", len, len == 1 ? "" : "s");
	return true;
}

const char *ui_keys(struct ui *ui, enum place place, enum action a, char *out, size_t size)
{
	return keymap_keys_of(ui->spec.keymap, place, a, out, size) ? out : "unbound";
}

void ui_agent(const struct ui *ui, char *out, size_t size)
{
	const char *command = ui->spec.model->command ? ui->spec.model->command : "";
	AUTO_FREE char *program = xstrndup(command, strcspn(command, " "));
	const char *name = path_base(program);

	text_escape_into(out, size, *name ? name : "The agent", strlen(*name ? name : "The agent"));
}

const char *ui_path(struct ui *ui, const char *path)
{
	const char *below = ui->spec.folder && path ? path_below(path, ui->spec.folder) : NULL;

	return below && *below ? below : ui_home_path(ui, path);
}

const char *ui_edited(struct ui *ui, const char *path)
{
	AUTO_FREE char *shown = xstrdup(ui_path(ui, path));

	return edited_git_name(shown, ui->path, sizeof(ui->path)) ? ui->path : ui_path(ui, path);
}

const char *ui_home_path(struct ui *ui, const char *path)
{
	const char *home = ui->spec.model->home ? ui->spec.model->home : getenv("HOME");
	const char *below = home && path ? path_below(path, home) : NULL;

	if (!below)
		return path ? path : "";
	snprintf(ui->path, sizeof(ui->path), *below ? "~/%s" : "~", below);
	return ui->path;
}

char *ui_escaped(const char *raw)
{
	struct buf b = BUF_INIT;

	text_escape(&b, raw ? raw : "", raw ? strlen(raw) : 0);
	return buf_take(&b);
}

/* Returns a program's name; packages for several systems call it "claude.exe" on Linux, too. */
static char *program_name(const char *program)
{
	const char *base = path_base(program ? program : "");
	size_t len = strlen(base);
	AUTO_FREE char *name = xstrndup(base, len > 4 && str_ends(base, ".exe") ? len - 4 : len);

	return ui_escaped(*name ? name : "a program");
}

/* Returns " own settings" for ("claude's own settings", "claude"), else NULL. */
static const char *its_own(const char *what, const char *who)
{
	size_t len = strlen(who);

	return str_starts(what, who) && str_starts(what + len, "'s own ") ? what + len + 2 : NULL;
}

char *ui_headline(struct ui *ui, const struct ask *ask)
{
	bool bundle = ask->bundle && *ask->bundle;
	AUTO_FREE char *who = program_name(ask->program);
	AUTO_FREE char *what = ui_escaped(bundle ? ask->bundle : ui_path(ui, ask->path));
	const char *own = its_own(what, who);
	char op[32], agent[32];

	ui_wish(ask, op, sizeof(op));
	ui_agent(ui, agent, sizeof(agent));
	if (bundle && !str_eq(who, agent)) /* a tool works for the agent: "claude (mv)" */
		return xasprintf("%s (%s) wants to save %s", agent, who, what);
	if (bundle && own)
		return xasprintf("%s wants to save its%s", who, own);
	return xasprintf("%s wants to %s %s", who, bundle ? "save" : op, what);
}
