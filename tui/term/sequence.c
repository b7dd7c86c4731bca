/* sequence - the control sequences that libvterm may receive, and their form. */
/* SPDX-License-Identifier: MIT */
#include "tui/term/inside.h"

#include <string.h>

#include "core/base/clock.h"

/* Returns parameter i; the default if it is left out, or zero where zero has no meaning of its
 * own. */
static int arg_or(const struct sieve *s, unsigned i, int def)
{
	return i < s->nargs && s->arg[i] > 0 ? s->arg[i] : def;
}

static void save_cursor(struct term *t)
{
	sieve_emit(t, "\0337", 2);
	snapshot_saves_cursor(t);
	t->sieve.saved_pen = t->sieve.pen;
	t->sieve.saved_charset = t->sieve.charset;
}

static void restore_cursor(struct term *t)
{
	VTermPos pos;

	wrap_lost(t);
	sieve_emit(t, "\0338" CLAMP_CURSOR, 2 + sizeof(CLAMP_CURSOR) - 1);
	sieve_flush(t);
	/* libvterm would keep a pending wrap: the cursor is set again. */
	vterm_state_get_cursorpos(t->state, &pos);
	sieve_fmt(t, "\033[%dG", pos.col + 1);
	t->sieve.pen = t->sieve.saved_pen;
	t->sieve.charset = t->sieve.saved_charset;
	pen_emit(t);
}

static void soft_reset(struct term *t)
{
	struct sieve *s = &t->sieve;

	sieve_reset_margins(t);
	sieve_fmt(t, "\033[4l\033[?1l\033[?7h\033[?25h\033>");
	s->insert = s->nowrap = false;
	s->charset = s->saved_charset = (struct charset){0};
	s->pen = s->saved_pen = (struct pen){0};
	pen_emit(t);
}

/* Resets the terminal (RIS), and the modes that libvterm does not reset: alternate screen, mouse,
 * reverse video. */
static void hard_reset(struct term *t)
{
	struct sieve *s = &t->sieve;

	sieve_flush(t);
	wrap_lost(t);
	memset(t->keyboard, 0, sizeof(t->keyboard));
	reflow_forget(t);
	scrollback_end_line(&t->history);
	sieve_fmt(t, "\033[?1047l\033[?1000l\033[?1006l\033[?5l\033c\033[H\0337");
	s->region = s->insert = s->origin = s->nowrap = s->tabs = s->newline = false;
	snapshot_saves_cursor(t);
	s->charset = s->saved_charset = (struct charset){0};
	s->pen = s->saved_pen = (struct pen){0};
	t->held_until = 0;
	pen_emit(t);
	sieve_flush(t);
}

void sequence_esc(struct term *t, char final)
{
	struct sieve *s = &t->sieve;

	s->cost++;
	s->last = 0;
	if (s->intermed == '(' || s->intermed == ')') {
		s->charset.graphics[s->intermed == ')'] = final == '0';
		return;
	}
	if (s->intermed == '#' && final == '8') {
		wrap_lost(t);
		sieve_emit(t, "\033#8", 3);
	}
	if (s->intermed)
		return;
	switch (final) {
	case '7':
		save_cursor(t);
		break;
	case '8':
		restore_cursor(t);
		break;
	case 'c':
		hard_reset(t);
		break;
	case 'H':
		s->tabs = true;
		sieve_emit(t, "\033H", 2);
		break;
	case 'D':
	case 'E':
	case 'M':
		wrap_lost(t);
		sieve_fmt(t, "\033%c", final);
		break;
	case '=':
	case '>':
		sieve_fmt(t, "\033%c", final);
		break;
	default:
		break;
	}
}

static void set_margins(struct term *t)
{
	struct sieve *s = &t->sieve;
	int top = arg_or(s, 0, 1), bottom = MIN(arg_or(s, 1, t->rows), t->rows);

	if (top >= bottom)
		return;
	s->region = top != 1 || bottom != t->rows;
	if (s->region)
		sieve_fmt(t, "\033[%d;%dr", top, bottom);
	else
		sieve_emit(t, "\033[r", 3);
}

