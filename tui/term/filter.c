/* filter - passes the harmless bytes of a program's output to the user's own terminal. */
/* SPDX-License-Identifier: MIT */
#include "tui/term/filter.h"

#include <stdlib.h>
#include <string.h>

/* Private modes that pass. */
static const struct mode {
	int number;
	bool rests_on; /* set after a reset of the terminal */
} kept[] = {
	{1, false},    {5, false},    {6, false},    {7, true},	    {12, false},   {25, true},
	{47, false},   {1000, false}, {1002, false}, {1003, false}, {1004, false}, {1005, false},
	{1006, false}, {1015, false}, {1047, false}, {1049, false}, {2004, false}, {2026, false},
};

_Static_assert(ARRAY_LEN(kept) <= 32, "a bit each");

/* ---- sequences ------------------------------------------------------------------------------- */

static void pass(struct term_filter *f, struct buf *out)
{
	char final = f->seq[f->len - 1];

	buf_ch(out, '\033');
	buf_add(out, f->seq, f->len);
	if (f->seq[0] == '[' && final == 'm')
		f->coloured = f->len > 3 || (f->len == 3 && f->seq[1] != '0');
	else if (f->seq[0] != '[' || strchr("hqr", final))
		f->altered = true;
}

static const struct mode *mode_of(long number)
{
	for (size_t i = 0; i < ARRAY_LEN(kept); i++)
		if (kept[i].number == number)
			return &kept[i];
	return NULL;
}

/* Passes the known modes of a sequence such as "CSI ? 25 ; 1049 h", each by itself. */
static void pass_private(struct term_filter *f, struct buf *out)
{
	bool on = f->seq[f->len - 1] == 'h';
	char *at = f->seq + 2;

	while (*at >= '0' && *at <= '9') {
		const struct mode *m = mode_of(strtol(at, &at, 10));
		uint32_t bit = m ? 1u << (m - kept) : 0;

		if (m)
			buf_fmt(out, "\033[?%d%c", m->number, on ? 'h' : 'l');
		f->modes = on == (m && m->rests_on) ? f->modes & ~bit : f->modes | bit;
		if (*at == ';')
			at++;
	}
}

/* Returns whether the arguments are digits, ';' and ':', with no number that keeps a terminal
 * busy. */
static bool has_plain_args(const char *args, size_t len)
{
	size_t digits = 0;

	for (size_t i = 0; i < len; i++) {
		digits = args[i] >= '0' && args[i] <= '9' ? digits + 1 : 0;
		if ((!digits && args[i] != ';' && args[i] != ':') || digits > 4)
			return false;
	}
	return true;
}

static void end_csi(struct term_filter *f, struct buf *out)
{
	char final = f->seq[f->len - 1];
	const char *args = f->seq + 1;
	size_t n = f->len - 2;

	f->seq[f->len] = '\0';
	if (n && args[0] == '?' && has_plain_args(args + 1, n - 1)) {
		if (final == 'h' || final == 'l')
			pass_private(f, out);
		else if (final == 'J' || final == 'K')
			pass(f, out);
		return;
	}
	if ((n == 1 || n == 2) && args[n - 1] == ' ' && final == 'q' && has_plain_args(args, n - 1))
		pass(f, out); /* cursor shape */
	if (n == 1 && args[0] == '!' && final == 'p')
		pass(f, out);
	if (!has_plain_args(args, n))
		return;
	if (final == 'J' && n == 1 && args[0] == '3') /* not the user's scrollback */
		return;
	if (final == 'h' || final == 'l') {
		if (n == 1 && args[0] == '4') /* insert mode */
			pass(f, out);
		return;
	}
	if (strchr("@ABCDEFGHIJKLMPSTXZ`abdefgjkmrsu", final))
		pass(f, out);
}

static void end_esc(struct term_filter *f, struct buf *out)
{
	static const char *const known[] = {"7", "8",  "D",  "E",  "H",	 "M",  "=",
					    ">", "#8", "(0", "(B", ")0", ")B", NULL};

	f->seq[f->len] = '\0';
	for (size_t i = 0; known[i]; i++)
		if (strcmp(f->seq, known[i]) == 0)
			pass(f, out);
}

/* ---- bytes ----------------------------------------------------------------------------------- */

static void put_character(const struct term_filter *f, struct buf *out, const char *utf8,
			  size_t len)
{
	buf_add(out, f->ascii ? "?" : utf8, f->ascii ? 1 : len);
}

static void replace(const struct term_filter *f, struct buf *out)
{
	put_character(f, out, "\xef\xbf\xbd", 3);
}

static void broken(struct term_filter *f, struct buf *out)
{
	if (f->utf8_len)
		replace(f, out);
	f->utf8_len = 0;
}

static size_t utf8_need(unsigned char lead)
{
	if (lead >= 0xc2 && lead <= 0xdf)
		return 2;
	if (lead >= 0xe0 && lead <= 0xef)
		return 3;
	return lead >= 0xf0 && lead <= 0xf4 ? 4 : 0;
}

