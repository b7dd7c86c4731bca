/* commands - the table that dispatch and --help read. */
/* SPDX-License-Identifier: MIT */
#include "tui/commands/commands.h"

const struct command commands[] = {
	{"run", "run a command in the console (or --headless)", cmd_run},
	{"learn", "run a command, let it read what it asks for, and propose rules", cmd_learn},
	{"log", "the steps, newest first", cmd_log},
	{"diff", "what steps changed", cmd_diff},
	{"undo", "roll the newest steps back", cmd_undo},
	{"redo", "bring back what the last undo took away", cmd_redo},
	{"step", "inside: several commands as one step", cmd_step},
	{"journal", "is the undo store sound, and what is in it", cmd_journal},
	{"audit", "what was touched and who decided", cmd_audit},
	{"sessions", "the sessions that run, and how much waits in each", cmd_sessions},
	{"attach", "a console for a session that runs in another terminal", cmd_attach},
	{"replay", "a recorded session, or any asciicast, in the console", cmd_replay},
	{"pending", "what sessions are waiting for an answer to", cmd_pending},
	{"approve", "let a waiting request go on", cmd_approve},
	{"deny", "refuse a waiting request", cmd_deny},
	{"serve", "drive a session by JSON lines on standard input and output", cmd_serve},
	{"mcp", "a session as the tools of a language model (MCP)", cmd_mcp},
	{"inside", NULL, cmd_inside},
	{"policy", "the rules in effect; trust in a project's file; is a file right", cmd_policy},
	{"why", "which rule decides about a path", cmd_why},
	{"init", "write a settings file with comments for this folder", cmd_init},
	{"install", "settings, completions and hooks of agents, for you", cmd_install},
	{"uninstall", "take away what install made", cmd_uninstall},
	{"hook", "called by an agent: what of its next command will not work", cmd_hook},
	{"doctor", "what this machine can enforce", cmd_doctor},
	{0},
};
