/* group_members - finds processes that work in the open group, and its owner. */
/* SPDX-License-Identifier: MIT */
#include "core/keeper/steps/group_members.h"

#include "core/keeper/procs.h"
#include "core/keeper/state.h"

#define ANCESTORS_MAX 256

bool steps_is_agent(const struct keeper *k, const struct proc *p)
{
	return p && (p->self.tid == k->agent_pid || p->self.tid == k->root_pid);
}

/* Returns the nearest known ancestor below the agent. Unknown ones have made no change and run no
 * program. */
static struct proc *above(struct keeper *k, const struct proc *p)
{
	int pid = p->self.tid;

	for (int i = 0; i < ANCESTORS_MAX; i++) {
		struct proc *q;

		pid = proc_parent(k, pid);
		q = pid > 1 ? proc_known(k, pid) : NULL;
		if (pid <= 1 || steps_is_agent(k, q))
			return NULL;
		if (q)
			return q;
	}
	return NULL;
}

void group_mark(struct keeper *k, struct proc *p)
{
	if (!k->group || steps_is_agent(k, p) || (p && p->shell))
		return;
	for (; p && p->group_serial != k->group_serial; p = above(k, p))
		p->group_serial = k->group_serial;
}

static bool is_above(struct keeper *k, const struct proc *who, struct proc *p)
{
	while (p && p != who)
		p = above(k, p);
	return p;
}

struct proc *group_still_at_work(struct keeper *k, struct proc *caller)
{
	for (struct thread *t = k->threads; t; t = t->hh.next) {
		struct proc *p = t->proc;

		if (t == &p->self && p->group_serial == k->group_serial && !proc_has_ended(p) &&
		    !is_above(k, p, caller))
			return p;
	}
	return NULL;
}

struct proc *group_owner_of(struct keeper *k, struct proc *p)
{
	do
		p = above(k, p);
	while (p && (!p->execed || p->wraps));
	return p;
}
