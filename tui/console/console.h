/* console - the full-screen application around one run. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/config/config.h"
#include "core/session/session.h"

struct console_options {
	const char *theme, *keymap; /* name or path; NULL: default */
	const char *prefix;	    /* instead of the keymap's; or NULL */
	bool exit_at_end;	    /* leave when the agent ends, instead of staying for review */
	bool mouse;
	bool ascii;		  /* no box drawing */
	const char *notes;	  /* lines for the list of what happens, from the start; or NULL */
	const char *record;	  /* a file for the recording, or NULL */
	const char *clipboard;	  /* ask, allow or deny: the agent's texts; NULL: deny */
	const char *copy_command; /* takes what is copied on its input; NULL: the terminal does */
	const char *open;	  /* a command for addresses of links; or NULL: they are copied */
	bool still;		  /* nothing blinks or turns */
	const char *notify;	  /* terminal, desktop or command; NULL: terminal */
	const char *notify_command; /* takes the words on its input; or NULL */
	bool detach;		    /* a session outlives its terminal */
	const char *at; /* where a replay begins, standing still (recording_time()); or NULL */
	double speed;	/* of a replay; 0: as it was */
	const int64_t *idle_us; /* what a replay cuts pauses to; 0: nothing; or NULL: as recorded */
	bool *again;		/* set when the human wants the same once more; or NULL */
};

/* What the settings say of it; the rest stays. Borrows from the settings. */
void console_options_set(struct console_options *o, const struct config *c);

/*
 * Opens the pty, puts its slave into a copy of spec, starts the session (which forks) before any
 * thread, loop or curses exists, and runs until the human leaves.
 * Returns the exit status: the agent's (128+N for a signal), or 125..127 with err set when cordon
 * itself failed. Whatever happens, the human's terminal is as it was.
 */
struct mirror;

struct attach_spec {
	const char *home, *state_dir;
	char **next; /* set to the session that is to be shown next, heap, or left NULL; or NULL */
};

/* The same views for a session that runs elsewhere, until the human leaves. 0, 128+N, or 125. */
int console_attach(struct mirror *m, const struct attach_spec *spec,
		   const struct console_options *opt, struct err *err) MUST_USE;

/* A recording, until the human leaves; takes it over. 0, 128+N, or 125. */
struct recording;
int console_replay(struct recording *rec, const struct attach_spec *spec,
		   const struct console_options *opt, struct err *err) MUST_USE;

int console_run(const struct session_spec *spec, const struct console_options *opt, struct err *err)
	MUST_USE;
