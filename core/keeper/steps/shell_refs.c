/* shell_refs - finds out whether a process is the agent's or of a program of the user's beside
 * it. */
/* SPDX-License-Identifier: MIT */
#include "core/keeper/steps/shell_refs.h"

#include <unistd.h>
#include <utlist.h>

#include "core/keeper/procs.h"
#include "core/keeper/state.h"

#define ANCESTORS_MAX 256

struct shell *shell_ref(struct shell *sh)
{
	if (sh)
		sh->refs++;
	return sh;
}

void shell_unref(struct shell **sh)
{
	struct shell *s = take_ptr(sh);

	if (!s || --s->refs)
		return;
	LL_DELETE(s->keeper->shells, s);
	free(s);
}

static struct shell *by_pid(const struct keeper *k, int pid)
{
	struct shell *sh = k->shells;

	while (sh && (pid <= 0 || sh->pid != pid))
		sh = sh->next;
	return sh;
}

struct shell *shell_of(struct keeper *k, const struct proc *p)
{
	struct shell *sh = k->shells ? by_pid(k, p->self.tid) : NULL;
	int pid = p->parent;

	for (int n = 0; k->shells && !sh && n < ANCESTORS_MAX && pid > 1; n++) {
		const struct proc *q = proc_known(k, pid);

		if (pid == getpid() || pid == k->root_pid || proc_adopts(k, pid))
			break;
		if (q)
			return q->shell;
		sh = by_pid(k, pid);
		pid = proc_parent(k, pid);
	}
	return sh || !k->shells ? sh : by_pid(k, getsid(p->self.tid));
}
