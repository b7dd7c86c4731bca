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

#include <uv.h> /* last: it brings a MIN of its own */

#define N_SIGNALS 3

struct console;
struct feed;

/*
 * The host: one model, the agent's terminal, and the consoles that show them, each for one client.
 * Life:    host_open() -> host_add() for each client -> host_leave(), by which a loop of its own
 *          ends -> host_close().
 * Threads: main loop.
 */
struct host {
	uv_loop_t *loop;
	struct model *model;
	struct session *session; /* NULL: a recording is shown */
	const struct console_options *opt;
	const char *folder, *const *folders, *state_dir, *home; /* of the session; borrowed */
	const struct ui_verbs *verbs;
	struct term *term;		   /* NULL: the session has no terminal of its own */
	struct pty pty;			   /* fd -1: the terminal is not the host's */
	int pane_w, pane_h;		   /* size of the agent's terminal */
	struct console *consoles, *latest; /* latest: the console with the last key */
	struct replay *replay;
	bool board;  /* shows the list of all sessions, and has no session */
	bool prints; /* the terminal shows what the agent prints, and takes no keys */
	bool quiet;  /* the activity begins without the agent's own system calls */

	/* A console has gone: its client died (lost), or left. With host_run() it may be NULL. */
	void (*left)(struct host *h, bool lost);
	int (*status)(const struct host *h); /* for the shell, once the agent has ended; or NULL */
	void (*heard)(
		struct host *h); /* a user did something: there may be bytes to send; or NULL */
	void (*resized)(struct host *h, int w, int h_); /* the agent's terminal; may be NULL */

	struct frames *lines; /* of consoles that host_stop() has closed */
	size_t n_lines;
	uv_timer_t settle, second;	/* second: of host_run() */
	int open;			/* number of open timers and running jobs */
	void (*closed)(struct host *h); /* `open` is 0 after host_stop(); or NULL */
	bool leaving;			/* no new work begins */
	bool over;			/* the feed has ended: the user can only leave */
	bool again;			/* the agent is to be started anew */
	int killed_by;			/* a signal that ends the session */
	int failed;			/* 125..127: the agent never ran */
	char words[512];
	uint64_t ask_seen; /* the newest request that the user was alerted to */
	/* Times: the user sent a line, was alerted, was called; a key came. For host_rests(). */
	int64_t sent_us, alerted_us, called_us, typed_us;
	bool agent_asked; /* the user was alerted to the agent's own question */
};

/* One client's console: its screen, its layout, its keys. */
struct console {
	struct host *host;
	struct console *next;
	const struct console_options *opt;
	struct frames line;
	struct terminal terminal;
	struct ui_verbs verbs; /* the host's; a read-only user has less */
	bool starter; /* of the client that started the host: it can end it, or begin anew */
	bool greeted; /* the client has described its terminal */
	bool closing;
	int handles; /* number of open libuv handles */
	struct screen *screen;
	struct surface surface;
	struct theme theme;
	struct keymap *keymap;
	struct ui *ui;
	struct plain *plain; /* lines of text in place of the screen; or NULL */
	struct input input;
	uint32_t own_color[2]; /* of the user's terminal: text, background; 0: not known */
	char *config_dir;
	char *theme_name;   /* chosen in the console; NULL: the option's */
	uint64_t look_seen; /* look_signature() */
	struct look_where where;

	uv_poll_t poll;
	uv_timer_t frame, esc;
	uint64_t patience_ms; /* pause before the next check whether the client has read */
	bool torn;	      /* a frame was cut off: the next one is complete */
	bool hurry;	      /* a key came: the next frame is drawn at once */
	int64_t painted_us, rang_us;
	int64_t stalled_us; /* since when the client has not read; 0: it reads */

	const struct borrower *borrower;
	bool lent;	      /* the borrower has the terminal */
	struct split *split;  /* a tmux command that makes a pane; or NULL */
	bool away;	      /* the terminal has lost the focus */
	bool errand;	      /* its user leaves when the undo's page is closed */
	uint64_t errand_said; /* ui.n_said as the page was opened */
};

