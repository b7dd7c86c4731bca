/* filter - passes the harmless bytes of a program's output to the user's own terminal. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/buf.h"

/*
 * Text, colours, cursor movements, erasing and the usual modes pass. The filter drops all strings
 * (titles, the clipboard, links, sixel), keyboard protocols, C1 controls, bytes that are no UTF-8,
 * erasing of the scrollback, and all queries: the terminal's answer would be input of the user's
 * next shell. The pane of a console has a filter of its own, sieve.c, which feeds an emulator.
 */
struct term_filter {
	enum {
		FILTER_GROUND,
		FILTER_ESC,
		FILTER_CSI,
		FILTER_STRING,
		FILTER_STRING_ESC,
	} state;
	char seq[64]; /* the sequence so far, without ESC; a longer one is dropped */
	size_t len;
	char utf8[4];
	size_t utf8_len;
	uint32_t modes; /* that differ from a terminal at rest (filter.c: kept[]) */
	bool ascii;	/* the terminal speaks no UTF-8: other characters become '?' */
	bool coloured;	/* a colour or style may be in force */
	bool altered;	/* margins, a charset or a keypad mode may be changed */
};

/* Adds the bytes that pass to out. Zeroed memory is a filter
 * for a terminal that speaks UTF-8. */
void term_filter_feed(struct term_filter *f, const char *bytes, size_t len, struct buf *out);
/* Appends the sequences that undo changed modes, margins and colours. */
void term_filter_end(struct term_filter *f, struct buf *out);
