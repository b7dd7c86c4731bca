/* input - decodes bytes from the user's terminal into keys, pastes, mouse, focus and colours. */
/* SPDX-License-Identifier: MIT */
#include "tui/look/input.h"

#include <string.h>

#include "core/base/text.h"
#include "tui/look/surface.h"

#define SEQUENCE_MAX 64 /* a longer one is no key */
#define PARAMS_MAX   6
#define PASTE_END    "\033[201~"
#define COLOR_HEAD   "\033]1?;rgb:" /* ? is 0 or 1 */
#define COLOR_BODY   "0123456789abcdefABCDEF/"

void input_init(struct input *in)
{
	*in = (struct input){.bytes = BUF_INIT};
}

void input_done(struct input *in)
{
	buf_done(&in->bytes);
}

void input_feed(struct input *in, const char *data, size_t len)
{
	buf_drop_front(&in->bytes, in->used);
	in->used = 0;
	in->due = false;
	buf_add(&in->bytes, data, len);
}

bool input_pending(const struct input *in)
{
	return in->used < in->bytes.len;
}

static struct event key_event(uint32_t sym, uint32_t mods)
{
	return (struct event){.type = EVENT_KEY, .key = {sym, mods}};
}

/* Returns a byte below 0x20, or 0x7f, as a key. */
static struct event control_event(unsigned char c, uint32_t mods)
{
	switch (c) {
	case '\r':
	case '\t':
	case 0x1b:
	case 0x7f:
		return key_event(c, mods);
	case 0:
		return key_event(' ', mods | MOD_CTRL);
	default:
		return key_event(c < 27 ? (uint32_t)c + 'a' - 1 : (uint32_t)c + '@',
				 mods | MOD_CTRL);
	}
}

struct csi {
	char mark;  /* '<', '?', '>' or 0 */
	char final; /* */
	int n;
	int param[PARAMS_MAX];
	bool linux_fkey; /* CSI [ A */
};

/* Parses the bytes after "ESC [". Returns the bytes used, 0 if incomplete, -1 if invalid. */
static int csi_parse(const char *p, size_t len, struct csi *csi)
{
	size_t i = 0;

	*csi = (struct csi){0};
	if (len > 0 && strchr("<?>=", p[0]) && p[0])
		csi->mark = p[i++];
	else if (len > 1 && p[0] == '[') {
		csi->linux_fkey = true;
		csi->final = p[1];
		return 2;
	} else if (len == 1 && p[0] == '[') {
		return 0;
	}
	for (; i < len && i < SEQUENCE_MAX; i++) {
		unsigned char c = (unsigned char)p[i];

		if (c >= '0' && c <= '9') {
			if (csi->n == 0)
				csi->n = 1;
			if (csi->n <= PARAMS_MAX && csi->param[csi->n - 1] < 100000)
				csi->param[csi->n - 1] = csi->param[csi->n - 1] * 10 + (c - '0');
		} else if (c == ';') {
			csi->n = MAX(csi->n, 1) + 1;
		} else if (c == ':') {
			while (i + 1 < len &&
			       ((p[i + 1] >= '0' && p[i + 1] <= '9') || p[i + 1] == ':'))
				i++; /* sub-parameters are ignored */
		} else if ((c >= 0x40 && c <= 0x7e) || (c == '$' && !csi->mark)) {
			csi->final = p[i]; /* rxvt ends shifted keys with $ */
			csi->n = MIN(csi->n, PARAMS_MAX);
			return (int)i + 1;
		} else if (c < 0x20 || c > 0x3f) {
			return -1;
		}
	}
	return i < SEQUENCE_MAX ? 0 : -1;
}

static uint32_t mods_of(int param)
{
	uint32_t bits = param > 0 ? (uint32_t)param - 1 : 0;

	return (bits & 1 ? MOD_SHIFT : 0u) | (bits & 2 ? MOD_ALT : 0u) | (bits & 4 ? MOD_CTRL : 0u);
}

