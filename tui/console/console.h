/* console - the full-screen application around one run. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/config/config.h"
#include "core/session/session.h"

struct console_options {
	const struct config *settings; /* where the values are from, for errors; or NULL */
	const char *theme, *keymap;    /* name or path; NULL: default */
	const char *prefix;	       /* replaces the keymap's; or NULL */
	bool exit_at_end; /* leave when the agent ends, instead of staying for review */
	bool mouse;
	bool ascii;		    /* no box drawing */
	const char *notes;	    /* first rows of the activity; or NULL */
	const char *record;	    /* file of the recording, or NULL */
	const char *clipboard;	    /* ask, allow or deny, for the agent's texts; NULL: deny */
	const char *copy_command;   /* receives copied text; NULL: the terminal's clipboard */
	const char *open;	    /* command for addresses of links; NULL: they are copied */
	bool still;		    /* no blinking or turning signs */
	bool agent;		    /* a coding agent: its own system calls are hidden at first */
	const char *notify;	    /* terminal, desktop or command; NULL: terminal */
	const char *notify_command; /* receives the message on its input; or NULL */
	bool detach;		    /* a session outlives its last client */
	const char *at;		    /* start of a replay, paused (recording_time()); or NULL */
	double speed;		    /* of a replay; 0: the recording's */
	const int64_t *idle_us;	    /* longest pause of a replay; 0: any; NULL: as recorded */
};

/* Sets the options that are in the settings; borrows from the settings. */
void console_options_set(struct console_options *o, const struct config *c);

/* Directories for a console without its own session. */
struct attach_spec {
	const char *home, *state_dir;
};

/*
 * Forks the host, which opens the pty, puts its slave into a copy of spec and starts the session;
 * relays the terminal to it until the user leaves. The process must not have started a thread.
 * Returns the exit status: the agent's (128+N for a signal), 0 after a detach, or 125..127 with err
 * set if cordon itself failed. Restores the terminal in each case. ret: why the console is over;
 * free it with ending_done().
 */
struct ending;
int console_run(const struct session_spec *spec, const struct console_options *opt,
		struct ending *ret, struct err *err) MUST_USE;

/* Takes a recording over, and plays it until the user leaves. Returns 0, 128+N, or 125. */
struct recording;
int console_replay(struct recording *rec, const struct attach_spec *spec,
		   const struct console_options *opt, struct err *err) MUST_USE;

/* Shows the list of all sessions until the user leaves. Returns 0, 128+N, or 125. */
int console_board(const struct attach_spec *spec, const struct console_options *opt,
		  struct err *err) MUST_USE;
