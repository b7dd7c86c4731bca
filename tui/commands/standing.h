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

/* Of which run: at most one of both, as the options and the command of `cordon run` would say. */
struct standing_run {
	const char *profile; /* --profile; NULL: none given */
	const char *command; /* whose profile is taken; NULL: that of no command */
};
/* here must outlive it. */
int standing_load(struct standing *s, const struct here *at, const struct standing_run *run,
		  struct err *err) MUST_USE;
void standing_done(struct standing *s);
