/* guest_facts - facts about a process in a guest, for the cache of processes (guests.h). */
/* SPDX-License-Identifier: MIT */
#include "core/keeper/guest_facts.h"

#include "core/keeper/state.h"

void guest_facts_free(struct guest_facts *g)
{
	if (!g)
		return;
	free(g->exe);
	free(g->argv);
	free(g);
}

void guest_signal(const struct keeper *k, int pid, int sig)
{
	if (k->guest)
		k->guest->signal(k->guest_data, shown_pid(pid), sig);
}

void guest_hold(const struct keeper *k, bool hold)
{
	if (k->guest)
		k->guest->hold(k->guest_data, hold);
}
