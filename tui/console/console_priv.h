/* console_priv - the host of consoles and each console, for the files of the console only. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/api/socket/frames.h"
#include "tui/console/console.h"
#include "tui/console/plain.h"
#include "tui/console/tape.h"
#include "tui/console/frame/ui.h"
#include "tui/look/screen.h"
#include "tui/term/pty.h"
#include "tui/term/term.h"

#include <uv.h> /* last: it defines a MIN of its own */

#define N_SIGNALS 3

struct console;
struct feed;

/*
 * The host: one model, the agent's terminal, and the consoles that show them, each for one client.
 * Life:    host_open() -> host_add() for each client -> host_leave(), which ends its own loop ->
 *          host_close().
 * Threads: main loop.
 */
struct host {
	uv_loop_t *loop;
	struct model *model;
	struct session *session; /* NULL: a recording is shown */
	const struct console_options *opt;
	const char *folder, *const *folders, *state_dir, *home; /* the session's; borrowed */
	const struct ui_verbs *verbs;
	struct term *term;		   /* NULL: the session has no terminal */
	struct pty pty;			   /* fd -1: the host has no terminal */
	int pane_w, pane_h;		   /* size of the agent's terminal */
	struct console *consoles, *latest; /* latest: the console with the last key */
	struct replay *replay;
	bool board;  /* shows the list of all sessions; has no session */
	bool prints; /* the terminal shows the agent's output, but takes no keys */
	bool quiet;  /* the agent's own system calls are hidden at first */

	/* Called when a console has closed: its client died (lost) or left. With host_run() it may
	 * be NULL. */
	void (*left)(struct host *h, bool lost);
	int (*status)(const struct host *h); /* exit status after the agent's end; or NULL */
	void (*heard)(struct host *h);	     /* after a user's action: bytes may wait; or NULL */
	void (*resized)(struct host *h, int w, int h_); /* the agent's terminal; may be NULL */

	struct frames *lines; /* connections of consoles that host_stop() has closed */
	size_t n_lines;
	uv_timer_t settle, second;	/* second: for host_run() */
	int open;			/* number of open timers and running jobs */
	void (*closed)(struct host *h); /* `open` is 0 after host_stop(); or NULL */
	bool leaving;			/* no new work may begin */
	bool over;			/* the session has ended: the user can only leave */
	bool again;			/* the agent is to be restarted */
	int killed_by;			/* a signal that ends the session */
	int failed;			/* 125..127: the agent never ran */
	char words[512];
	uint64_t ask_seen; /* newest request for which the user was alerted */
	/* Times of the user's last line, alert, call and key; for host_rests(). */
	int64_t sent_us, alerted_us, called_us, typed_us;
	bool agent_asked; /* the user was alerted to the agent's question */
	/* Menus in the agent's terminal: looks that found one in a row; model.asks_changes after
	 * the last change that this made. */
	unsigned menu_looks, menu_change;
};

/* One client's console: its screen, its layout, its keys. */
struct console {
	struct host *host;
	struct console *next;
	const struct console_options *opt;
	struct frames line;
	struct terminal terminal;
	struct ui_verbs verbs; /* the host's; a read-only user has fewer */
	bool starter;	       /* its client started the host: it can end or restart it */
	bool greeted;	       /* the client has described its terminal */
	bool closing;
	int handles; /* number of open libuv handles */
	struct screen *screen;
	struct surface surface;
	struct theme theme;
	struct keymap *keymap;
	struct ui *ui;
	struct plain *plain; /* lines of text instead of the screen; or NULL */
	struct input input;
	uint32_t own_color[2]; /* the user's terminal: text, background; 0: unknown */
	char *config_dir;
	char *theme_name;   /* selected in the console; NULL: the option's */
	uint64_t look_seen; /* look_signature() */
	struct look_where where;

	uv_poll_t poll;
	uv_timer_t frame, esc;
	uint64_t patience_ms; /* pause before the next check of a client that is behind */
	bool torn;	      /* a frame was cut off: the next one is drawn in full */
	bool hurry;	      /* a key was pressed: the next frame is drawn at once */
	int64_t painted_us, rang_us;
	int64_t stalled_us; /* when the client was found not to read; 0: it reads */

	const struct borrower *borrower;
	bool lent;	      /* the borrower uses the terminal */
	struct split *split;  /* a tmux command that opens a pane; or NULL */
	bool away;	      /* the terminal has lost the focus */
	bool errand;	      /* the user leaves when the undo's page is closed */
	uint64_t errand_said; /* ui.n_said when the page was opened */
};