static void ansi_mode(struct term *t, int mode, char final)
{
	if (mode != 4 && mode != 20)
		return;
	if (mode == 4)
		t->sieve.insert = final == 'h';
	else
		t->sieve.newline = final == 'h';
	sieve_fmt(t, "\033[%d%c", mode, final);
}

/* Delays repaints until the agent ends its own, for a limited time (mode 2026). */
static void hold(struct term *t, bool on)
{
	sieve_flush(t);
	t->dirty = true;
	t->held_until = on ? clock_mono_us() + HOLD_US : 0;
}

/* Answers DECRQM for modes that libvterm does not know. */
static void request_mode(struct term *t, int mode)
{
	if (mode != 2026) {
		sieve_fmt(t, "\033[?%d$p", mode);
		return;
	}
	sieve_flush(t);
	if (t->held_until)
		respond_output("\033[?2026;1$y", 11, t);
	else
		respond_output("\033[?2026;2$y", 11, t);
}

/* Shows or leaves the alternate screen. restore: the cursor moves to its saved place. */
static void switch_screen(struct term *t, bool on, bool restore)
{
	sieve_flush(t);
	if (on && !t->alt) {
		snapshot_leaves_main(t);
		reflow_keep(t);
	}
	wrap_lost(t);
	sieve_fmt(t, "\033[?1047%c", on ? 'h' : 'l');
	if (restore)
		restore_cursor(t);
	sieve_flush(t);
	if (!on)
		reflow_back(t, restore);
}

static void dec_mode(struct term *t, int mode, char final)
{
	bool on = final == 'h';

	switch (mode) {
	case 1048:
		if (on)
			save_cursor(t);
		else
			restore_cursor(t);
		return;
	case 1049:
		if (on)
			save_cursor(t);
		switch_screen(t, on, !on);
		return;
	case 2026:
		hold(t, on);
		return;
	case 3: /* 80 or 132 columns: the width stays, the screen is cleared */
		wrap_lost(t);
		sieve_fmt(t, "\033[2J\033[H");
		return;
	case 47:
	case 1047: /* alternate screen */
		switch_screen(t, on, false);
		return;
	case 6:
		t->sieve.origin = on;
		wrap_lost(t);
		break;
	case 7:
		t->sieve.nowrap = !on;
		wrap_lost(t);
		break;
	case 1:	   /* cursor keys */
	case 5:	   /* reverse video */
	case 12:   /* a blinking cursor: stored, without effect */
	case 25:   /* cursor visible */
	case 1000: /* mouse: buttons, drags, moves */
	case 1002:
	case 1003:
	case 1004: /* focus */
	case 1005: /* mouse encodings */
	case 1006:
	case 1015:
	case 2004: /* bracketed paste */
		break;
	default:
		return;
	}
	sieve_fmt(t, "\033[?%d%c", mode, final);
}

/* Repeats the last character (REP); libvterm would loop for ever after a combining mark. */
static void repeat(struct term *t)
{
	struct sieve *s = &t->sieve;
	int n = MIN(arg_or(s, 0, 1), t->cols);
	int32_t cp = s->last;
	unsigned extra;
	int width;

	if (!cp)
		return;
	extra = pen_extra(t, &s->pen, "");
	width = glyph_class(t->glyphs, glyph_unalias(cp)) == GLYPH_NARROW ? 1 : 2;
	for (int i = 0; i < n; i++) {
		wrap_before(t, width);
		sieve_glyph(t, cp, extra);
		s->marks = 0;
		s->extra = extra;
		wrap_after(t, width);
	}
}

static void erase_display(struct term *t)
{
	int what = arg_or(&t->sieve, 0, 0);
	VTermPos pos;

	if (what == 3) {
		sieve_flush(t);
		term_forget_history(t);
	} else if (what < 3) {
		sieve_flush(t);
		vterm_state_get_cursorpos(t->state, &pos);
		if (!t->alt && (what == 2 || (what == 0 && !pos.row && !pos.col)))
			scrollback_end_line(&t->history); /* the next row is erased */
		sieve_fmt(t, "\033[%dJ", what);
	}
}

