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
 * started, or what that only starts in its turn: `npx claude`, `sh -c claude`, and of a script that
 * starts itself as a program the latter.
 *
 * A command's step begins with its first change, and ends after its last process and a quiet
 * moment. The agent's own edits, what each command left running, and processes of unknown origin
 * have ambient steps of their own. An undo asks before it stops what runs (kill_command.c). `cordon
 * step` groups several commands (group.c): a request is an open for writing of
 * /run/cordon/step/begin/NAME, a path that does not exist. The door knows the caller because it is
 * its call, and hands back a descriptor to read one line from: no socket, no client state.
 */

#define ANCESTORS_MAX 256
#define PIDS_APART    16000
#define TICK_US	      10000 /* of what /proc tells times in */

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
 * Pids start again at pid_max, 32768 at least: pids of one pipeline, or of forks at about the same
 * time, are never so far apart.
 */
static bool forked_before(int pid, int other)
{
	return abs(other - pid) < PIDS_APART ? pid < other : pid > other;
}

/* started, p's own time, is up to a tick late: of what began within that the numbers tell. */
static bool began_before(const struct command *c, const struct proc *p, int64_t started)
{
	if (c->boot_us <= started - TICK_US)
		return true;
	return c->boot_us <= started && forked_before(c->group ? c->group : c->pid, p->self.tid);
}

/* The only command that p could have been started by, of those that still run or do so no more. */
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
 * Its parent has gone, as a daemon's has, before it was seen: a process group of its own may still
 * tell where it came from. Else a command that has just ended is likelier than one that runs.
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

/* How many of these, each the parent of the one before, come before one who has the orphans. */
static size_t below_adopter(const struct keeper *k, const int *pids, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (pids[i] == getpid() || proc_adopts(k, pids[i]))
			return i;
	}
	return 0;
}

/*
 * A subshell that only runs others makes no call that is seen, and may outlive who began it: then
 * nobody could tell any more whose the commands are that it runs. So who is between a process and
 * the next one up that is known is looked at with it, the agent's child among them; so is who is
 * an orphan by then, that all it runs goes to one command.
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

/* The program that each command is a child of: the agent, or a shell of the human's. */
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
		k->agent_pid = k->root_pid; /* npx ran something of its own first */
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

/* Does the agent, a script, start itself once more: as a program (codex), or with other options of
 * its interpreter (gemini)? */
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

/* Does the shell of a text that is not shown exec the command in its own place? */
static bool goes_on(const struct proc *p, const char *argv, size_t len)
{
	const struct word *w = p->execed ? word_of(p->command, p) : NULL;

	return w && w->sets_up && label_is_text(argv, len);
}

/*
 * The first exec names a command; the other processes of a pipeline are added to it. They run at
 * the same time: a shell forks them from left to right, so that their pids tell the order.
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

/* It has done something, by itself and by others, before what it execs in the end. */
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
