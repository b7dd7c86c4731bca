/* run - from options to what a session is made of, for every command that starts one. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/config/config.h"
#include "core/session/session.h"
#include "tui/commands/options.h"

/* Everything that a run is made of; strings live until run_done(). */
struct run {
	bool again; /* the human wants the same once more */
	struct run_options opt;
	struct config *config;
	struct port_pair *ports; /* --publish */
	struct config_spec source;
	char *cwd, *home, *state_dir;
	struct strings folders, read_only, overlays, hidden, sockets; /* of heap strings below */
	struct strings owned;
	struct strings argv; /* with what its profile adds */
	struct session_spec spec;
	struct buf kept; /* of its overlays */
};

/* run_prepare.c. Life: `struct run run = {.kept = BUF_INIT};`, run_options_parse() into opt ->
 * run_prepare(), which looks at the current directory -> run.spec -> run_done(). */
int run_prepare(struct run *run, struct err *err) MUST_USE;
void run_done(struct run *run);

/* run_network.c: contradictions between options; which mode, which hosts, which ports. */
int run_check_network(const struct run_options *o, struct err *err) MUST_USE;
int run_choose_network(struct run *run, struct err *err) MUST_USE;
