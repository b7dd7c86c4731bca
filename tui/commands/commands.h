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
	const char *name, *summary;
	int (*run)(int argc, char **argv, struct err *err);
	bool outside;
};

extern const struct command commands[]; /* ends with a NULL name */

/* Returns whether the command runs inside a sandbox and would print wrong results there; err says
 * what to do instead. */
bool command_is_misplaced(const struct command *c, int argc, char **argv, struct err *err);

/* Sends a request to the keeper, from a command that runs inside, and prints the answer. Returns an
 * exit status. name: of the command. */
int command_ask(const char *name, const char *request, struct err *err);

/* The subcommands: name, one line for --help (NULL: internal, only cordon runs it), and whether the
 * command needs sessions, histories or the host, which no program inside can reach. cmd_NAME() runs
 * it. */
#ifdef __linux__
#define VM_COMMAND(X) X(vm, "prepare virtual machines; list or remove their images", true)
#else
#define VM_COMMAND(X)
#endif
#define COMMANDS(X)                                                                                \
	X(run, "run a command in the console (or --headless)", false)                              \
	X(learn, "run a command, let it read what it asks for, and propose rules", false)          \
	X(log, "the steps, newest first", true)                                                    \
	X(diff, "the changes of steps", true)                                                      \
	X(blame, "the step that wrote each line of a file", true)                                  \
	X(commit, "commit what you kept in the review", true)                                      \
	X(report, "a session as a page: turns, files, answers, hosts, refusals", true)             \
	X(undo, "roll the newest steps back", true)                                                \
	X(redo, "undo the last undo", true)                                                        \
	X(mark, "name a moment to go back to; list or remove those names", true)                   \
	X(step, "inside: several commands as one step", false)                                     \
	X(review, "inside: say that points of a review are handled", false)                        \
	VM_COMMAND(X)                                                                              \
	X(journal, "check or dump the undo store", true)                                           \
	X(audit, "the audit log: objects, decisions, and who decided", true)                       \
	X(sessions, "the running sessions, and the number of requests in each", true)              \
	X(board, "all sessions on one screen: answer, go there, start, end, replay", true)         \
	X(worktree, "the git worktrees of run --worktree: list, merge, drop, fork", true)          \
	X(stores, "disk space of each history; remove those of deleted folders", true)             \
	X(attach, "a console for a session that runs in another terminal", true)                   \
	X(exec, "a shell or a command of yours beside the agent, in its sandbox", true)            \
	X(replay, "a recorded session, or any asciicast, in the console", false)                   \
	X(pending, "the requests that wait for an answer", true)                                   \
	X(approve, "let a waiting request go on", true)                                            \
	X(deny, "refuse a waiting request", true)                                                  \
	X(serve, "drive a session by JSON lines on standard input and output", false)              \
	X(mcp, "a session as the tools of a language model (MCP)", false)                          \
	X(inside, NULL, false)                                                                     \
	X(cache, "what tools have cached inside, and its size", true)                              \
	X(policy, "list rules, trust a project's file, check a file", false)                       \
	X(why, "which rule decides about a path", false)                                           \
	X(init, "write a settings file with comments for this folder", false)                      \
	X(install, "settings, completions and hooks of agents, for you", false)                    \
	X(uninstall, "remove the files and hooks of install", false)                               \
	X(hook, "called by an agent before a command and after an edit", false)                    \
	X(doctor, "test what this machine can enforce", true)

#define X(name, summary, outside) int cmd_##name(int argc, char **argv, struct err *err);
COMMANDS(X)
#undef X
