/* command - a command as the user sees it: its processes, its label, and its step. */
/* SPDX-License-Identifier: MIT */
#include "core/keeper/steps/command.h"

#include <utlist.h>

#include "core/base/clock.h"
#include "core/keeper/state.h"
#include "core/keeper/steps/shell_refs.h"

struct command *command_new(struct keeper *k, enum step_kind kind)
{
	struct command *c = xcalloc(1, sizeof(*c));

	c->kind = kind;
	c->label = (struct buf)BUF_INIT;
	c->began_us = clock_wall_us();
	c->boot_us = clock_boot_us();
	c->exit_status = -1;
	c->last_at = k->now;
	c->grouped = k->group;
	DL_APPEND(k->commands, c);
	return c;
}

void command_is_of(struct command *c, struct shell *sh)
{
	if (!sh)
		return;
	c->shell = shell_ref(sh);
	c->grouped = false;
}

void command_free(struct keeper *k, struct command *c)
{
	while (c->words) {
		struct word *w = c->words;

		c->words = w->next;
		buf_done(&w->text);
		free(w);
	}
	k->hooks->command_freed(k, c);
	DL_DELETE(k->commands, c);
	buf_done(&c->label);
	shell_unref(&c->shell);
	free(c);
}

/* Ends the group. Commands that began in it and still run continue in steps of their own. */
static void ungroup(struct keeper *k)
{
	k->group = NULL;
	for (struct command *c = k->commands; c; c = c->next)
		c->grouped = false;
}

void command_retire(struct keeper *k, struct command *c)
{
	c->over = true;
	c->quiet_at = 0;
	if (c->slot)
		*c->slot = NULL;
	c->slot = NULL;
	if (c == k->group)
		ungroup(k);
	if (c == k->fold)
		k->fold = NULL;
	if (c->refs || c->guard.dying || c == k->whole)
		return;
	if (c->heir)
		c->heir->slot = NULL;
	command_free(k, c);
}
