/* options - the options of `cordon run`: one table for parsing, --help and the man page. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/err.h"
#include "core/base/util.h"

/* A list that options append to; NULL-terminated once non-empty. */
struct strings {
	const char **list; /* borrowed strings, owned array */
	size_t n;
	size_t ahead; /* number of arguments before "--", by flags_parse() */
	size_t most;  /* most arguments before "--" that flags_parse() takes; 0: any number */
};
void strings_add(struct strings *s, const char *v);
void strings_done(struct strings *s);
#define AUTO_STRINGS CLEANUP(strings_done)

struct run_options {
	const char *backend, *mode, *steps, *config, *profile, *network;
	const char *theme, *keymap, *record;
	const char *strategy, *base_port, *port_count, *loopback; /* network.* settings */
	const char *worktree;					  /* NULL: none; "": any name */
	const char *from_step;					  /* of --from-step */
	const char *vm_memory, *vm_cpus, *vm_mode;		  /* vm.* settings */
	struct strings rw, ro, overlay, hide, allow_unix, allow_domain, publish, set, ssh_agent;
	bool headless, stdio, allow_network, no_network, no_debug, exit_at_end, verbose, help,
		git_credentials, shared_settings, with_changes;
	const char *const *argv; /* the command and its arguments; NULL-terminated, may be empty */
};

/* Parses the arguments after `run`. -EINVAL: an unknown option or a missing value, named by err. */
int run_options_parse(struct run_options *o, int argc, char **argv, struct err *err) MUST_USE;
void run_options_done(struct run_options *o);
/* Returns options and command as a line for a shell, which starts another agent in the same way in
 * another directory: without options of one run, and with absolute paths for places outside cwd.
 * Heap. */
char *run_options_line(const struct run_options *o, const char *cwd) MUST_USE;
/* Calls fn for each row of the table of options: "--profile NAME", description. driven: leaves out
 * options that have no use in a session that a program drives. */
void run_options_each(bool driven, void (*fn)(void *data, const char *option, const char *help),
		      void *data);
/* Writes the table to standard output, for --help. */
void run_options_help(bool driven);
/* Returns -EINVAL if a given option has no use in a driven session; err names it. */
int run_options_check_driven(const struct run_options *o, struct err *err) MUST_USE;
