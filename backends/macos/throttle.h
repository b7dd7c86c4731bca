/* throttle - looks at a session now and then, slows it down, and ends it. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "backends/macos/quota.h"

/*
 * What quota.h judges, done. While a session is slowed its processes have a lower priority and are
 * stopped in every other tick: parents before their children, and they go on after them, so that a
 * shell does not see its child stopped. The priority stays low where the system lets nobody raise
 * it again.
 *
 * Life:    throttle_new() -> throttle_free(), which lets everything go on.
 * Threads: one owner, who calls throttle_tick() each throttle_period() milliseconds.
 */
#define THROTTLE_LOOK_MS 500 /* between looks */
#define THROTTLE_TICK_MS 100 /* between ticks of a session that is slowed */

struct throttle;

struct throttle_spec {
	const struct mac_os *os;
	const char *session; /* id; borrowed */
	pid_t root;
	struct quota_limits limits;
	void (*say)(void *data, const char *words); /* it is slowed or ended, and why */
	void (*end)(void *data);		    /* to be ended: called once */
	void *data;
};

struct throttle *throttle_new(const struct throttle_spec *spec);
void throttle_tick(struct throttle *t);
int throttle_period(const struct throttle *t);
const struct quota *throttle_state(const struct throttle *t); /* borrowed */
bool throttle_is_holding(const struct throttle *t);	      /* until the next tick */
void throttle_free(struct throttle *t);			      /* NULL is a no-op */
