/* options - the options of `cordon run`: one table for parsing, --help and the man page. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/err.h"

/* A list that options append to; NULL-terminated once non-empty. */
struct strings {
	const char **list; /* borrowed strings, owned array */
	size_t n;
	size_t ahead; /* reading_parse(): how many stood before "--" */
};
void strings_add(struct strings *s, const char *v);
void strings_done(struct strings *s);

struct run_options {
	const char *backend, *mode, *steps, *config, *profile, *network;
	const char *theme, *keymap, *record;
	const char *strategy, *base_port, *port_count, *loopback; /* settings of network.* */
	const char *vm_memory, *vm_cpus, *vm_mode;		  /* of vm.* */
	struct strings rw, ro, overlay, hide, allow_unix, allow_domain, publish, set, ssh_agent;
	bool headless, stdio, allow_network, no_network, no_debug, exit_at_end, verbose, help,
		git_credentials, shared_settings;
	const char *const *argv; /* the command and what follows; NULL-terminated, maybe empty */
};

/* Parse what follows `run`. -EINVAL: unknown option or missing value, err says which. */
int run_options_parse(struct run_options *o, int argc, char **argv, struct err *err) MUST_USE;
void run_options_done(struct run_options *o);
/* The table as text for --help. */
void run_options_help(FILE *out);
