/* tier_priv - what the parts of the landlock backend say to each other. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "backends/linux/sandbox/sandbox.h"

/*
 * Theory of operation.
 *
 *   keeper  plan -> D0 -> launcher -> door -> go -> loop
 *     +- fence   in D1: ends whatever is in a domain below D1 when its socket closes
 *     +- agent   D1, then A: reading, writing, signals; seccomp; exec
 *
 * The agent sees the host's own tree. What mounts do elsewhere is done by Landlock (writing,
 * truncating, reading), and by the door for what Landlock does not know. There is no pid 1 whose
 * end is everybody's end: but D1, which the launcher enters and hands on to the fence and the
 * agent, keeps signals in. So the fence's kill(-1, SIGKILL) reaches all that descends from the
 * agent, wherever it has gone, at once, and nothing else.
 */

/* What is in the plan instead of mounts. plan->own is made. */
int tier_plan(struct plan *p, const struct spawn_spec *spec, struct err *err) MUST_USE;
/* Make plan->own and lock it; those of sessions that have gone are removed. */
int tier_own(struct plan *p, const struct spawn_spec *spec, struct err *err) MUST_USE;
/* struct builder's fence(). */
int tier_fence(struct launch *l, struct err *err) MUST_USE;
uint32_t tier_probe(struct probe_report *report, struct err *err);
