/* commands - the subcommands of cordon, one file each. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/err.h"

/* Exit statuses of the commands that run nothing of the human's. */
#define CMD_REFUSED 1	/* a conflict, a damaged log, nothing to undo: err says it */
#define CMD_FAILED  125 /* bad usage, or cordon itself failed */

/* argv: what follows the name. Returns the exit status; tui/main.c prints err when it is set. */
struct command {
	const char *name;
	const char *summary; /* one line for --help; NULL: cordon runs it itself, nobody types it */
	int (*run)(int argc, char **argv, struct err *err);
	bool outside; /* about sessions and histories, which nothing inside can reach */
};

extern const struct command commands[]; /* ended by a NULL name */

/* Run inside a sandbox, where it could only say what is not true: err says what to do instead. */
bool command_is_misplaced(const struct command *c, int argc, char **argv, struct err *err);

int cmd_run(int argc, char **argv, struct err *err);
int cmd_learn(int argc, char **argv, struct err *err);
int cmd_undo(int argc, char **argv, struct err *err);
int cmd_redo(int argc, char **argv, struct err *err);
int cmd_log(int argc, char **argv, struct err *err);
int cmd_diff(int argc, char **argv, struct err *err);
int cmd_step(int argc, char **argv, struct err *err);
int cmd_vm(int argc, char **argv, struct err *err);
int cmd_journal(int argc, char **argv, struct err *err);
int cmd_audit(int argc, char **argv, struct err *err);
int cmd_sessions(int argc, char **argv, struct err *err);
int cmd_attach(int argc, char **argv, struct err *err);
int cmd_replay(int argc, char **argv, struct err *err);
int cmd_pending(int argc, char **argv, struct err *err);
int cmd_approve(int argc, char **argv, struct err *err);
int cmd_deny(int argc, char **argv, struct err *err);
int cmd_serve(int argc, char **argv, struct err *err);
int cmd_mcp(int argc, char **argv, struct err *err);
int cmd_inside(int argc, char **argv, struct err *err);
int cmd_policy(int argc, char **argv, struct err *err);
int cmd_why(int argc, char **argv, struct err *err);
int cmd_init(int argc, char **argv, struct err *err);
int cmd_install(int argc, char **argv, struct err *err);
int cmd_uninstall(int argc, char **argv, struct err *err);
int cmd_hook(int argc, char **argv, struct err *err);
int cmd_doctor(int argc, char **argv, struct err *err);
