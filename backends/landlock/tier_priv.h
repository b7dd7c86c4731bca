/* tier_priv - functions that the files of the landlock backend share. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "backends/linux/sandbox/sandbox.h"

/*
 * Theory of operation.
 *
 *   keeper  plan -> D0 -> launcher -> door -> go -> loop
 *     +- fence   in D1: kills every process in a domain below D1 when its socket closes
 *     +- agent   D1, then A: reading, writing, signals; seccomp; exec
 *
 * The agent sees the host's own tree. Landlock takes the place of mounts (writing, truncating,
 * reading), and the door handles changes that Landlock does not cover. There is no pid 1 whose end
 * ends all processes. Instead D1, which fence and agent inherit from the launcher, keeps signals
 * in: the fence's kill(-1, SIGKILL) reaches every descendant of the agent at once, and no other
 * process.
 */

/* Fills the plan without mounts, and makes plan->own. */
int tier_plan(struct plan *p, const struct spawn_spec *spec, struct err *err) MUST_USE;
/* Makes plan->own and locks it. Removes such directories of sessions that have ended. */
int temp_dir_own(struct plan *p, const struct spawn_spec *spec, struct err *err) MUST_USE;
/* struct builder's fence(). */
int watchdog_fence(struct launch *l, struct err *err) MUST_USE;
uint32_t tier_probe(struct probe_report *report, struct err *err);
