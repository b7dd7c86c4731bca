/* guests - processes in a virtual machine, as its backend reports them. */
/* SPDX-License-Identifier: MIT */
#include "core/keeper/guests.h"

#include <errno.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/keeper/procs.h"
#include "core/keeper/state.h"
#include "core/keeper/steps/label.h"

#define ARGV_MAX  4096
#define PIDS_MAX  (1 << 22)
#define KNOWN_MAX 8192 /* processes beyond this number are unknown */

static bool is_pid(int pid)
{
	return pid > 0 && pid < PIDS_MAX;
}

void guest_begin(struct keeper *k, const struct guest_ops *ops, void *data)
{
	k->guest = ops;
	k->guest_data = data;
}

static void learn(struct guest_facts *f, const struct guest_process *g)
{
	free(f->exe);
	free(f->argv);
	f->argv_len = MIN(g->argv_len, (size_t)ARGV_MAX);
	f->exe = xstrdup(g->exe);
	f->argv = xmalloc(f->argv_len + sizeof("\0" LABEL_REST));
	memcpy(f->argv, g->argv, f->argv_len);
	memcpy(f->argv + f->argv_len, "\0" LABEL_REST, sizeof("\0" LABEL_REST));
	if (g->argv_len >= ARGV_MAX)
		f->argv_len += strlen(LABEL_REST) + 1; /* the argv is cut */
	else if (f->argv_len && f->argv[f->argv_len - 1] != '\0')
		f->argv_len++; /* each argument ends with NUL */
}

static void runs(struct keeper *k, struct proc *p)
{
	const struct guest_facts *f = p->guest;
	const struct caller c = {.pid = p->self.tid, .tid = p->self.tid, .proc = p, .op = "execve"};

	if (f->argv_len)
		keeper_exec(k, &c, f->exe, f->argv, f->argv_len);
}

void guest_exec(struct keeper *k, const struct guest_process *g)
{
	struct proc *p = is_pid(g->pid) ? proc_known(k, GUEST_PIDS + g->pid) : NULL;

	if (!p)
		return;
	learn(p->guest, g);
	runs(k, p);
}

/* Returns the parent if it was reported and lives. So no process is its own ancestor, whatever the
 * guest reports. */
static int parent_of(const struct keeper *k, const struct guest_process *g)
{
	return is_pid(g->parent) && proc_known(k, GUEST_PIDS + g->parent) ? GUEST_PIDS + g->parent
									  : 0;
}

void guest_seen(struct keeper *k, const struct guest_process *g)
{
	struct proc *p;

	if (!is_pid(g->pid))
		return;
	if (proc_known(k, GUEST_PIDS + g->pid)) {
		if (g->execed)
			guest_exec(k, g);
		return;
	}
	if (k->n_guests >= KNOWN_MAX)
		return;
	p = proc_add_guest(k, GUEST_PIDS + g->pid, parent_of(k, g),
			   is_pid(g->group) ? GUEST_PIDS + g->group : 0);
	p->guest->exit_status = -1;
	p->guest->started_us = clock_boot_us() - MAX(g->age_us, (int64_t)0);
	learn(p->guest, g);
	k->hooks->process_seen(k, p);
	if (g->execed)
		runs(k, p);
}

void guest_is_agent(struct keeper *k, int pid)
{
	const struct guest_process g = {
		.pid = pid, .group = pid, .exe = k->agent_name.data, .argv = ""};

	if (!is_pid(pid))
		return;
	k->root_pid = k->agent_pid = GUEST_PIDS + pid;
	guest_seen(k, &g);
}

void guest_left(struct keeper *k, int pid, int exit_status)
{
	struct proc *p = is_pid(pid) ? proc_known(k, GUEST_PIDS + pid) : NULL;

	if (!p)
		return;
	for (struct thread *t = k->threads; t; t = t->hh.next)
		if (t->proc->parent == p->self.tid)
			t->proc->parent = 0; /* its number may be reused */
	p->guest->exit_status = exit_status;
	proc_gone(k, p);
}

int guest_caller(struct keeper *k, int pid, struct caller *ret)
{
	return is_pid(pid) && proc_known(k, GUEST_PIDS + pid)
		       ? keeper_caller(k, GUEST_PIDS + pid, ret)
		       : -ESRCH;
}

int guest_anybody(struct keeper *k, struct caller *ret)
{
	return keeper_caller(k, k->root_pid, ret);
}
