/* kill_command - kills every process of a command, including processes without a trapped call. */
/* SPDX-License-Identifier: MIT */
#include "core/keeper/steps/kill_command.h"

#include <dirent.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/keeper/approvals/question.h"
#include "core/keeper/procs.h"
#include "core/keeper/state.h"
#include "core/keeper/steps/command.h"
#include "core/keeper/steps/group_members.h"
#include "core/keeper/steps/steps.h"

/*
 * A process that only forked and writes to inherited descriptors is unknown: none of its calls is
 * trapped. So the command's known processes are stopped first - a stopped process cannot fork, nor
 * die and leave a child of unknown origin - and /proc is read until it shows no further child of
 * theirs. Then all are killed. A guest finds its children itself (guests.h).
 */

#define PASSES 64

/* Returns whether the process belongs to the command: directly, by its group, or as one left
 * running. */
static bool is_of(const struct keeper *k, const struct command *c, const struct proc *p)
{
	const struct command *own = p->command;

	return own && (own == c || (c == k->group && own->grouped && !own->over) ||
		       (own->over && own->heir == c));
}

void ending_add(struct keeper *k, struct command *c, struct proc *p)
{
	if (!p || steps_is_agent(k, p))
		return;
	if (!p->ends) {
		p->ends = c;
		c->guard.dying++;
	}
	proc_signal(p, SIGKILL);
}

/* Returns a process that may belong to the command: a child of its processes, or an orphan inside,
 * whose origin ancestry.c may know. */
static struct proc *may_be(struct keeper *k, const struct command *c, int pid)
{
	int parent = proc_parent(k, pid);
	const struct proc *p = parent > 0 ? proc_known(k, parent) : NULL;

	if (p ? !is_of(k, c, p) : !proc_adopts(k, parent))
		return NULL;
	return proc_get_child(k, pid, parent);
}

static bool find_more(struct keeper *k, const struct command *c)
{
	AUTO_DIR DIR *dir = opendir("/proc");
	const struct dirent *e;
	bool found = false;

	while (dir && (e = readdir(dir))) {
		int pid = (int)strtol(e->d_name, NULL, 10);
		const struct proc *p;

		if (pid <= 0 || proc_known(k, pid))
			continue;
		p = may_be(k, c, pid);
		if (!p || !is_of(k, c, p))
			continue;
		proc_signal(p, SIGSTOP);
		found = true;
	}
	return found;
}

/* Returns the subshell that runs p, if it has no command and has executed no program. */
static struct proc *stray_above(struct keeper *k, const struct proc *p)
{
	struct proc *q = p->command ? NULL : proc_known(k, proc_parent(k, p->self.tid));

	return q && !q->command && !q->execed && !steps_is_agent(k, q) ? q : NULL;
}

/* Kills a stray process and the loops that run it, which would start the next one and ask again. */
static void end_stray(struct keeper *k, struct command *c, struct proc *p)
{
	struct proc *above;

	if (!p || steps_is_agent(k, p))
		return;
	for (above = stray_above(k, p); above; above = stray_above(k, above))
		proc_signal(above, SIGSTOP);
	for (; p; p = above) {
		above = stray_above(k, p);
		ending_add(k, c, p);
	}
}

/* Kills stray processes that made the step's changes: those that wait for the question; without
 * one, the caller of the refused call. */
static void end_strays(struct keeper *k, struct command *c)
{
	const struct question *q = c->guard.asked;

	if (!q && c->guard.doomed)
		end_stray(k, c, proc_known(k, c->guard.pid));
	for (size_t i = 0; q && i < q->n_waiting; i++)
		end_stray(k, c, proc_known(k, q->waiting[i].pid));
}

void ending_begin(struct keeper *k, struct command *c)
{
	struct thread *t;

	if (c == k->whole) {
		/* Kill each known one, too, before it gets an answer to its call. */
		for (t = k->threads; t; t = t->hh.next)
			proc_signal(t->proc, SIGKILL);
		if (k->sandbox)
			k->spec->backend->signal(k->sandbox, SIGKILL);
		return;
	}
	if (c == k->ambient || c == k->strays) {
		end_strays(k, c);
		return;
	}
	for (t = k->threads; t; t = t->hh.next) {
		if (t == &t->proc->self && is_of(k, c, t->proc))
			proc_signal(t->proc, SIGSTOP);
	}
	for (int i = 0; i < PASSES && find_more(k, c); i++)
		continue;
	/* After the others are stopped: a process that waits for the end of a stray would continue
	 * with its next command. */
	end_strays(k, c);
	for (t = k->threads; t; t = t->hh.next) {
		if (t == &t->proc->self && is_of(k, c, t->proc))
			ending_add(k, c, t->proc);
	}
}

void ending_leave(struct keeper *k, struct proc *p)
{
	struct command *c = take_ptr(&p->ends);

	if (!c || --c->guard.dying > 0)
		return;
	if (c->over) /* at the end of the session */
		command_retire(k, c);
	else if (c != k->whole && c->guard.doomed)
		k->hooks->command_doomed(k, c);
}

/* Kills the commands whose steps are open. Their changes are kept as usual. */
void ending_stop(struct keeper *k)
{
	for (struct command *c = k->commands; c; c = c->next) {
		if (!c->step || c->kind == STEP_AMBIENT || c == k->whole || c->guard.doomed)
			continue;
		ending_begin(k, c);
		if (c == k->group)
			steps_ends(k, c);
	}
}
