/* pin_linux - keeps the calling thread on its current processor, for a moment. */
/* SPDX-License-Identifier: MIT */
#include "core/base/pin.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>

static _Thread_local struct {
	bool held;
	int cpu;
	cpu_set_t own; /* its processors before */
} pin;

static pthread_once_t once = PTHREAD_ONCE_INIT;

static void before_forks(void)
{
	pthread_atfork(pin_end, NULL, NULL);
}

void pin_set_free(pid_t tid, const cpu_set_t *own)
{
	cpu_set_t any;

	if (sched_setaffinity(tid, sizeof(*own), own) == 0 || errno == ESRCH)
		return;
	memset(&any, 0xff, sizeof(any));
	sched_setaffinity(tid, sizeof(any), &any);
}

bool pin_here(int cpu)
{
	cpu_set_t one, own;

	if (pin.held && pin.cpu == cpu)
		return true;
	pin.held = false; /* other code has set its processors */
	if (cpu < 0 || cpu >= CPU_SETSIZE || sched_getaffinity(0, sizeof(own), &own) < 0)
		return false;
	pthread_once(&once, before_forks);
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	if (sched_setaffinity(0, sizeof(one), &one) < 0)
		return false;
	pin.held = true;
	pin.cpu = cpu;
	pin.own = own;
	return true;
}

void pin_end(void)
{
	cpu_set_t now;

	if (!pin.held)
		return;
	pin.held = false;
	if (sched_getaffinity(0, sizeof(now), &now) == 0 && CPU_COUNT(&now) == 1 &&
	    CPU_ISSET(pin.cpu, &now))
		pin_set_free(0, &pin.own);
}

bool pin_is_held(void)
{
	return pin.held;
}
