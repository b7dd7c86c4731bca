/* encode - encodes the user's keys, pastes and mouse events for the agent. */
/* SPDX-License-Identifier: MIT */
#include "tui/term/inside.h"

#include <string.h>

/* libvterm knows the modes (cursor keys, mouse protocol, bracketed paste, focus) and encodes what
 * depends on them. Characters are encoded here, in the traditional way: libvterm would send Ctrl-J
 * as "CSI 106;5u", unasked. */

/* Returns the control character of a key, or -1 if it has none. */
static int control_of(uint32_t sym)
{
	if (sym >= 'a' && sym <= 'z')
		return (int)sym & 0x1f;
	if (sym >= '@' && sym <= '_')
		return (int)sym & 0x1f;
	switch (sym) {
	case ' ':
	case '2':
		return 0;
	case '3':
	case '4':
	case '5':
	case '6':
	case '7':
		return (int)sym - '3' + 0x1b;
	case '/':
		return 0x1f;
	case '8':
	case '?':
		return 0x7f;
	case SYM_BACKSPACE:
		return '\b';
	default:
		return -1;
	}
}

static void send_char(struct term *t, uint32_t sym, uint32_t mods)
{
	char out[5] = "\033";
	size_t len = mods & MOD_ALT ? 1 : 0;
	int control = mods & MOD_CTRL ? control_of(sym) : -1;

	if (control >= 0)
		out[len++] = (char)control;
	else
		len += glyph_utf8((int32_t)sym, out + len);
	term_output(t, out, len);
}

/*
 * Sends Esc, and every key with Ctrl or Alt, as "CSI code ; modifiers u", if the program asked for
 * it (https://sw.kovidgoyal.net/kitty/keyboard-protocol/). Enter, Tab and Backspace without
 * modifiers keep their bytes, so that "reset" can be typed after a crash of the program. Returns
 * false for keys that are encoded in the traditional way.
 */
static bool send_plain(struct term *t, const struct key *key)
{
	uint32_t sym = key->sym, mods = key->mods & (MOD_SHIFT | MOD_ALT | MOD_CTRL);
	bool named = sym == SYM_ENTER || sym == SYM_TAB || sym == SYM_BACKSPACE;
	char out[32];
	unsigned bits;

	if (sym >= SYM_UP || (sym != SYM_ESC && !(named ? mods : mods & (MOD_ALT | MOD_CTRL))))
		return false;
	if (sym >= 'A' && sym <= 'Z') { /* the key, not the letter */
		sym += 'a' - 'A';
		mods |= MOD_SHIFT;
	}
	bits = (mods & MOD_SHIFT ? 1u : 0) | (mods & MOD_ALT ? 2u : 0) | (mods & MOD_CTRL ? 4u : 0);
	snprintf(out, sizeof(out), bits ? "\033[%u;%uu" : "\033[%uu", sym, bits + 1);
	term_output(t, out, strlen(out));
	return true;
}

static bool send_key(struct term *t, const struct key *key)
{
	static const VTermKey named[] = {
		[0] = VTERM_KEY_UP,
		[SYM_DOWN - SYM_UP] = VTERM_KEY_DOWN,
		[SYM_RIGHT - SYM_UP] = VTERM_KEY_RIGHT,
		[SYM_LEFT - SYM_UP] = VTERM_KEY_LEFT,
		[SYM_HOME - SYM_UP] = VTERM_KEY_HOME,
		[SYM_END - SYM_UP] = VTERM_KEY_END,
		[SYM_INSERT - SYM_UP] = VTERM_KEY_INS,
		[SYM_DELETE - SYM_UP] = VTERM_KEY_DEL,
		[SYM_PAGE_UP - SYM_UP] = VTERM_KEY_PAGEUP,
		[SYM_PAGE_DOWN - SYM_UP] = VTERM_KEY_PAGEDOWN,
	};
	VTermModifier mods = (VTermModifier)(key->mods & (MOD_SHIFT | MOD_ALT | MOD_CTRL));

	if (term_keys_are_plain(t) && send_plain(t, key))
		return true;
	if (key->sym >= SYM_F1 && key->sym <= SYM_F12)
		vterm_keyboard_key(t->vt, (VTermKey)VTERM_KEY_FUNCTION(key->sym - SYM_F1 + 1),
				   mods);
	else if (key->sym >= SYM_UP && key->sym - SYM_UP < ARRAY_LEN(named))
		vterm_keyboard_key(t->vt, named[key->sym - SYM_UP], mods);
	else if (key->sym == SYM_TAB && mods & MOD_SHIFT)
		vterm_keyboard_key(t->vt, VTERM_KEY_TAB, VTERM_MOD_SHIFT);
	else if (key->sym == SYM_ENTER)
		/* Agents read ESC CR (Alt-Enter) as a line end within a prompt. */
		vterm_keyboard_key(t->vt, VTERM_KEY_ENTER, mods ? VTERM_MOD_ALT : VTERM_MOD_NONE);
	else if (key->sym < SYM_UP)
		send_char(t, key->sym, key->mods);
	return true;
}

