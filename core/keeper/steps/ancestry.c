/* ancestry - finds the command of a process, the name of the command, and the agent. */
/* SPDX-License-Identifier: MIT */
#include "core/keeper/steps/ancestry.h"

#include <stdlib.h>
#include <unistd.h>

#include "core/base/path.h"
#include "core/journal/history.h"
#include "core/keeper/procs.h"
#include "core/keeper/state.h"
#include "core/keeper/steps/command.h"
#include "core/keeper/steps/group.h"
#include "core/keeper/steps/label.h"
#include "core/keeper/steps/group_members.h"
#include "core/keeper/steps/shell_refs.h"
#include "core/keeper/steps/steps.h"

/*
 * A command is a child of the agent, with its descendants; children that share a process group of
 * their own (a job of a shell: a pipeline) are one command. The agent is the program that was
 * started, or the program that a wrapper starts: `npx claude`, `sh -c claude`. If the agent is a
 * script that starts itself as a program, that program is the agent.
 *
 * A command's step begins with its first change, and ends after its last process and a quiet
 * moment. The agent's own edits, processes that a command left running, and processes of unknown
 * origin have ambient steps. An undo asks before it stops running commands (kill_command.c).
 * `cordon step` groups several commands (group.c): a request is an open for writing of
 * /run/cordon/step/begin/NAME, a path that does not exist. The door knows the caller, because this
 * is a trapped call, and returns a descriptor from which the answer, one line, is read: no socket,
 * no client state.
 */

#define ANCESTORS_MAX 256
#define PIDS_APART    16000
#define TICK_US	      10000 /* clock tick of the times in /proc */

static void join(struct proc *p, struct command *c)
{
	p->command = c;
	c->refs++;
}

static struct command *pipeline_of(struct keeper *k, int group, const struct shell *sh)
{
	struct command *c;

	for (c = k->commands; c; c = c->next) {
		if (!c->over && c->group && c->group == group && c->shell == sh)
			return c;
	}
	return NULL;
}

static void join_as_child(struct keeper *k, struct proc *p)
{
	int parent = p->shell ? p->shell->pid : k->agent_pid;
	bool own_group = p->group > 0 && p->group != proc_group(k, parent);
	struct command *c = own_group ? pipeline_of(k, p->group, p->shell) : NULL;

	if (!c) {
		c = command_new(k, STEP_COMMAND);
		command_is_of(c, p->shell);
		c->group = own_group ? p->group : 0;
	}
	join(p, c);
	p->direct = true;
	c->direct++;
	c->pid = p->self.tid;
	c->quiet_at = 0;
}

/*
 * Compares two pids by the order of forks. Pids wrap at pid_max, 32768 at least, and pids of one
 * pipeline, or of forks at about the same time, are never so far apart.
 */
static bool forked_before(int pid, int other)
{
	return abs(other - pid) < PIDS_APART ? pid < other : pid > other;
}

/* Returns whether the command began before p. started, p's start, may be a tick late: within a tick
 * the pids decide. */
static bool began_before(const struct command *c, const struct proc *p, int64_t started)
{
	if (c->boot_us <= started - TICK_US)
		return true;
	return c->boot_us <= started && forked_before(c->group ? c->group : c->pid, p->self.tid);
}

/* Returns the command that may have started p, if it is the only one. running: of those that run,
 * else of those that have ended. */
static struct command *only_command(struct keeper *k, const struct proc *p, int64_t started,
				    bool running)
{
	struct command *only = NULL;

	for (struct command *c = k->commands; c; c = c->next) {
		if (c->over || c->whole || c->kind == STEP_AMBIENT || c->shell != p->shell ||
		    (c->direct > 0) != running || !began_before(c, p, started))
			continue;
		if (only)
			return NULL;
		only = c;
	}
	return only;
}

static struct command *likely_command(struct keeper *k, const struct proc *p)
{
	int64_t started = proc_started_us(p);
	struct command *c = only_command(k, p, started, false);

	return c ? c : only_command(k, p, started, true);
}

/*
 * Finds the command of a process whose parent ended before it was seen, such as a daemon. Its
 * process group may tell. Otherwise a command that has just ended is more likely than a running
 * one.
 */
static struct command *orphan_command(struct keeper *k, const struct proc *p)
{
	struct command *c = NULL;
	struct thread *t;

	if (p->group <= 0 || p->group == proc_group(k, k->agent_pid))
		return likely_command(k, p);
	for (t = k->threads; t && !c; t = t->hh.next) {
		const struct proc *q = t->proc;

		if (q != p && q->command && !q->command->over && q->group == p->group &&
		    q->shell == p->shell)
			c = q->command;
	}
	if (!c)
		c = pipeline_of(k, p->group, p->shell);
	return c ? c : likely_command(k, p);
}

/* Returns the number of these ancestors below the first one that adopts orphans. */
static size_t below_adopter(const struct keeper *k, const int *pids, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (pids[i] == getpid() || proc_adopts(k, pids[i]))
			return i;
	}
	return 0;
}

/*
 * Returns the command that p inherits. A subshell that only runs other programs makes no trapped
 * call, and may outlive its parent: then the command of its children would be unknown. So all
 * unknown ancestors of p up to the next known one are added, the agent's child among them, and an
 * adopted orphan too, so that all its children belong to one command.
 */
static struct command *inherited_command(struct keeper *k, const struct proc *p)
{
	int between[ANCESTORS_MAX], pid = p->parent;
	struct proc *q = NULL, *next;
	size_t n = 0;

	while (!(q = proc_known(k, pid)) && n < ANCESTORS_MAX && pid > 0) {
		between[n++] = pid;
		pid = proc_parent(k, pid);
	}
	if (!q && (n = below_adopter(k, between, n)) > 0)
		pid = between[n];
	while (n > 0 && (next = proc_get_child(k, between[n - 1], pid))) {
		q = next;
		pid = between[--n];
	}
	return q ? q->command : orphan_command(k, p);
}