static uint32_t letter_key(char final)
{
	switch (final) {
	case 'A':
		return SYM_UP;
	case 'B':
		return SYM_DOWN;
	case 'C':
		return SYM_RIGHT;
	case 'D':
		return SYM_LEFT;
	case 'H':
		return SYM_HOME;
	case 'F':
		return SYM_END;
	case 'P':
	case 'Q':
	case 'R':
	case 'S':
		return SYM_F1 + (uint32_t)(final - 'P');
	case 'M':
		return SYM_ENTER;
	default:
		return 0;
	}
}

static uint32_t tilde_key(int n)
{
	static const uint32_t keys[] = {
		[1] = SYM_HOME,	   [2] = SYM_INSERT,	[3] = SYM_DELETE,   [4] = SYM_END,
		[5] = SYM_PAGE_UP, [6] = SYM_PAGE_DOWN, [7] = SYM_HOME,	    [8] = SYM_END,
		[11] = SYM_F1,	   [12] = SYM_F1 + 1,	[13] = SYM_F1 + 2,  [14] = SYM_F1 + 3,
		[15] = SYM_F1 + 4, [17] = SYM_F1 + 5,	[18] = SYM_F1 + 6,  [19] = SYM_F1 + 7,
		[20] = SYM_F1 + 8, [21] = SYM_F1 + 9,	[23] = SYM_F1 + 10, [24] = SYM_F1 + 11,
	};

	return n > 0 && n < (int)ARRAY_LEN(keys) ? keys[n] : 0;
}

/* SGR mouse: CSI < button ; x ; y M or m. */
static bool mouse_event(const struct csi *csi, struct event *ev)
{
	int b = csi->param[0];
	struct mouse *m = &ev->mouse;

	if (csi->n < 3)
		return false;
	*ev = (struct event){.type = EVENT_MOUSE};
	m->x = csi->param[1] - 1;
	m->y = csi->param[2] - 1;
	m->mods = (b & 4 ? MOD_SHIFT : 0u) | (b & 8 ? MOD_ALT : 0u) | (b & 16 ? MOD_CTRL : 0u);
	if (b & 64) {
		m->action = b & 1 ? MOUSE_WHEEL_DOWN : MOUSE_WHEEL_UP;
		return (b & 3) < 2 && csi->final == 'M';
	}
	m->button = (b & 3) == 3 ? 0 : (b & 3) + 1;
	if (csi->final == 'm')
		m->action = MOUSE_RELEASE;
	else if (b & 32)
		m->action = m->button ? MOUSE_DRAG : MOUSE_MOVE;
	else
		m->action = MOUSE_PRESS;
	return true;
}

/* Decodes a code point with modifiers (xterm's modifyOtherKeys, CSI u). */
static bool code_event(int code, uint32_t mods, struct event *ev)
{
	if (code <= 0 || code >= 0x110000 || (code >= 0xd800 && code < 0xe000))
		return false;
	if (code < 0x20 || code == 0x7f) {
		*ev = control_event((unsigned char)code, mods);
		return true;
	}
	if (!(mods & MOD_CTRL))
		mods &= ~(uint32_t)MOD_SHIFT;
	if (mods & MOD_CTRL && code >= 'A' && code <= 'Z')
		code += 'a' - 'A';
	*ev = key_event((uint32_t)code, mods);
	return true;
}

