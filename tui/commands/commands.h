/* commands - the subcommands of cordon, one file each. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/err.h"

/* Exit statuses of commands that run no program of the user's. */
#define CMD_REFUSED 1	/* a conflict, a damaged log, nothing to undo: err says which */
#define CMD_FAILED  125 /* bad usage, or cordon itself failed */

/* argv: the arguments after the name. Returns the exit status; tui/main.c prints err if it is
 * set. */
struct command {
	const char *name;
	const char *summary; /* one line for --help; NULL: internal, only cordon runs it */
	int (*run)(int argc, char **argv, struct err *err);
	bool outside; /* needs sessions or histories, which no program inside can reach */
};

extern const struct command commands[]; /* ended by a NULL name */

/* Returns whether the command runs inside a sandbox and would print wrong results there; err says
 * what to do instead. */
bool command_is_misplaced(const struct command *c, int argc, char **argv, struct err *err);

/* Sends a request to the keeper, from a command that runs inside, and prints the answer. Returns an
 * exit status. name: of the command. */
int command_ask(const char *name, const char *request, struct err *err);

int cmd_run(int argc, char **argv, struct err *err);
int cmd_learn(int argc, char **argv, struct err *err);
int cmd_undo(int argc, char **argv, struct err *err);
int cmd_redo(int argc, char **argv, struct err *err);
int cmd_log(int argc, char **argv, struct err *err);
int cmd_diff(int argc, char **argv, struct err *err);
int cmd_mark(int argc, char **argv, struct err *err);
int cmd_commit(int argc, char **argv, struct err *err);
int cmd_report(int argc, char **argv, struct err *err);
int cmd_blame(int argc, char **argv, struct err *err);
int cmd_review(int argc, char **argv, struct err *err);
int cmd_step(int argc, char **argv, struct err *err);
int cmd_vm(int argc, char **argv, struct err *err);
int cmd_journal(int argc, char **argv, struct err *err);
int cmd_audit(int argc, char **argv, struct err *err);
int cmd_sessions(int argc, char **argv, struct err *err);
int cmd_worktree(int argc, char **argv, struct err *err);
int cmd_board(int argc, char **argv, struct err *err);
int cmd_stores(int argc, char **argv, struct err *err);
int cmd_exec(int argc, char **argv, struct err *err);
int cmd_attach(int argc, char **argv, struct err *err);
int cmd_replay(int argc, char **argv, struct err *err);
int cmd_pending(int argc, char **argv, struct err *err);
int cmd_approve(int argc, char **argv, struct err *err);
int cmd_deny(int argc, char **argv, struct err *err);
int cmd_serve(int argc, char **argv, struct err *err);
int cmd_mcp(int argc, char **argv, struct err *err);
int cmd_inside(int argc, char **argv, struct err *err);
int cmd_policy(int argc, char **argv, struct err *err);
int cmd_cache(int argc, char **argv, struct err *err);
int cmd_why(int argc, char **argv, struct err *err);
int cmd_init(int argc, char **argv, struct err *err);
int cmd_install(int argc, char **argv, struct err *err);
int cmd_uninstall(int argc, char **argv, struct err *err);
int cmd_hook(int argc, char **argv, struct err *err);
int cmd_doctor(int argc, char **argv, struct err *err);