/* Returns whether it is a character. U+0080 to U+009F are controls to some terminals. */
static bool is_character(const char *utf8, size_t len)
{
	static const uint32_t least[] = {0, 0, 0xa0, 0x800, 0x10000};
	uint32_t cp = (unsigned char)utf8[0] & (0x7fu >> len);

	for (size_t i = 1; i < len; i++)
		cp = cp << 6 | ((unsigned char)utf8[i] & 0x3f);
	return cp >= least[len] && cp <= 0x10ffff && (cp < 0xd800 || cp > 0xdfff);
}

static void high_byte(struct term_filter *f, unsigned char c, struct buf *out)
{
	size_t need;

	if (c >= 0xc0 || !f->utf8_len) {
		broken(f, out);
		if (!utf8_need(c)) {
			replace(f, out);
			return;
		}
	}
	f->utf8[f->utf8_len++] = (char)c;
	need = utf8_need((unsigned char)f->utf8[0]);
	if (f->utf8_len < need)
		return;
	if (is_character(f->utf8, need))
		put_character(f, out, f->utf8, need);
	else
		replace(f, out);
	f->utf8_len = 0;
}

static void control(struct term_filter *f, unsigned char c, struct buf *out)
{
	f->altered |= c == 0x0e;
	if (c >= '\a' && c <= 0x0f) /* BEL, BS, HT, LF, VT, FF, CR, SO, SI */
		buf_ch(out, (char)c);
}

static void ground(struct term_filter *f, unsigned char c, struct buf *out)
{
	if (c >= 0x80) {
		high_byte(f, c, out);
		return;
	}
	broken(f, out);
	if (c == 0x1b) {
		f->state = FILTER_ESC;
		f->len = 0;
	} else if (c < ' ') {
		control(f, c, out);
	} else if (c < 0x7f) {
		buf_ch(out, (char)c);
	}
}

/* Keeps a byte of a sequence; a sequence that is too long is dropped. */
static void keep(struct term_filter *f, unsigned char c)
{
	if (f->len < sizeof(f->seq) - 1)
		f->seq[f->len++] = (char)c;
	else
		f->seq[0] = '\0';
}

static void escape(struct term_filter *f, unsigned char c, struct buf *out)
{
	if (f->len == 0 && strchr("]P_^Xk", c)) {
		f->state = FILTER_STRING;
		return;
	}
	keep(f, c);
	if (f->len == 1 && c == '[')
		f->state = FILTER_CSI;
	if (c < 0x30 || f->state == FILTER_CSI)
		return;
	f->state = FILTER_GROUND;
	end_esc(f, out);
}

static void csi(struct term_filter *f, unsigned char c, struct buf *out)
{
	keep(f, c);
	if (c < 0x40)
		return;
	f->state = FILTER_GROUND;
	if (f->seq[0] == '[')
		end_csi(f, out);
}

/* Handles a byte of a sequence: a control within it acts at once, and ESC begins another
 * sequence. */
static void sequence(struct term_filter *f, unsigned char c, struct buf *out)
{
	if (c == 0x1b) {
		f->state = FILTER_ESC;
		f->len = 0;
	} else if (c == 0x18 || c == 0x1a || c >= 0x7f) {
		f->state = FILTER_GROUND;
	} else if (c < ' ') {
		control(f, c, out);
	} else if (f->state == FILTER_ESC) {
		escape(f, c, out);
	} else {
		csi(f, c, out);
	}
}

static void string(struct term_filter *f, unsigned char c)
{
	if (c == '\a' || c == 0x18 || c == 0x1a)
		f->state = FILTER_GROUND;
	else if (c == 0x1b)
		f->state = FILTER_STRING_ESC;
}

static void byte(struct term_filter *f, unsigned char c, struct buf *out)
{
	switch (f->state) {
	case FILTER_GROUND:
		ground(f, c, out);
		break;
	case FILTER_STRING:
		string(f, c);
		break;
	case FILTER_STRING_ESC: /* ends it, whatever comes after */
		f->state = c == '\\' ? FILTER_GROUND : FILTER_ESC;
		f->len = 0;
		if (c != '\\')
			sequence(f, c, out);
		break;
	case FILTER_ESC:
	case FILTER_CSI:
		sequence(f, c, out);
		break;
	}
}

void term_filter_feed(struct term_filter *f, const char *bytes, size_t len, struct buf *out)
{
	for (size_t i = 0; i < len; i++)
		byte(f, (unsigned char)bytes[i], out);
}

void term_filter_end(struct term_filter *f, struct buf *out)
{
	f->state = FILTER_GROUND;
	broken(f, out);
	for (size_t i = ARRAY_LEN(kept); i-- > 0;)
		if (f->modes & 1u << i)
			buf_fmt(out, "\033[?%d%c", kept[i].number, kept[i].rests_on ? 'h' : 'l');
	if (f->altered)
		buf_str(out, "\017\033[!p");
	if (f->altered || f->coloured)
		buf_str(out, "\033[m");
	*f = (struct term_filter){.ascii = f->ascii};
}
