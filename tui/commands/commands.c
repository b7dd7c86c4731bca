/* commands - the table that dispatch and --help read. */
/* SPDX-License-Identifier: MIT */
#include "tui/commands/commands.h"

#include <errno.h>

#include "core/session/session.h"

const struct command commands[] = {
	{"run", "run a command in the console (or --headless)", cmd_run, false},
	{"learn", "run a command, let it read what it asks for, and propose rules", cmd_learn,
	 false},
	{"log", "the steps, newest first", cmd_log, true},
	{"diff", "the changes of steps", cmd_diff, true},
	{"blame", "the step that wrote each line of a file", cmd_blame, true},
	{"commit", "commit what you kept in the review", cmd_commit, true},
	{"report", "a session as a page: turns, files, answers, hosts, refusals", cmd_report, true},
	{"undo", "roll the newest steps back", cmd_undo, true},
	{"redo", "undo the last undo", cmd_redo, true},
	{"mark", "name a moment to go back to; list or remove those names", cmd_mark, true},
	{"step", "inside: several commands as one step", cmd_step, false},
	{"review", "inside: say that points of a review are handled", cmd_review, false},
#ifdef __linux__
	{"vm", "prepare virtual machines; list or remove their images", cmd_vm, true},
#endif
	{"journal", "check or dump the undo store", cmd_journal, true},
	{"audit", "the audit log: objects, decisions, and who decided", cmd_audit, true},
	{"sessions", "the running sessions, and the number of requests in each", cmd_sessions,
	 true},
	{"board", "all sessions on one screen: answer, go there, start, end, replay", cmd_board,
	 true},
	{"worktree", "the git worktrees of run --worktree: list, merge, drop, fork", cmd_worktree,
	 true},
	{"stores", "disk space of each history; remove those of deleted folders", cmd_stores, true},
	{"attach", "a console for a session that runs in another terminal", cmd_attach, true},
	{"exec", "a shell or a command of yours beside the agent, in its sandbox", cmd_exec, true},
	{"replay", "a recorded session, or any asciicast, in the console", cmd_replay, false},
	{"pending", "the requests that wait for an answer", cmd_pending, true},
	{"approve", "let a waiting request go on", cmd_approve, true},
	{"deny", "refuse a waiting request", cmd_deny, true},
	{"serve", "drive a session by JSON lines on standard input and output", cmd_serve, false},
	{"mcp", "a session as the tools of a language model (MCP)", cmd_mcp, false},
	{"inside", NULL, cmd_inside, false},
	{"cache", "what tools have cached inside, and its size", cmd_cache, true},
	{"policy", "list rules, trust a project's file, check a file", cmd_policy, false},
	{"why", "which rule decides about a path", cmd_why, false},
	{"init", "write a settings file with comments for this folder", cmd_init, false},
	{"install", "settings, completions and hooks of agents, for you", cmd_install, false},
	{"uninstall", "remove the files and hooks of install", cmd_uninstall, false},
	{"hook", "called by an agent before a command and after an edit", cmd_hook, false},
	{"doctor", "test what this machine can enforce", cmd_doctor, false},
	{0},
};

bool command_is_misplaced(const struct command *c, int argc, char **argv, struct err *err)
{
	for (int i = 0; i < argc; i++)
		if (str_eq(argv[i], "--help") || str_eq(argv[i], "-h"))
			return false;
	if (!c->outside || !session_is_inside())
		return false;
	err_say(err, -EPERM,
		"%s: cordon's own commands do not work inside the sandbox, only `cordon step`, "
		"`cordon review` and `cordon hook` do: use another terminal",
		c->name);
	return true;
}
