/* paint - the bytes that turn what a terminal shows into another surface. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "tui/look/surface.h"
#include "tui/look/theme.h"

/*
 * Life:  paint_init() -> paint_frame() ... -> paint_done().
 * Sends: positions, SGR and text in the form that xterm and all that call themselves so understand,
 *        24 bits of colour included, whatever their terminfo entry says. Nothing depends on how
 * wide the terminal thinks a character is: after one that it may see otherwise, the position is set
 * anew. Trust: a control character in a cell becomes '?'.
 */
struct paint {
	struct surface shown;
	enum depth depth;
	bool eight; /* no bright colours: bold instead */
	bool known; /* the terminal shows what `shown` has */
	int x, y;   /* its cursor; x < 0: somewhere */
	struct style style;
	bool styled; /* style is what it has */
	struct cursor cursor;
};

void paint_init(struct paint *p, enum depth depth, bool eight);
void paint_done(struct paint *p);
void paint_forget(struct paint *p); /* the terminal may show anything */
/* Appends what is to be sent; nothing when it shows that already. */
void paint_frame(struct paint *p, const struct surface *f, struct buf *out);