/* Returns false if the sequence is not supported. */
static bool csi_event(struct input *in, const struct csi *csi, struct event *ev)
{
	uint32_t mods = mods_of(csi->n > 1 ? csi->param[1] : 0);
	uint32_t sym;

	if (csi->linux_fkey) {
		*ev = key_event(SYM_F1 + (uint32_t)(csi->final - 'A'), 0);
		return csi->final >= 'A' && csi->final <= 'E';
	}
	if (csi->mark == '<' && (csi->final == 'M' || csi->final == 'm'))
		return mouse_event(csi, ev);
	if (csi->mark)
		return false; /* an unsolicited reply */
	switch (csi->final) {
	case 'I':
	case 'O':
		*ev = (struct event){.type = EVENT_FOCUS, .focused = csi->final == 'I'};
		return true;
	case 'Z':
		*ev = key_event(SYM_TAB, MOD_SHIFT);
		return true;
	case 'u':
		return code_event(csi->param[0], mods, ev);
	case '~':
		if (csi->param[0] == 200) {
			in->pasting = in->paste_started = true;
			return false;
		}
		if (csi->param[0] == 27 && csi->n >= 3)
			return code_event(csi->param[2], mods, ev);
		sym = tilde_key(csi->param[0]);
		break;
	case '$':
	case '^':
		sym = tilde_key(csi->param[0]);
		mods = csi->final == '$' ? MOD_SHIFT : MOD_CTRL;
		break;
	default:
		sym = letter_key(csi->final);
	}
	*ev = key_event(sym, mods);
	return sym != 0;
}

/* Reads a part of "1/22/4444": 4 bits per digit. Returns -1 if there is none. */
static int color_part(const char **at)
{
	unsigned value = 0, most = 0;

	for (; **at && strchr("0123456789abcdefABCDEF", **at) && most < 0xffff; (*at)++) {
		unsigned c = (unsigned char)**at;

		value = value << 4 | (c <= '9' ? c - '0' : (c | 0x20u) - 'a' + 10);
		most = most << 4 | 15;
	}
	*at += **at == '/';
	return most ? (int)((value * 255 + most / 2) / most) : -1;
}

static bool color_event(const char *head, size_t len, struct event *ev)
{
	char text[SEQUENCE_MAX + 1];
	const char *at = text;
	int r, g, b;

	memcpy(text, head + strlen(COLOR_HEAD), len);
	text[len] = '\0';
	r = color_part(&at);
	g = color_part(&at);
	b = color_part(&at);
	if (r < 0 || g < 0 || b < 0 || *at)
		return false;
	*ev = (struct event){
		.type = EVENT_COLOR, .background = head[3] == '1', .color = COLOR_RGB(r, g, b)};
	return true;
}

/* Returns the length of the colour report at p; 0: incomplete; -1: it is no colour report. */
static int color_parse(const char *p, size_t len, size_t *body)
{
	size_t n = 0;

	for (; n < len && COLOR_HEAD[n]; n++)
		if (COLOR_HEAD[n] == '?' ? p[n] != '0' && p[n] != '1' : p[n] != COLOR_HEAD[n])
			return -1;
	while (n < len && p[n] && strchr(COLOR_BODY, p[n]))
		n++;
	*body = n - MIN(n, strlen(COLOR_HEAD));
	if (*body > SEQUENCE_MAX)
		return -1;
	if (n == len || (p[n] == 0x1b && n + 1 == len))
		return 0;
	if (p[n] == 0x1b && p[n + 1] == '\\')
		return (int)n + 2;
	return p[n] == '\a' ? (int)n + 1 : -1;
}

/* Skips the rest of a colour report whose beginning was dropped, so that it is not read as keys. */
static void skip_overdue(struct input *in)
{
	const char *p = in->bytes.data + in->used;
	size_t len = in->bytes.len - in->used, n = 0;

	while (n < len && p[n] && strchr(COLOR_BODY "rgb:;", p[n]))
		n++;
	in->overdue = n == len;
	if (n < len && p[n] == '\a')
		n++;
	else if (n + 1 < len && p[n] == 0x1b && p[n + 1] == '\\')
		n += 2;
	in->used += n;
}