/* Returns whether commands are children of this process: the agent, or a shell of the user's. */
static bool is_parent(const struct keeper *k, const struct shell *sh, int pid)
{
	return pid > 0 && (sh ? sh->runs_commands && pid == sh->pid : pid == k->agent_pid);
}

void steps_join(struct keeper *k, struct proc *p)
{
	struct command *c;

	p->shell = shell_ref(shell_of(k, p));
	if (k->whole && !p->shell) {
		join(p, k->whole);
		return;
	}
	if (steps_is_agent(k, p) || is_parent(k, p->shell, p->self.tid))
		return;
	if (is_parent(k, p->shell, p->parent) || (p->shell && p->shell->pid == p->self.tid)) {
		join_as_child(k, p);
		return;
	}
	c = inherited_command(k, p);
	if (!c)
		return;
	join(p, c);
	c->forked |= c->direct > 0;
}

static void unjoin(struct keeper *k, struct proc *p)
{
	struct command *c = take_ptr(&p->command);

	if (!c)
		return;
	c->refs--;
	if (p->direct) {
		p->direct = false;
		if (--c->direct == 0 && !c->over)
			steps_ends(k, c);
	}
	if (c->over)
		command_retire(k, c);
}

void steps_leave(struct keeper *k, struct proc *p)
{
	struct command *c = p->command;

	group_leave(k, p);
	if (p->direct && (c->step || c->named) && c->pid == p->self.tid)
		c->exit_status = proc_exit_status(p);
	unjoin(k, p);
	shell_unref(&p->shell);
	if (p->self.tid == k->agent_pid && p->self.tid != k->root_pid) {
		k->agent_pid = k->root_pid; /* npx ran another program first */
		k->agent_wraps = true;
		k->agent_again = false;
	}
}

/* ---- exec ------------------------------------------------------------------------------------ */

static void agent_is(struct keeper *k, struct proc *p, const char *argv, size_t len)
{
	unjoin(k, p);
	k->agent_pid = p->self.tid;
	k->agent_wraps = label_wraps(argv, len);
	buf_clear(&k->agent_name);
	buf_str(&k->agent_name, label_agent(argv, len));
	label_unmark(&k->agent_name);
}

static bool runs_a_script(const struct keeper *k, int pid)
{
	char exe[PATH_MAX];

	return proc_program(k, pid, exe) && label_is_interpreter(path_base(exe));
}

/* Returns whether the agent, a script, starts itself again: as a program (codex), or with other
 * options of its interpreter (gemini). */
static bool is_agent_again(const struct keeper *k, const struct proc *p, const char *argv,
			   size_t len)
{
	return !k->agent_again && p->parent == k->agent_pid &&
	       str_eq(label_agent(argv, len), k->agent_name.data) && runs_a_script(k, k->agent_pid);
}

static struct word *word_of(const struct command *c, const struct proc *p)
{
	struct word *w = c->words;

	while (w && w->pid != p->self.tid)
		w = w->next;
	return w;
}

/* Returns whether the shell of a hidden set-up text executes the command in its place. */
static bool goes_on(const struct proc *p, const char *argv, size_t len)
{
	const struct word *w = p->execed ? word_of(p->command, p) : NULL;

	return w && w->sets_up && label_is_text(argv, len);
}

/*
 * Names the command by its first exec, and adds the other processes of a pipeline. They run at the
 * same time: a shell forks them from left to right, so their pids give the order.
 */
static void name_command(struct keeper *k, struct command *c, const struct proc *p,
			 const char *argv, size_t len)
{
	struct word *word = word_of(c, p), **at = &c->words, *w;

	if (!word) {
		word = xcalloc(1, sizeof(*word));
		word->pid = p->self.tid;
		word->text = (struct buf)BUF_INIT;
		while (*at && forked_before((*at)->pid, word->pid))
			at = &(*at)->next;
		word->next = *at;
		*at = word;
	}
	buf_clear(&word->text);
	label_command(&word->text, argv, len);
	word->sets_up = label_is_set_up(argv, len);
	buf_clear(&c->label);
	if (c->shell)
		buf_str(&c->label, YOURS_MARK);
	LL_FOREACH (c->words, w) {
		if (w != c->words)
			buf_str(&c->label, " | ");
		buf_add(&c->label, w->text.data, w->text.len);
	}
	if (!c->shell)
		label_unmark(&c->label);
	if (c->label.len > LABEL_MAX)
		buf_truncate(&c->label, LABEL_MAX);
	c->named = true;
	steps_named(k, c);
}

/* Returns whether the command has made changes, by itself and by others, before its last exec. */
static bool is_subshell(const struct command *c)
{
	return c->forked && !c->named && c->label.len > 0;
}

int64_t steps_exec(struct keeper *k, struct proc *p, const char *argv, size_t len)
{
	bool again = !k->whole && is_agent_again(k, p, argv, len);

	if (!k->whole &&
	    (again || steps_is_agent(k, p) || (k->agent_wraps && p->parent == k->agent_pid))) {
		agent_is(k, p, argv, len);
		k->agent_again |= again;
	} else if (p->direct && !p->command->over && goes_on(p, argv, len)) {
		p->command->renamed = true;
		name_command(k, p->command, p, argv, len);
	} else if (p->direct && !p->execed && !p->command->over &&
		   p->command->label.len < LABEL_MAX && !is_subshell(p->command)) {
		name_command(k, p->command, p, argv, len);
	}
	p->execed = true;
	p->wraps = label_is_wrapper(argv, len);
	return steps_id(k, p);
}
