/* run - makes a session's specification from options, for every command that starts a session. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/api/socket/frames.h"
#include "core/config/config.h"
#include "core/session/session.h"
#include "tui/commands/options.h"

/* The specification of a run and its parts. Strings live until run_done(). */
struct run {
	struct ending end; /* from its console */
	struct run_options opt;
	struct config *config;
	struct port_pair *ports; /* --publish */
	struct config_spec source;
	char *cwd, *home, *state_dir;
	struct strings folders, read_only, overlays, hidden, sockets; /* of heap strings below */
	struct strings owned;
	struct strings argv;	 /* including arguments that its profile adds */
	struct strings settings; /* of --set, and of options that are short names */
	struct session_spec spec;
	struct buf kept; /* output of its overlays */
};

/*
 * run_prepare.c.
 * Life: `struct run run = {.kept = BUF_INIT};`, run_options_parse() into opt -> run_prepare(),
 * which uses the current directory -> run.spec -> run_done().
 */
int run_prepare(struct run *run, struct err *err) MUST_USE;
void run_done(struct run *run);

/* run_prompts.c: return whether cordon alone asks; add the agent's switches for that to the
 * command; add a note at the start, with an offer at a profile's first session. */
bool run_is_unprompted(const struct config *c);
void run_add_unprompted(struct run *run);
void run_offer_prompts(const struct run *run, struct buf *notes);

/* run_history.c: prints the branches and tags of the folders' repositories that no longer contain
 * their former commits. */
void run_say_rewritten(const struct run *run, int64_t since_us);

/* run_network.c: refuses contradictory options; chooses mode, hosts and ports. */
int run_check_network(const struct run_options *o, struct err *err) MUST_USE;
int run_choose_network(struct run *run, struct err *err) MUST_USE;