/* Decodes the sequence behind an ESC; *used 0: incomplete. Returns true if *ev was filled. */
static bool escape_event(struct input *in, const char *p, size_t len, struct event *ev,
			 size_t *used)
{
	struct csi csi;
	int n;

	*used = 0;
	if (len < 2)
		return false;
	if (p[1] == '[') {
		n = csi_parse(p + 2, len - 2, &csi);
		if (n == 0)
			return false;
		*used = n < 0 ? 2 : (size_t)n + 2;
		return n > 0 && csi_event(in, &csi, ev);
	}
	if (p[1] == 'O') {
		if (len < 3)
			return false;
		*used = 3;
		*ev = key_event(letter_key(p[2]), 0);
		return ev->key.sym != 0;
	}
	if (p[1] == ']') {
		size_t body = 0;

		n = color_parse(p, len, &body);
		if (n >= 0) {
			*used = (size_t)n;
			return n > 0 && color_event(p, body, ev);
		}
	}
	if (p[1] == 0x1b) { /* Esc typed twice, or Alt with a named key */
		*used = 1;
		*ev = key_event(SYM_ESC, 0);
		return true;
	}
	if ((unsigned char)p[1] < 0x20 || p[1] == 0x7f) {
		*used = 2;
		*ev = control_event((unsigned char)p[1], MOD_ALT);
		return true;
	}
	{
		int32_t cp;
		size_t size = text_decode(p + 1, len - 1, &cp);

		if (cp < 0 && len < 5)
			return false;
		*used = 1 + size;
		*ev = key_event((uint32_t)cp, MOD_ALT);
		return cp >= 0;
	}
}

/* Returns a paste in pieces, up to the end mark; a partial mark at the end of the input waits. */
static bool paste_event(struct input *in, struct event *ev)
{
	const char *p = in->bytes.data + in->used;
	size_t len = in->bytes.len - in->used, keep;
	const char *end = memmem(p, len, PASTE_END, strlen(PASTE_END));

	*ev = (struct event){.type = EVENT_PASTE, .paste_begins = in->paste_started};
	if (end) {
		ev->paste = (struct span){p, (size_t)(end - p)};
		ev->paste_ends = true;
		in->used += ev->paste.len + strlen(PASTE_END);
		in->pasting = in->paste_started = false;
		return true;
	}
	for (keep = MIN(len, strlen(PASTE_END) - 1); keep > 0; keep--) {
		if (memcmp(p + len - keep, PASTE_END, keep) == 0)
			break;
	}
	ev->paste = (struct span){p, len - keep};
	in->used += ev->paste.len;
	if (ev->paste.len == 0)
		return false;
	in->paste_started = false;
	return true;
}

/* Returns the length of the UTF-8 sequence that begins with c. */
static size_t utf8_length(unsigned char c)
{
	return c < 0xc2 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : c < 0xf5 ? 4 : 1;
}

/* Decodes what may be the head of a sequence but is complete after the time-out: a lone Esc, Alt-[,
 * Alt-] and Alt-O. Other bytes are line noise. */
static bool overdue_event(struct input *in, const char *p, size_t len, struct event *ev,
			  size_t *used)
{
	*used = len;
	in->overdue = len > 2 && p[1] == ']';
	if (len == 1)
		*ev = key_event(SYM_ESC, 0);
	else
		*ev = key_event((uint32_t)(unsigned char)p[1], MOD_ALT);
	return len <= 2;
}

bool input_next(struct input *in, struct event *ev)
{
	while (in->used < in->bytes.len) {
		const char *p = in->bytes.data + in->used;
		size_t len = in->bytes.len - in->used, n;
		int32_t cp;

		if (in->pasting)
			return paste_event(in, ev);
		if (in->overdue) {
			skip_overdue(in);
			continue;
		}
		if (*p == 0x1b) {
			bool got = escape_event(in, p, len, ev, &n);

			if (n == 0 && !in->due)
				return false;
			if (n == 0)
				got = overdue_event(in, p, len, ev, &n);
			in->used += n;
			if (got)
				return true;
			continue;
		}
		if ((unsigned char)*p < 0x20 || *p == 0x7f) {
			*ev = control_event((unsigned char)*p, 0);
			in->used++;
			return true;
		}
		n = text_decode(p, len, &cp);
		if (cp < 0 && len < utf8_length((unsigned char)*p) && !in->due)
			return false;
		in->used += n;
		if (cp < 0)
			continue;
		*ev = key_event((uint32_t)cp, 0);
		return true;
	}
	return false;
}

void input_flush(struct input *in)
{
	in->due = true;
}
