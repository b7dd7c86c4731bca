/* input - decodes bytes from the user's terminal into keys, pastes, mouse, focus and colours. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/buf.h"

/*
 * Understands the sequences of xterm and its relatives (CSI, SS3, SGR mouse, bracketed paste,
 * modifiers as in "CSI 1;5A", CSI u), the Linux console and rxvt. Other sequences are dropped. A
 * lone Esc is ambiguous: it stays pending until the next byte, or until input_flush() is called
 * (the console does so 25 ms later).
 *
 * One reply is understood: the terminal's own colour (OSC 10 and 11, as "rgb:1/2/3"), for which
 * screen.c asks. Bytes of a late reply never become keys.
 */
enum {
	MOD_SHIFT = 1,
	MOD_ALT = 2,
	MOD_CTRL = 4,
};

/* Values beyond Unicode; code points stand for themselves (Enter is '\r', Tab '\t', Esc 0x1b,
 * Backspace 0x7f). */
enum keysym {
	SYM_UP = 0x110000,
	SYM_DOWN,
	SYM_RIGHT,
	SYM_LEFT,
	SYM_HOME,
	SYM_END,
	SYM_INSERT,
	SYM_DELETE,
	SYM_PAGE_UP,
	SYM_PAGE_DOWN,
	SYM_F1, /* F2 is SYM_F1 + 1, ... F12 */
	SYM_F12 = SYM_F1 + 11,
	SYM_END_OF_LIST,
};
#define SYM_ENTER     ((uint32_t)'\r')
#define SYM_TAB	      ((uint32_t)'\t')
#define SYM_ESC	      0x1bu
#define SYM_BACKSPACE 0x7fu

/* Control keys are the letter with MOD_CTRL ('c' + MOD_CTRL, ']' + MOD_CTRL, ' ' + MOD_CTRL for
 * NUL), except Enter, Tab, Esc and Backspace, which have their own symbols. MOD_SHIFT is set for
 * named keys alone: a capital letter is its code point. */
struct key {
	uint32_t sym;
	uint32_t mods;
};

enum event_type {
	EVENT_KEY,
	EVENT_PASTE,
	EVENT_MOUSE,
	EVENT_FOCUS,
	EVENT_COLOR,
};

enum mouse_action {
	MOUSE_PRESS,
	MOUSE_RELEASE,
	MOUSE_DRAG, /* moved with a button down */
	MOUSE_MOVE,
	MOUSE_WHEEL_UP,
	MOUSE_WHEEL_DOWN,
};

struct mouse {
	enum mouse_action action;
	int button; /* 1 left, 2 middle, 3 right; 0 none */
	int x, y;   /* 0-based cells of the screen */
	uint32_t mods;
	bool twice; /* a double click; set by the ui */
};

struct event {
	enum event_type type;
	struct key key;
	struct mouse mouse;
	struct span paste; /* part of a paste; valid until the next input_ call */
	bool paste_begins, paste_ends;
	bool focused;
	bool background; /* color is the background's; else the text's */
	uint32_t color;	 /* COLOR_RGB() */
};

struct input {
	struct buf bytes;
	size_t used;
	bool pasting, paste_started;
	bool due;     /* input_flush() was called: incomplete sequences count as they are */
	bool overdue; /* a colour report was cut off by the time-out; its rest is skipped */
};

void input_init(struct input *in);
void input_done(struct input *in);
void input_feed(struct input *in, const char *data, size_t len);
bool input_next(struct input *in, struct event *ev); /* false: no complete event is left */
bool input_pending(const struct input *in);	     /* an unfinished sequence is waiting */
/* Ends a time-out: pending bytes are decoded as they are; a lone Esc becomes the Esc key. */
void input_flush(struct input *in);
