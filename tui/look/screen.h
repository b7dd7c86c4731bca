/* screen - shows surfaces on a terminal that a client relays to. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/err.h"
#include "tui/look/surface.h"
#include "tui/look/terminal.h"
#include "tui/look/theme.h"

/*
 * Life:   screen_check() before anything forks -> screen_open() -> screen_close(). Any number, each
 *         for another terminal.
 * Bytes:  no function here has a descriptor of the terminal: each frame is given to `send` as a
 *         whole.
 * Curses: only this file and tui/term use it, and only its terminfo.
 */
struct screen;

struct screen_options {
	bool mouse;
	const struct terminal *terminal; /* copied */
	void (*send)(void *data, const char *bytes, size_t len);
	void *data;
};

/* Returns -ENOENT if terminfo does not know TERM, unless it is like xterm: then it is replaced. */
int screen_check(struct terminal *t, struct err *err) MUST_USE;
int screen_open(struct screen **ret, const struct screen_options *opt, struct err *err) MUST_USE;
void screen_close(struct screen *s); /* NULL is a no-op */

enum depth screen_depth(const struct screen *s);
bool screen_wants_ascii(const struct screen *s); /* no UTF-8, or no box drawing */
void screen_resize(struct screen *s, int w, int h);
bool screen_draw(struct screen *s, const struct surface *surface); /* false: nothing to send */
void screen_redraw(struct screen *s); /* the next draw paints everything */
void screen_bell(struct screen *s);
/* Sends a notification (OSC 9), if the terminal may support it. words are cordon's, in printable
 * ASCII. */
void screen_notify(struct screen *s, const char *words);
/* Sets the terminal's title, until the screen is closed or suspended; escaped text. */
void screen_title(struct screen *s, const char *words);
/* Sets the terminal's clipboard (OSC 52). Returns false if the terminal cannot have one. */
bool screen_clipboard(struct screen *s, const char *base64);
/* Restores the modes that a shell expects; or sets all of the console's modes, also after the
 * client has reset them. */
void screen_suspend(struct screen *s);
void screen_resume(struct screen *s);
/* Returns "ncurses 6.4.20221231", the version that is loaded. */
const char *screen_library(void);
