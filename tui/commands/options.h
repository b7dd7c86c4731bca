/* options - the options of `cordon run`: one table for parsing, --help and the man page. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/err.h"
#include "core/base/util.h"

/* A list that options append to; NULL-terminated once non-empty. */
struct strings {
	const char **list; /* borrowed strings, owned array */
	size_t n;
	size_t ahead; /* flags_parse(): how many come before "--" */
};
void strings_add(struct strings *s, const char *v);
void strings_done(struct strings *s);
#define AUTO_STRINGS CLEANUP(strings_done)

struct run_options {
	const char *backend, *mode, *steps, *config, *profile, *network;
	const char *theme, *keymap, *record;
	const char *strategy, *base_port, *port_count, *loopback; /* settings of network.* */
	const char *worktree;					  /* NULL: none; "": any name */
	const char *from_step;					  /* of --from-step */
	const char *vm_memory, *vm_cpus, *vm_mode;		  /* of vm.* */
	struct strings rw, ro, overlay, hide, allow_unix, allow_domain, publish, set, ssh_agent;
	bool headless, stdio, allow_network, no_network, no_debug, exit_at_end, verbose, help,
		git_credentials, shared_settings, with_changes;
	const char *const *argv; /* the command and its arguments; NULL-terminated, maybe empty */
};

/* Parses the arguments after `run`. -EINVAL: unknown option or missing value, err says which. */
int run_options_parse(struct run_options *o, int argc, char **argv, struct err *err) MUST_USE;
void run_options_done(struct run_options *o);
/* Returns the options and the command as a line for a shell that starts a further agent the same
 * way in another directory: without those that are about one run, and with absolute paths to places
 * outside of cwd, from which relative ones of this run lead. Heap. */
char *run_options_line(const struct run_options *o, const char *cwd) MUST_USE;
/* Calls fn for each row of the table of options: "--profile NAME", description. driven: leaves out
 * options that have no use in a session that a program drives. */
void run_options_each(bool driven, void (*fn)(void *data, const char *option, const char *help),
		      void *data);
/* Writes that table to standard output, for --help. */
void run_options_help(bool driven);
/* Returns -EINVAL if an option is given that has no use in a driven session; err says which. */
int run_options_check_driven(const struct run_options *o, struct err *err) MUST_USE;
