/* advice - advises an agent about a command before it runs. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/util.h"

/*
 * Guidance, never security: the sandbox decides. A command line that the sandbox will refuse gets
 * the reason and the way out in one sentence, and is not run. One that is risky gets a word of
 * warning. Pure functions of the text and struct advice_context. Any thread.
 */
enum advice_level {
	ADVICE_NONE,
	ADVICE_NOTE, /* it runs, and the agent is told */
	ADVICE_ASK,  /* outside the sandbox: the agent should ask its user first */
	ADVICE_STOP, /* it does not run; the words say what to do instead */
};

struct advice_context {
	bool inside;	  /* in cordon's sandbox; else the hook works alone */
	bool ssh_agent;	  /* the agent for ssh keys was granted */
	bool docker;	  /* a Docker socket was granted */
	const char *home; /* absolute and clean */
	const char *cwd;  /* absolute; NULL: unknown */
};

struct advice {
	enum advice_level level;
	char text[512]; /* one or two sentences; agent text in it is escaped */
};

/* Advises about a command line for a shell: the strongest advice for any of its commands, the first
 * of equals. Gives none for a line with a syntax error, which the shell will report. */
void advise_command(struct advice *ret, const char *line, size_t len,
		    const struct advice_context *c);
/* Advises about a program with its arguments, as codex passes them: ["bash", "-lc", "make"]. */
void advise_argv(struct advice *ret, const char *const *argv, size_t n,
		 const struct advice_context *c);
/* Advises about a path that a tool of the agent reads or writes. */
void advise_path(struct advice *ret, const char *path, const struct advice_context *c);