/* ---- host.c */
void host_open(struct host *h);
/* Opens a console on the connection of a client, which is closed if the host leaves. */
void host_take(void *host, int fd);
/* Closes the consoles and restores their terminals. Their lines stay open, for host_end(). The loop
 * must run once more. */
void host_stop(struct host *h);
/* Closes every handle of the loop, and the loop. After host_stop(). */
void host_close_loop(struct host *h);
/*
 * Runs a host without a session, with a loop of its own and one console on the line, until the
 * console leaves; then host_end(). begin: called once the console is open; or NULL.
 */
void host_run(struct host *h, struct frames *line, const struct terminal *terminal,
	      int (*begin)(struct host *h, struct err *err));
/* Keeps a line without a console, so that host_end() tells its client, too; takes it over. */
void host_keep_line(struct host *h, struct frames *line);
/* Prints a line on the terminals of the kept lines, while the session ends. */
void host_tell_leaving(struct host *h, const char *words);
/* Tells every client why the console is over. */
void host_end(struct host *h, const struct ending *end);
void host_say(struct host *h, const char *fmt, ...) PRINTF_LIKE(2, 3);
void host_schedule(struct host *h); /* repaint all */
void host_changed(struct host *h);  /* the model is newer */
void host_tick(struct host *h);	    /* once a second */
void host_settle(struct host *h);   /* the agent's terminal takes the size of its pane, soon */
/* Decrements `open`. */
void host_release(struct host *h);
void host_leave(struct host *h); /* the host ends after this turn of the loop */
/* Returns whether a console other than `but` (may be NULL) can answer. */
bool host_has_human(const struct host *h, const struct console *but);
void host_typed(struct console *c); /* a key came on this console */
bool host_is_away(const struct host *h);
/* Notifies the user as console.notify says. words are cordon's own, printable ASCII. */
void host_notify(struct host *h, const char *words);
void host_called(struct host *h); /* the agent calls for a look: BEL, OSC 9 or 777 */
void host_bell(struct host *h);

/* ---- console.c: one client */
/* Opens a console and takes over the line, on which the client describes its terminal. */
struct console *console_open(struct host *h, struct frames *line);
/* Sets the client's terminal, if the host knows it already. */
int console_greet(struct console *c, const struct terminal *t, struct err *err) MUST_USE;
/* Closes the console: restores the terminal and tells the client why. */
void console_end(struct console *c, const struct ending *end);
/* Closes the console without a message, and returns the line to the caller. */
struct frames console_take_line(struct console *c);
void console_changed(struct console *c);     /* the model is newer */
void console_schedule(struct console *c);    /* a repaint, soon */
void console_tell_colors(struct console *c); /* sets default colours of the agent's terminal */
void console_resize(struct console *c, int w, int h);

/* reload.c: themes and keymaps */
int console_load_look(struct console *c, struct err *err) MUST_USE;
void console_watch_look(struct console *c); /* once a second */
int console_theme(void *data, const char *name, bool keep, struct err *err);
void console_themes(void *data, struct buf *names);
const char *console_theme_name(void *data);

/* lend.c: the client's terminal for another program, until it has ended. */
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
 * tmux that the console runs in. */
bool console_can_split(const struct console *c);
void console_split_program(struct console *c, const char *const *words, size_t n);
void console_split(struct console *c, const char *const *words, size_t n);
void console_split_abandon(struct console *c);
/* Returns tmux's socket for tmux -S, heap; NULL: the client is not in tmux. */
char *console_tmux(const struct console *c) MUST_USE;
/* Closes the console; the session goes on. words: a line for the shell, or NULL. */
void console_detach(struct console *c, char *words);
/* struct ui_verbs, attach, there */
void console_attach(void *data, const char *session);
/* struct ui_verbs, cordon */
int console_cordon(void *data, const char *const *words, size_t n, struct err *err);
/* struct ui_verbs, moment: there, else on the console's own terminal */
int console_moment(void *data, int64_t wall_us, struct err *err);

/* verbs.c: the actions of views; data is the console */
extern const struct ui_verbs console_verbs;
/* Removes the verbs that change the session, for a read-only user. */
void console_look_on(struct ui_verbs *v);
