/* console_priv - the console itself, as its own files see it. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "tui/console/console.h"
#include "tui/console/ui.h"
#include "tui/look/screen.h"
#include "tui/term/pty.h"
#include "tui/term/term.h"

#include <uv.h> /* last: it brings a MIN of its own */

#define N_SIGNALS 5

struct console {
	struct session *session;
	const struct console_options *opt;
	struct screen *screen;
	struct surface surface;
	struct theme theme;
	struct keymap *keymap;
	struct ui *ui;
	struct term *term;
	struct pty pty;
	struct input input;
	struct rect pane; /* where the agent's terminal is */
	char *config_dir;
	struct look_where where;

	uv_loop_t loop;
	uv_poll_t poll_session, poll_pty, poll_tty, poll_approver;
	uv_timer_t frame, esc, settle, tick, more;
	uv_signal_t signals[N_SIGNALS];
	bool pty_over, session_over;
	struct approver *approver; /* NULL: no such command is set */
	struct api *api;	   /* NULL when its socket could not be made */
	int64_t painted_us, rang_us;

	bool leaving;
	int killed_by; /* a signal that ends cordon itself */
	int failed;    /* 125..127: the agent never ran */
	char words[512];
};

/* console.c */
void console_leave(struct console *c);	  /* the loop ends after this turn */
void console_schedule(struct console *c); /* a repaint, soon */

/* verbs.c: what views ask for; data is the console */
extern const struct ui_verbs console_verbs;
