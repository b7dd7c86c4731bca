/* terminal - the user's terminal, as a client describes it to the host that draws on it. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/buf.h"
#include "core/base/err.h"

/* Life: terminal_here() in the client -> terminal_put() -> terminal_get() in the host ->
 * terminal_done(), on both sides. */
#define TERMINAL_MAX 1000 /* more columns and rows are not drawn */

struct terminal {
	int w, h;					      /* columns, rows */
	char *term, *colorterm, *no_color, *tmux, *tmux_pane; /* from the environment, or NULL */
	char *lc_all, *lc_ctype, *lang;			      /* the same */
	bool plain;	/* lines of text instead of a screen */
	bool read_only; /* its user watches, and may change nothing */
	bool undo;	/* opened for the undo of the last turn; closes after it */
};

/* Opens the terminal of the standard descriptors, non-blocking and CLOEXEC. Returns a descriptor or
 * negative errno. */
int terminal_open(void);
/* Checks that input and output are a terminal. Returns 0, or -ENOTTY with the option that needs
 * none. */
int terminal_check(const char *option, struct err *err) MUST_USE;
/* Describes this process's terminal. 80x24 if the terminal does not report its size. */
void terminal_here(struct terminal *t);
void terminal_size(int fd, int *w, int *h); /* unchanged if the terminal does not report it */
void terminal_put(const struct terminal *t, struct buf *out);
int terminal_get(struct terminal *t, const struct span *data) MUST_USE; /* or -EPROTO */
void terminal_done(struct terminal *t);

/* Returns whether it supports private modes and DECSCUSR: false for the Linux console and VT100. */
bool terminal_is_modern(const struct terminal *t);
/* Returns whether it may get UTF-8. Without LANG it may: containers have none, but their terminals
 * support it. A terminal of 8-bit characters interprets the bytes 0x80 to 0x9f, which occur in
 * UTF-8. */
bool terminal_is_utf8(const struct terminal *t);
bool terminal_here_is_utf8(void); /* for this process's terminal */