/* ---- host.c */
void host_open(struct host *h);
/* Opens a console on a client's connection, or closes the connection if the host is leaving. */
void host_take(void *host, int fd);
/* Closes the consoles and restores their terminals. The connections stay open for host_end(). The
 * loop must run once more. */
void host_stop(struct host *h);
/* Closes every handle of the loop, and the loop; after host_stop(). */
void host_close_loop(struct host *h);
/* Runs a host without a session, with its own loop and one console on the connection, until the
 * console leaves; then calls host_end(). begin: called once the console is open; or NULL. */
void host_run(struct host *h, struct frames *line, const struct terminal *terminal,
	      int (*begin)(struct host *h, struct err *err));
/* Takes over a connection without a console, so that host_end() tells its client, too. */
void host_keep_line(struct host *h, struct frames *line);
/* Prints a line on the terminals of the kept connections, while the session ends. */
void host_tell_leaving(struct host *h, const char *words);
/* Tells every client why the console is over. */
void host_end(struct host *h, const struct ending *end);
/* Notes that the agent printed. What follows a key at once is the echo, and no sign of work. */
void host_printed(struct host *h);
void host_say(struct host *h, const char *fmt, ...) PRINTF_LIKE(2, 3);
void host_schedule(struct host *h); /* repaints all */
void host_changed(struct host *h);  /* after a change of the model */
void host_tick(struct host *h);	    /* once a second */
void host_settle(struct host *h);   /* soon gives the agent's terminal the size of its pane */
/* Decrements `open`. */
void host_release(struct host *h);
void host_leave(struct host *h); /* the host ends after this turn of the loop */
/* Returns whether a console other than `but` (may be NULL) can answer questions. */
bool host_has_human(const struct host *h, const struct console *but);
void host_typed(struct console *c); /* after a key on this console */
bool host_is_away(const struct host *h);
/* Notifies the user as console.notify says. words are cordon's, in printable ASCII. */
void host_notify(struct host *h, const char *words);
void host_called(struct host *h); /* the agent asks for attention: BEL, OSC 9 or 777 */
void host_bell(struct host *h);

/* ---- console.c: one client */
/* Opens a console and takes over the connection, on which the client describes its terminal. */
struct console *console_open(struct host *h, struct frames *line);
/* Sets the client's terminal, if the host knows it. */
int console_greet(struct console *c, const struct terminal *t, struct err *err) MUST_USE;
/* Closes the console: restores the terminal and tells the client why. */
void console_end(struct console *c, const struct ending *end);
/* Closes the console without a message, and returns the connection to the caller. */
struct frames console_take_line(struct console *c);
void console_changed(struct console *c);     /* after a change of the model */
void console_schedule(struct console *c);    /* schedules a repaint */
void console_tell_colors(struct console *c); /* sets default colours of the agent's terminal */

/* reload.c: themes and keymaps */
int console_load_look(struct console *c, struct err *err) MUST_USE;
void console_watch_look(struct console *c); /* once a second */
int console_theme(void *data, const char *name, bool keep, struct err *err);
void console_themes(void *data, struct buf *names);
const char *console_theme_name(void *data);

/* lend.c: lends the client's terminal to another program until it ends. */
struct borrower {
	const char *name;	    /* "your editor" */
	bool (*broken)(int status); /* returns whether the program failed */
	const char *words;	    /* the message for a failure */
};
int console_lend(struct console *c, const struct borrower *to, char **argv, struct err *err);
void console_lent_ended(struct console *c, int status);

/* editor.c: struct ui_verbs, edit */
int console_edit(void *data, const char *path, int line, struct err *err);

/* split.c: runs a program of two words or more, or cordon with these words, in a new pane of the
 * tmux around the console. */
bool console_can_split(const struct console *c);
void console_split_program(struct console *c, const char *const *words, size_t n);
void console_split_abandon(struct console *c);
/* Returns the socket for tmux -S, on the heap; NULL if the client is not in tmux. */
char *console_tmux(const struct console *c) MUST_USE;
/* Closes the console; the session continues. words: a line for the shell, or NULL. */
void console_detach(struct console *c, char *words);
/* struct ui_verbs: attach, in a new pane */
void console_attach(void *data, const char *session);
/* struct ui_verbs, cordon */
int console_cordon(void *data, const char *const *words, size_t n, struct err *err);
/* struct ui_verbs: moment, in a new pane, else on the console's own terminal */
int console_moment(void *data, int64_t wall_us, struct err *err);

/* verbs.c: the actions of views; data is the console */
extern const struct ui_verbs console_verbs;
/* Removes the verbs that change the session, for a read-only user. */
void console_look_on(struct ui_verbs *v);
