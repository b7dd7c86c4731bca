/* throttle - measures a session's use at intervals, slows the session down, and ends it. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "backends/macos/quota.h"

/*
 * Carries out the decisions of quota.h. While a session is slowed its processes have a lower
 * priority and are stopped in every other tick. A parent is stopped before its children and
 * continued after them, so that a shell does not see its child stopped. The priority stays low if
 * the system does not allow cordon to raise it again.
 *
 * Life:    throttle_new() -> throttle_free(), which continues stopped processes.
 * Threads: one owner, which calls throttle_tick() each throttle_period() milliseconds.
 */
#define THROTTLE_LOOK_MS 500 /* between measurements */
#define THROTTLE_TICK_MS 100 /* between ticks of a slowed session */

struct throttle;

struct throttle_spec {
	const struct mac_os *os;
	const char *session; /* id; borrowed */
	pid_t root;
	struct quota_limits limits;
	void (*say)(void *data, const char *words); /* tells why the session is slowed or ended */
	void (*end)(void *data);		    /* ends the session: called once */
	void *data;
};

struct throttle *throttle_new(const struct throttle_spec *spec);
void throttle_tick(struct throttle *t);
int throttle_period(const struct throttle *t);
bool throttle_is_holding(const struct throttle *t); /* stopped until the next tick */
void throttle_free(struct throttle *t);		    /* NULL is a no-op */
