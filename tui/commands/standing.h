/* standing - settings and rules that a run in this folder would have. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/config/config.h"
#include "core/policy/policy.h"
#include "core/session/start/repository.h"
#include "tui/commands/here.h"

/* Life: zero-initialised; standing_load() -> standing_done(), also after a failure. */
struct standing {
	struct config *config;
	struct policy *policy;
	struct strings read_only, overlays; /* of sandbox.ro and sandbox.overlay */
	struct strings hidden, owned;	    /* of sandbox.hide, resolved; its heap strings */
	struct strings folders; /* the folder, folders of sandbox.rw, and their repositories */
	struct repositories repositories;
};
#define AUTO_STANDING CLEANUP(standing_done)

/* Options and command of `cordon run`. At most one of profile and command is set. */
struct standing_run {
	const char *profile;	     /* --profile; NULL: none given */
	const char *command;	     /* selects the profile; NULL: no command */
	const char *file;	     /* --config, or NULL */
	const char *const *settings; /* "sandbox.mode=static", NULL-terminated; or NULL */
	const char *const *hide;     /* --hide, NULL-terminated; or NULL */
};
/* Loads settings and rules. at must outlive s. */
int standing_load(struct standing *s, const struct here *at, const struct standing_run *run,
		  struct err *err) MUST_USE;
/* Searches for protected files, as a run does, but in all directories: policy_learn(). */
void standing_learn(const struct standing *s);
void standing_done(struct standing *s);
