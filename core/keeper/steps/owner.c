/* owner - finds the command that a change belongs to. */
/* SPDX-License-Identifier: MIT */
#include "core/keeper/steps/owner.h"

#include <string.h>

#include "core/base/path.h"
#include "core/journal/history.h"
#include "core/keeper/procs.h"
#include "core/keeper/state.h"
#include "core/keeper/steps/command.h"
#include "core/keeper/steps/group_members.h"
#include "core/keeper/steps/shell_refs.h"

#define FOLD_US 5000000

/* Returns the slot of the ambient command for changes outside commands: the agent's own edits,
 * processes that a command left running, or processes of unknown origin. */
static struct command **ambient_slot(struct keeper *k, const struct proc *p)
{
	if (p && p->command)
		return &p->command->heir;
	if (p && p->shell)
		return &p->shell->ambient;
	return !p || steps_is_agent(k, p) ? &k->ambient : &k->strays;
}

/* Returns the command of a change by the process that makes it. */
static struct command *by_process(struct keeper *k, const struct proc *p)
{
	struct command *own = p ? p->command : NULL;

	if (k->group && !(p && p->shell) && (!own || own->grouped))
		return k->group;
	return own && !own->over ? own : *ambient_slot(k, p);
}

struct command *steps_command(struct keeper *k, const struct proc *p)
{
	struct command *c = by_process(k, p);

	/* A step that has begun continues. */
	return k->fold && !(p && p->shell) && (!c || !c->step) ? k->fold : c;
}

struct command *owner_fold(struct keeper *k)
{
	struct command *c = command_new(k, STEP_AMBIENT);

	buf_str(&c->label, "commands of five seconds, as the history is full");
	c->folds = c->named = true;
	c->grouped = false;
	c->quiet_at = k->now + FOLD_US;
	k->fold = c;
	return c;
}

void owner_label(struct keeper *k, struct command *c, const struct proc *p, const char *hint)
{
	const char *below = path_below(hint, k->folders[0]->path); /* else relative to home */
	const char *home = getenv("HOME"), *at_home = home ? path_below(hint, home) : NULL;
	AUTO_FREE char *shown = at_home && *at_home ? xasprintf("~/%s", at_home) : NULL;
	bool agent = !p || steps_is_agent(k, p);
	const char *command =
		p && p->command && p->command->label.len ? p->command->label.data : NULL;

	if (below && *below)
		hint = below;
	else if (shown)
		hint = shown;
	if (c->shell)
		buf_str(&c->label, "you");
	else if (agent)
		buf_add(&c->label, k->agent_name.data, k->agent_name.len);
	else
		buf_str(&c->label, "left running");
	c->by_paths = (agent || c->shell) && !command;
	buf_fmt(&c->label, ": %s%s",
		c->by_paths ? "edit "
		: c->shell  ? "left running: "
			    : "",
		command ? command + (c->shell ? strlen(YOURS_MARK) : 0) : hint);
	if (c->label.len > LABEL_MAX)
		buf_truncate(&c->label, LABEL_MAX);
}

struct command *owner_ambient(struct keeper *k, const struct proc *p, const char *hint)
{
	struct command *c = command_new(k, STEP_AMBIENT);

	command_is_of(c, p ? p->shell : NULL);
	owner_label(k, c, p, hint);
	c->slot = ambient_slot(k, p);
	*c->slot = c;
	return c;
}