/* Sends pasted text without control characters other than tabs and line ends, so that a paste
 * cannot end itself and continue as if it were typed. */
static void send_paste(struct term *t, struct span text)
{
	char out[512];
	size_t n = 0;

	for (size_t i = 0; i < text.len; i++) {
		unsigned char c = (unsigned char)text.data[i];
		bool cr = t->paste_cr;

		t->paste_cr = c == '\r';
		if (c == '\n' && cr)
			continue;
		if (c == '\n')
			c = '\r';
		if ((c < 0x20 && c != '\t' && c != '\r') || c == 0x7f)
			continue;
		if (c == 0xc2 && i + 1 < text.len && (unsigned char)text.data[i + 1] < 0xa0) {
			i++; /* C1 */
			continue;
		}
		out[n++] = (char)c;
		if (n == sizeof(out)) {
			term_output(t, out, n);
			n = 0;
		}
	}
	if (n)
		term_output(t, out, n);
}

static void paste(struct term *t, const struct event *ev)
{
	if (ev->paste_begins) {
		t->paste_cr = false;
		vterm_keyboard_start_paste(t->vt);
	}
	send_paste(t, ev->paste);
	if (ev->paste_ends)
		vterm_keyboard_end_paste(t->vt);
}

static void mouse(struct term *t, const struct mouse *m, struct rect r)
{
	VTermModifier mods = (VTermModifier)(m->mods & (MOD_SHIFT | MOD_ALT | MOD_CTRL));
	bool inside = rect_has(r, m->x, m->y) && m->x - r.x < t->cols && m->y - r.y < t->rows;
	int col = MIN(MAX(m->x - r.x, 0), t->cols - 1), row = MIN(MAX(m->y - r.y, 0), t->rows - 1);

	if (!t->mouse)
		return;
	/* A drag or release outside may belong to a press inside; other events outside do not
	 * count. */
	if (!inside && m->action != MOUSE_RELEASE && m->action != MOUSE_DRAG)
		return;
	if (!inside && !t->pressed)
		return;
	vterm_mouse_move(t->vt, row, col, mods);
	switch (m->action) {
	case MOUSE_PRESS:
		t->pressed = true;
		vterm_mouse_button(t->vt, m->button, true, mods);
		break;
	case MOUSE_RELEASE:
		t->pressed = false;
		for (int button = 1; button <= 3; button++)
			if (!m->button || m->button == button)
				vterm_mouse_button(t->vt, button, false, mods);
		break;
	case MOUSE_WHEEL_UP:
	case MOUSE_WHEEL_DOWN:
		vterm_mouse_button(t->vt, m->action == MOUSE_WHEEL_UP ? 4 : 5, true, mods);
		break;
	case MOUSE_DRAG:
	case MOUSE_MOVE:
		break;
	}
}

bool term_input(struct term *t, const struct event *ev, struct rect r)
{
	t->typing = true;
	t->sent = false;
	switch (ev->type) {
	case EVENT_KEY:
		send_key(t, &ev->key);
		break;
	case EVENT_PASTE:
		paste(t, ev);
		break;
	case EVENT_MOUSE:
		mouse(t, &ev->mouse, r);
		break;
	case EVENT_FOCUS:
		if (ev->focused)
			vterm_state_focus_in(t->state);
		else
			vterm_state_focus_out(t->state);
		break;
	case EVENT_COLOR:
		break;
	}
	t->typing = false;
	return t->sent;
}
