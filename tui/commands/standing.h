/* standing - settings and rules as a run in this folder would have them. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/config/config.h"
#include "core/policy/policy.h"
#include "tui/commands/reading.h"

/* Life: zero-initialised; standing_load() -> standing_done(), whatever it returned. */
struct standing {
	struct config *config;
	struct policy *policy;
	struct strings folders; /* the folder, then those of sandbox.rw */
};
#define AUTO_STANDING CLEANUP(standing_done)

/* here must outlive it. */
int standing_load(struct standing *s, const struct here *at, struct err *err) MUST_USE;
void standing_done(struct standing *s);
