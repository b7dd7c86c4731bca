/* screen - the human's terminal: shows surfaces, gives bytes, and is always put back. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/err.h"
#include "tui/look/surface.h"
#include "tui/look/theme.h"

/*
 * Life:   screen_check() before anything forks -> screen_open() -> screen_close(). One at a time.
 * Files:  the terminal is opened anew, twice: polled input is non-blocking, and O_NONBLOCK on a
 *         shared fd 0 would cut the writes of everybody else who has it.
 * Crash:  fatal signals, abort() and running out of memory put the terminal back before the process
 *         goes; only SIGKILL cannot be caught.
 * Curses: this file and tui/term are the only ones that know it.
 */
struct screen;

struct screen_options {
	bool mouse;
};

/* Is there a terminal, and is its TERM known? -ENOTTY or -ENOENT with words. */
int screen_check(struct err *err) MUST_USE;
/* Columns and rows before screen_open(); 80x24 when the terminal does not say. */
void screen_probe_size(int *w, int *h);
int screen_open(struct screen **ret, const struct screen_options *opt, struct err *err) MUST_USE;
void screen_close(struct screen *s); /* NULL is a no-op */

int screen_fd(const struct screen *s); /* input, non-blocking */
enum depth screen_depth(const struct screen *s);
bool screen_wants_ascii(const struct screen *s); /* no UTF-8, or a terminal without box drawing */
/* After SIGWINCH. */
void screen_resized(struct screen *s, int *w, int *h);
bool screen_draw(struct screen *s, const struct surface *surface); /* false: nothing to send */
void screen_redraw(struct screen *s); /* the next draw paints everything */
void screen_bell(struct screen *s);
/* A notification of the terminal's own (OSC 9) where it may know them; words are cordon's,
 * printable ASCII. */
void screen_notify(struct screen *s, const char *words);
/* The terminal's title, until it is closed or suspended; escaped text. */
void screen_title(struct screen *s, const char *words);
/* Into the terminal's clipboard (OSC 52), as base64. False: it is not one that may have one. */
bool screen_clipboard(struct screen *s, const char *base64);
/* Give the terminal back to the shell, and take it again after SIGCONT (also after one that came
 * without screen_suspend(): the shell may have changed the terminal meanwhile). */
void screen_suspend(struct screen *s);
void screen_resume(struct screen *s);
/* Put the terminal back from wherever the process is; async-signal-safe. */
void screen_rescue(void);
/* "ncurses 6.4.20221231", of the one that is loaded. */
const char *screen_library(void);
