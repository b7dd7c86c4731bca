/* external - starts programs of the user, which run outside the sandbox. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <uv.h>

#include "core/base/err.h"

/*
 * The approver, the notifier, tmux, an editor, git for the broker: all start here, and lint rejects
 * exec and spawn elsewhere but in the files that start a sandbox. The agent writes files beside the
 * user's, so a program outside
 *
 *   - runs in "/", where no file of a folder is found by a relative name;
 *   - is looked up at each start in the directories of PATH that are absolute and not in a folder;
 *   - gets the environment of cordon's own start, without variables that name a path in a folder;
 *   - is refused, with words, where it, its interpreter or a path in its line lies in a folder.
 *
 * Here, a folder is a directory that was passed to external_keep_out(), or that the function of
 * external_ask() accepts.
 *
 * Threads: one. Each function looks at the file system anew.
 */

/* Adds a directory that the agent may write; NULL and "/" add none. A process that has never called
 * this cannot start a program by name or a line for sh: -EPERM. */
void external_keep_out(const char *dir);
/* Sets the function that knows of further places, of any number. It is called with absolute, clean
 * paths, of programs and files in commands, or of values of variables. */
enum external_use {
	EXTERNAL_PROGRAM,
	EXTERNAL_VARIABLE,
};
typedef bool (*external_writes)(const char *path, enum external_use use);
void external_ask(external_writes fn);

struct external {
	const char *setting;	 /* "approval.command": for messages */
	const char *command;	 /* a line for sh, or NULL */
	const char *const *argv; /* a program and its arguments; with a command: its "$@" */
	int in, out, err;	 /* descriptors of the program; EXTERNAL_NULL; EXTERNAL_SAME */
	bool session;		 /* starts its own session, with default signals */
};
#define EXTERNAL_NULL (-1) /* /dev/null */
#define EXTERNAL_SAME (-2) /* cordon's own */

/* Returns the program of that name as an absolute path; heap. NULL, with words: -ENOENT, or -EPERM
 * if it is in a folder. */
char *external_find(const char *name, struct err *err) MUST_USE;
/* Returns the path of this program; heap. After an upgrade it is the new program's. NULL, with
 * words: -ENOENT, or -EPERM if it is in a folder. */
char *external_self(struct err *err) MUST_USE;
/* Returns whether an absolute path is, or leads to, a file in a folder, or to none. */
bool external_is_kept_out(const char *path);
/* Returns 0, or -EPERM with words if a word of the line is a path or program in a folder. */
int external_check(const char *setting, const char *line, struct err *err) MUST_USE;
/* Returns the environment for programs outside; a heap list. */
char **external_env(void) MUST_USE;
/* Returns the names of the variables that external_env() drops; a heap list. */
char **external_withheld(void) MUST_USE;

/* Starts the program and returns its pid. */
pid_t external_start(const struct external *o, struct err *err) MUST_USE;
/* Starts the program and waits for it. Returns its exit status; 128 + N: signal N ended it. */
int external_run(const struct external *o, struct err *err) MUST_USE;
/* The same, with cordon's own descriptors 0 to 2. */
int external_run_here(const char *const *argv, struct err *err) MUST_USE;
/* Calls uv_spawn() by the rules above. opt->file is a program's name, or "/proc/self/exe";
 * opt->env, if set, comes from external_env(). As with uv_spawn(), close process after an error. */
int external_uv(uv_loop_t *loop, uv_process_t *process, const uv_process_options_t *opt,
		struct err *err) MUST_USE;
