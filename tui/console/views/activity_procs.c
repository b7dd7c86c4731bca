/* activity_procs - finds the command that a process belongs to, from the rows of programs. */
/* SPDX-License-Identifier: MIT */
#include "tui/console/views/activity_procs.h"

#include <string.h>

#include "core/base/hash.h"

struct proc {
	int pid, parent;
	bool agent; /* the agent: its children are commands of their own */
	char *key;  /* key of its command */
	UT_hash_handle hh;
};

static struct proc *find(const struct procs *p, int pid)
{
	struct proc *proc = NULL;

	if (p->by_pid)
		HASH_FIND_INT(p->by_pid, &pid, proc);
	return proc;
}

static void forget(struct procs *p, struct proc *proc)
{
	HASH_DEL(p->by_pid, proc);
	free(proc->key);
	free(proc);
}

void activity_procs_done(struct procs *p)
{
	struct proc *proc, *next;

	HASH_ITER (hh, p->by_pid, proc, next)
		forget(p, proc);
}

/* Returns the process whose command the row belongs to: the same process after a further exec (not
 * if its number was reused), else its parent. NULL: a child of the agent. */
static const struct proc *command_of(const struct procs *p, const struct row *r)
{
	const struct proc *same = find(p, r->pid), *parent = find(p, r->parent);

	if (same && same->parent == r->parent && !same->agent)
		return same;
	return parent && !parent->agent ? parent : NULL;
}

char *activity_procs_key(struct procs *p, const struct row *r, const char *own, const char *agent,
			 bool *ret_child)
{
	const struct proc *command = r->parent ? command_of(p, r) : NULL;
	char *key = xstrdup(command ? command->key : own);
	struct proc *proc = find(p, r->pid);

	*ret_child = command != NULL;
	if (proc)
		forget(p, proc);
	if (HASH_COUNT(p->by_pid) >= PROCS_MAX)
		activity_procs_done(p);
	proc = xcalloc(1, sizeof(*proc));
	*proc = (struct proc){.pid = r->pid,
			      .parent = r->parent,
			      .agent = !command && *agent && r->text && strstr(r->text, agent),
			      .key = xstrdup(key)};
	HASH_ADD_INT(p->by_pid, pid, proc);
	return key;
}
