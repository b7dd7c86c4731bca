/* console_priv - the console itself, as its own files see it. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "tui/console/console.h"
#include "tui/console/tape.h"
#include "tui/console/ui.h"
#include "tui/look/screen.h"
#include "tui/term/pty.h"
#include "tui/term/term.h"

#include <uv.h> /* last: it brings a MIN of its own */

#define N_SIGNALS 5

struct console;
struct mirror;

/* Where the model comes from: a session of our own, or one that runs elsewhere. */
struct feed {
	int (*fd)(const struct console *c);
	bool (*wants_write)(const struct console *c);
	int (*ready)(struct console *c, bool readable, bool writable); /* negative: it is over */
	void (*tick)(struct console *c);			       /* once a second */
	const char *gone; /* words for when it is over */
};

struct console {
	const struct feed *feed;
	struct model *model;
	struct session *session; /* our own, or NULL and */
	struct mirror *mirror;	 /* the one that is attached to */
	const struct console_options *opt;
	struct screen *screen; /* NULL: not yet, or its terminal has closed */
	struct surface surface;
	struct theme theme;
	struct keymap *keymap;
	struct ui *ui;
	struct term *term;
	struct pty pty;
	struct tape *tape; /* its recording, or NULL */
	struct input input;
	uint32_t own_color[2]; /* of the human's terminal: text, background; 0: it did not say */
	struct rect pane;      /* where the agent's terminal is */
	char *config_dir;
	char *theme_name;   /* chosen in the console; NULL: the option's */
	uint64_t look_seen; /* look_signature() */
	struct look_where where;

	struct replay *replay; /* a recording is shown, or NULL */
	int replay_clock;

	uv_loop_t loop;
	uv_poll_t poll_session, poll_pty, poll_tty, poll_approver;
	uv_timer_t frame, esc, settle, tick, more;
	uv_signal_t signals[N_SIGNALS];
	bool pty_over, session_over;
	struct approver *approver; /* NULL: no such command is set */
	struct api *api;	   /* NULL when its socket could not be made */
	bool hurry;		   /* a key went in: what it shows need not wait for its turn */
	/* The human sent a line; the agent printed last. Then it falls silent: console_rests(). */
	int64_t sent_us, printed_us;
	int64_t painted_us, rang_us, alerted_us, called_us;

	uv_process_t borrowing;
	const struct borrower *borrower;
	bool lent; /* the terminal, to that program */
	uv_process_t splitter;
	bool splitting;
	bool away; /* the terminal has said that the human looks elsewhere */

	char **attach_next;  /* attach_spec.next */
	bool leaving, again; /* again: the agent is to be started anew */
	int killed_by;	     /* a signal that ends cordon itself */
	int failed;	     /* 125..127: the agent never ran */
	char words[512];
};

/* console.c */
void console_set_up_loop(struct console *c);
/* Jobs under way finish here: they were told to stop by ui_free(). */
void console_tear_down_loop(struct console *c);
void console_settle(struct console *c);	  /* the agent's terminal takes the size of its pane */
void console_leave(struct console *c);	  /* the loop ends after this turn */
void console_restart(struct console *c);  /* leave, and begin anew */
void console_schedule(struct console *c); /* a repaint, soon */
/* What the agent has printed and nobody has read, into its terminal and the recording. */
void console_drain(struct console *c);
void console_tell_colors(struct console *c); /* the agent's terminal: what plain text looks like */
void console_resize(struct console *c);	     /* to the size that the terminal has now */
void console_watch_tty(struct console *c, bool on);

/* hangup.c: the terminal has closed (SIGHUP, or its end was read). By console.on-hangup the session
 * goes on with `screen` NULL, or the console is left. */
void console_hang_up(struct console *c);

/* reload.c: themes and keymaps, while the console runs */
void console_watch_look(struct console *c); /* once a second */
int console_theme(void *data, const char *name, bool keep, struct err *err);
void console_themes(void *data, struct buf *names);
const char *console_theme_name(void *data);

/* lend.c: the terminal for another program, until it has ended. */
struct borrower {
	const char *name;		/* "your editor" */
	bool (*broken)(int64_t status); /* it could not do what it was started for */
	const char *words;		/* for that */
};
int console_lend(struct console *c, const struct borrower *to, char **argv, struct err *err);
void console_end_lent(struct console *c); /* the console is being left */

/* editor.c: struct ui_verbs, edit */
int console_edit(void *data, const char *path, int line, struct err *err);

/* split.c: a program of two words or more, or cordon with these words, in a new pane of the tmux
 * that the console runs in. */
bool console_can_split(void);
void console_split_program(struct console *c, const char *const *words, size_t n);
void console_split(struct console *c, const char *const *words, size_t n);
/* struct ui_verbs, attach, there */
void console_attach_beside(void *data, const char *session);
/* struct ui_verbs, moment: there, else on the console's own terminal */
int console_moment(void *data, int64_t wall_us, struct err *err);

/* run.c */
/* Everything that can be refused is looked at before anything is started. */
int console_load_look(struct console *c, const char *home, const char *const *folders,
		      struct err *err) MUST_USE;
int console_open_screen(struct console *c, struct err *err) MUST_USE;
void console_open_ui(struct console *c, const struct ui_verbs *verbs, const char *folder,
		     const char *const *folders, const char *state_dir);
void console_done(struct console *c);

/* verbs.c: what views ask for; data is the console */
/* By what console.notify says; words are cordon's own, printable ASCII. There is a screen. */
void console_notify(struct console *c, const char *words);
void console_called(struct console *c); /* the agent calls for a look: BEL, OSC 9 or 777 */
void console_rests(struct console *c);	/* once a second: has it finished a turn? */
extern const struct ui_verbs console_verbs;