/* Handles sequences without a leader and an intermediate. */
static void csi_plain(struct term *t, char final)
{
	struct sieve *s = &t->sieve;

	/* Cursor movements, insertions and deletions have one number, 1 if left out. */
	if (strchr("@ABCDEFGILMPSXZ`adejk", final)) {
		sieve_fmt(t, "\033[%d%c", arg_or(s, 0, 1), final);
		s->last = 0;
		return;
	}
	switch (final) {
	case 'T': /* more parameters: an unsupported mouse mode */
		if (s->nargs <= 1)
			sieve_fmt(t, "\033[%dT", arg_or(s, 0, 1));
		break;
	case 'H':
	case 'f':
		sieve_fmt(t, "\033[%d;%dH", arg_or(s, 0, 1), arg_or(s, 1, 1));
		break;
	case 'J':
		erase_display(t);
		break;
	case 'K':
		if (arg_or(s, 0, 0) <= 2)
			sieve_fmt(t, "\033[%dK", arg_or(s, 0, 0));
		break;
	case 'b':
		repeat(t);
		return; /* keeps the character for a further REP */
	case 'c':
		if (arg_or(s, 0, 0) == 0)
			sieve_emit(t, "\033[c", 3);
		break;
	case 'g':
		s->tabs = true;
		if (arg_or(s, 0, 0) == 0 || arg_or(s, 0, 0) == 3)
			sieve_fmt(t, "\033[%dg", arg_or(s, 0, 0));
		break;
	case 'h':
	case 'l':
		for (unsigned i = 0; i < s->nargs; i++)
			ansi_mode(t, s->arg[i], final);
		break;
	case 'm':
		pen_sgr(t);
		return; /* keeps it, too: a repeated glyph may change its colour */
	case 'n':
		if (arg_or(s, 0, 0) == 5 || arg_or(s, 0, 0) == 6)
			sieve_fmt(t, "\033[%dn", arg_or(s, 0, 0));
		break;
	case 'r':
		set_margins(t);
		break;
	case 's':
		if (!s->nargs)
			save_cursor(t);
		break;
	case 'u':
		if (!s->nargs)
			restore_cursor(t);
		break;
	default:
		break;
	}
	s->last = 0;
}

static void csi_private(struct term *t, char final)
{
	struct sieve *s = &t->sieve;

	switch (final) {
	case 'h':
	case 'l':
		for (unsigned i = 0; i < s->nargs; i++)
			dec_mode(t, s->arg[i], final);
		break;
	case 'J':
		if (arg_or(s, 0, 0) <= 2)
			erase_display(t);
		break;
	case 'K':
		if (arg_or(s, 0, 0) <= 2)
			sieve_fmt(t, "\033[%dK", arg_or(s, 0, 0));
		break;
	case 'n':
		if (arg_or(s, 0, 0) == 6)
			sieve_emit(t, "\033[?6n", 5);
		break;
	default:
		break;
	}
	s->last = 0;
}

void sequence_csi(struct term *t, char final)
{
	struct sieve *s = &t->sieve;

	s->cost += final != 'm';
	if (strchr("ABCDEFGHIZ`adefjkr", final)) /* they may move the cursor */
		wrap_lost(t);
	if (s->leader && !s->intermed && final == 'u')
		respond_keyboard(t, s->leader, arg_or(s, 0, -1), arg_or(s, 1, -1));
	else if (!s->leader && !s->intermed)
		csi_plain(t, final);
	else if (s->leader == '?' && !s->intermed)
		csi_private(t, final);
	else if (s->leader == '>' && !s->intermed && final == 'c' && arg_or(s, 0, 0) == 0)
		sieve_emit(t, "\033[>c", 4);
	else if (s->leader == '>' && !s->intermed && final == 'q' && arg_or(s, 0, 0) == 0)
		respond_version(t);
	else if (s->leader == '?' && s->intermed == '$' && final == 'p')
		request_mode(t, arg_or(s, 0, 0));
	else if (!s->leader && s->intermed == ' ' && final == 'q' && arg_or(s, 0, 0) <= 6)
		sieve_fmt(t, "\033[%d q", arg_or(s, 0, 0));
	else if (!s->leader && s->intermed == '!' && final == 'p')
		soft_reset(t);
}
