/* external - starts programs of the user, which run outside the sandbox. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <uv.h>

#include "core/base/err.h"

/*
 * The approver, the notifier, tmux, an editor, git for the broker: all start here, and lint rejects
 * exec and spawn elsewhere but in the files that start a sandbox. The agent writes files beside the
 * human's, so a program outside
 *
 *   - runs in "/", where no file of a folder is found by a relative name;
 *   - is looked up at each start in the directories of PATH that are absolute and not in a folder;
 *   - gets the environment of cordon's own start, without variables that name a path in a folder;
 *   - is refused, with words, where it, its interpreter or a path in its line lies in a folder.
 *
 * A folder here is a place that external_keep_out() was given, or one of external_ask()'s.
 *
 * Threads: one. Each function looks at the file system anew.
 */

/* Adds a directory that the agent may write; NULL and "/" add none. A process that never called
 * this starts no program by its name alone, and no line for sh: -EPERM. */
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
	const char *const *argv; /* a program and its arguments; beside a command: its "$@" */
	int in, out, err;	 /* descriptors of the program; EXTERNAL_NULL; EXTERNAL_SAME */
	bool session;		 /* a session of its own, with default signals */
};
#define EXTERNAL_NULL (-1) /* /dev/null */
#define EXTERNAL_SAME (-2) /* cordon's own */

/* Returns the program of that name as an absolute path, a heap string. NULL, with words: -ENOENT,
 * or -EPERM where it lies in a folder. */
char *external_find(const char *name, struct err *err) MUST_USE;
/* Returns the path of this program, a heap string. After an upgrade that of its successor, or NULL
 * with words: -ENOENT, or -EPERM where that lies in a folder. */
char *external_self(struct err *err) MUST_USE;
/* Returns 0, or -EPERM with words where a word of the line is a path or program in a folder. */
int external_check(const char *setting, const char *line, struct err *err) MUST_USE;
/* The environment of a program outside; a heap list. */
char **external_env(void) MUST_USE;
/* The names of the variables that external_env() leaves out; a heap list. */
char **external_withheld(void) MUST_USE;

/* Starts the program and returns its pid. */
pid_t external_start(const struct external *o, struct err *err) MUST_USE;
/* Starts the program, waits, and returns its exit status, 128 + N after signal N. */
int external_run(const struct external *o, struct err *err) MUST_USE;
/* uv_spawn() by the rules above. opt->file is a program's name, or "/proc/self/exe"; opt->env, when
 * set, is one that external_env() gave. As with uv_spawn(), process is to be closed on an error. */
int external_uv(uv_loop_t *loop, uv_process_t *process, const uv_process_options_t *opt,
		struct err *err) MUST_USE;
