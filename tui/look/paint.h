/* paint - the bytes that turn the terminal's screen into another surface. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "tui/look/surface.h"
#include "tui/look/theme.h"

/*
 * Life:  paint_init() -> paint_frame() ... -> paint_done().
 * Sends: positions, SGR and text in the form that xterm and all that call themselves so understand,
 *        24 bits of colour included, whatever their terminfo entry says. After a character whose
 *        width the terminal may see otherwise, the position is set anew.
 * Trust: a control character in a cell becomes '?'.
 */
struct paint {
	struct surface shown;
	enum depth depth;
	bool eight;  /* no bright colours: bold instead */
	bool simple; /* a terminal such as vt100 or Linux's: nothing that is younger */
	bool ascii;  /* characters beyond ASCII become '?'; set after paint_init() */
	bool known;  /* the terminal shows what `shown` has */
	int x, y;    /* the terminal's cursor; x < 0: not known */
	struct style style;
	bool styled; /* the terminal's current style is `style` */
	struct cursor cursor;
};

void paint_init(struct paint *p, enum depth depth, bool eight, bool simple);
void paint_done(struct paint *p);
void paint_forget(struct paint *p); /* the terminal's content is unknown */
/* Appends the bytes to send; none if the terminal shows the surface already. */
void paint_frame(struct paint *p, const struct surface *f, struct buf *out);
