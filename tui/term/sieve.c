/* sieve - parses and judges the agent's bytes, and writes them anew for libvterm. */
/* SPDX-License-Identifier: MIT */
#include "tui/term/inside.h"

#include <utf8proc.h>
#include <stdarg.h>
#include <string.h>

#include "core/base/clock.h"

/*
 * Theory of operation. libvterm is a good screen but was not written for an adversary: 0.1.4 (which
 * Debian 12 and Ubuntu 22.04 ship) stores the parameters of "CSI 1;1;1;..." past the end of their
 * array, moves the cursor to column -1 for a C1 control in UTF-8, loops for ever on REP after a
 * combining mark, keeps scroll margins and saved cursors that a resize left outside of the screen,
 * and decodes one code point too many into a buffer on the stack after broken UTF-8. So nothing
 * reaches it as the agent wrote it. This parser follows the state machine of the VT500 and emits
 *
 *  - text as whole, valid code points that glyph.c lets pass, with few combining marks on one cell;
 *  - the control characters that mean something;
 *  - sequences from a list (sequence.c), with few and small parameters, one mode at a time;
 *  - colours and attributes as one normal form (pen.c);
 *  - no strings at all: titles, links and texts for the clipboard are taken here (respond.c),
 *    everything else (sixel, DECRQSS, APC, ...) is swallowed;
 *  - behind a character that has more than libvterm knows of, two code points (extra.h).
 *
 * Since every mode passes through here, the sieve knows what libvterm cannot be asked for, and
 * bulk.c relies on that.
 */

void sieve_flush(struct term *t)
{
	struct sieve *s = &t->sieve;
	size_t len = s->out_len;

	s->out_len = 0;
	if (len)
		vterm_input_write(t->vt, s->out, len);
}

void sieve_emit(struct term *t, const void *bytes, size_t len)
{
	struct sieve *s = &t->sieve;

	if (len > sizeof(s->out) - s->out_len)
		sieve_flush(t);
	memcpy(s->out + s->out_len, bytes, len);
	s->out_len += len;
}

void sieve_fmt(struct term *t, const char *fmt, ...)
{
	char text[128];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	sieve_emit(t, text, MIN((size_t)n, sizeof(text) - 1));
}

bool sieve_plain(const struct term *t)
{
	const struct sieve *s = &t->sieve;

	return s->state == SIEVE_GROUND && !s->utf8_len && !s->region && !s->insert && !s->origin &&
	       !t->alt && !s->nowrap && !s->tabs && !s->charset.graphics[s->charset.shifted];
}

/* Resets the margins to the whole screen; the cursor stays. */
void sieve_reset_margins(struct term *t)
{
	VTermPos pos;

	if (!t->sieve.region && !t->sieve.origin)
		return;
	sieve_flush(t);
	vterm_state_get_cursorpos(t->state, &pos);
	sieve_fmt(t, "\033[?6l\033[r\033[%d;%dH", pos.row + 1, pos.col + 1);
	sieve_flush(t);
	t->sieve.region = t->sieve.origin = false;
	wrap_lost(t);
}

void sieve_cp(struct term *t, int32_t cp)
{
	char text[4];

	sieve_emit(t, text, glyph_utf8(cp, text));
}

void sieve_glyph(struct term *t, int32_t cp, unsigned extra)
{
	if (sizeof(t->sieve.out) - t->sieve.out_len < 16)
		sieve_flush(t); /* a base character must come in one piece with its marks */
	sieve_cp(t, cp);
	if (!extra)
		return;
	sieve_cp(t, EXTRA_FIRST + (int32_t)(extra / EXTRA_DIGITS));
	sieve_cp(t, EXTRA_FIRST + (int32_t)(extra % EXTRA_DIGITS));
}

/* Prints a replacement for bytes that are not, or will not become, a code point. */
static void utf8_broken(struct term *t)
{
	if (!t->sieve.utf8_len)
		return;
	t->sieve.utf8_len = 0;
	cluster_put(t, -1);
}

static unsigned utf8_need(unsigned char lead)
{
	if (lead >= 0xc2 && lead <= 0xdf)
		return 2;
	if (lead >= 0xe0 && lead <= 0xef)
		return 3;
	if (lead >= 0xf0 && lead <= 0xf4)
		return 4;
	return 0;
}

static void utf8_byte(struct term *t, unsigned char c)
{
	struct sieve *s = &t->sieve;
	static const int32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	unsigned need;
	int32_t cp;

	if (c >= 0xc0 || !s->utf8_len) {
		utf8_broken(t);
		if (!utf8_need(c)) {
			cluster_put(t, -1);
			return;
		}
	}
	s->utf8[s->utf8_len++] = (char)c;
	need = utf8_need((unsigned char)s->utf8[0]);
	if (s->utf8_len < need)
		return;
	cp = (unsigned char)s->utf8[0] & (0x7f >> need);
	for (unsigned i = 1; i < need; i++)
		cp = cp << 6 | (s->utf8[i] & 0x3f);
	s->utf8_len = 0;
	cluster_put(t, cp < least[need] || (cp >= 0xd800 && cp <= 0xdfff) ? -1 : cp);
}

static void control(struct term *t, char c)
{
	struct sieve *s = &t->sieve;

	switch (c) {
	case '\a':
		t->bell = true;
		return;
	case '\016':
	case '\017':
		s->charset.shifted = c == '\016';
		return;
	case '\b':
	case '\t':
		s->last = 0;
		wrap_lost(t);
		break;
	case '\n':
	case '\v':
	case '\f':
		s->last = 0;
		if (s->full || s->newline)
			wrap_lost(t);
		break;
	case '\r':
		s->last = 0;
		s->col = 0;
		s->full = false;
		break;
	case '\030':
	case '\032':
		s->state = SIEVE_GROUND;
		return;
	default:
		return;
	}
	sieve_emit(t, &c, 1);
}

/* Prints a sign of the DEC special graphics set, from '`' on. libvterm drops its own set after
 * UTF-8. */
static void put_graphics(struct term *t, unsigned char c)
{
	static const uint16_t set[] = {
		0x25c6, 0x2592, 0x2409, 0x240c, 0x240d, 0x240a, 0xb0,	0xb1,
		0x2424, 0x240b, 0x2518, 0x2510, 0x250c, 0x2514, 0x253c, 0x23ba,
		0x23bb, 0x2500, 0x23bc, 0x23bd, 0x251c, 0x2524, 0x2534, 0x252c,
		0x2502, 0x2264, 0x2265, 0x3c0,	0x2260, 0xa3,	0xb7,
	};

	cluster_put(t, c == '_' ? ' ' : c >= '`' ? set[c - '`'] : c);
}

/* Returns the length of the printable ASCII at the start of bytes, which passes unchanged. */
static size_t ascii_run(struct term *t, const char *bytes, size_t len)
{
	size_t n = 0;

	if (t->sieve.charset.graphics[t->sieve.charset.shifted] || pen_extra(t, &t->sieve.pen, ""))
		return 0;
	while (n < len && n < SIEVE_STAGE && bytes[n] >= ' ' && bytes[n] < 0x7f)
		n++;
	if (!n)
		return 0;
	utf8_broken(t);
	n = wrap_run(t, bytes, n);
	t->sieve.last = (unsigned char)bytes[n - 1];
	t->sieve.marks = t->sieve.extra = 0;
	t->sieve.joins = t->sieve.wide = false;
	return n;
}

static void ground(struct term *t, unsigned char c)
{
	if (c >= 0x80) {
		utf8_byte(t, c);
		return;
	}
	utf8_broken(t);
	if (c == 0x1b)
		t->sieve.state = SIEVE_ESC;
	else if (c < 0x20)
		control(t, (char)c);
	else if (c < 0x7f && t->sieve.charset.graphics[t->sieve.charset.shifted])
		put_graphics(t, c);
	else if (c < 0x7f)
		cluster_put(t, c);
}

static void escape(struct term *t, unsigned char c)
{
	struct sieve *s = &t->sieve;

	if (c >= 0x20 && c <= 0x2f) {
		/* A second intermediate makes the sequence unknown. */
		s->intermed = s->state == SIEVE_ESC ? (char)c : '?';
		s->state = SIEVE_ESC_INTERMED;
		return;
	}
	if (s->state == SIEVE_ESC && c && strchr("]P_^Xk", c)) {
		s->state = SIEVE_STRING;
		s->string_kind = (char)c;
		s->string_len = 0;
		s->string_cut = false;
		buf_clear(&s->clip);
		return;
	}
	if (s->state == SIEVE_ESC && c == '[') {
		s->state = SIEVE_CSI;
		s->leader = s->intermed = '\0';
		s->nargs = 0;
		s->arg_open = false;
		return;
	}
	if (s->state == SIEVE_ESC)
		s->intermed = '\0';
	s->state = SIEVE_GROUND;
	if (c >= 0x30 && c < 0x7f)
		sequence_esc(t, (char)c);
}

/* Reads a parameter's digits; ';' or ':' separates parameters; a parameter that is left out is
 * -1. */
void sieve_arg(struct sieve *s, unsigned char c)
{
	if (!s->arg_open) {
		if (s->nargs < SIEVE_ARGS) {
			s->arg[s->nargs] = -1;
			s->colon[s->nargs] = false;
		}
		s->nargs++;
		s->arg_open = true;
	}
	if (c >= '0' && c <= '9') {
		int *v = &s->arg[s->nargs - 1];

		if (s->nargs <= SIEVE_ARGS)
			*v = MIN(MAX(*v, 0) * 10 + (c - '0'), SIEVE_ARG_MAX);
		return;
	}
	if (s->nargs < SIEVE_ARGS) {
		s->arg[s->nargs] = -1;
		s->colon[s->nargs] = c == ':';
		s->nargs++;
	} else {
		s->nargs = SIEVE_ARGS + 1;
	}
}

static void csi(struct term *t, unsigned char c)
{
	struct sieve *s = &t->sieve;

	if (c >= 0x40 && c < 0x7f) {
		bool ignore = s->state == SIEVE_CSI_IGNORE;

		s->state = SIEVE_GROUND;
		s->nargs = MIN(s->nargs, SIEVE_ARGS);
		if (!ignore)
			sequence_csi(t, (char)c);
	} else if (c >= 0x20 && c <= 0x2f) {
		s->intermed = s->intermed ? '?' : (char)c;
	} else if (c >= 0x3c && c <= 0x3f && !s->nargs && !s->leader && !s->intermed) {
		s->leader = (char)c;
	} else if (c >= 0x30 && c <= 0x3b && !s->intermed) {
		sieve_arg(s, c);
	} else if (c != 0x7f) {
		s->state = SIEVE_CSI_IGNORE;
	}
}

static void string_end(struct term *t, bool bell)
{
	t->sieve.state = SIEVE_GROUND;
	t->sieve.string_bell = bell;
	respond_string(t);
	buf_clear(&t->sieve.clip);
}

/* Reads within a string. An ESC ends it, whatever follows. */
static size_t string_run(struct term *t, const char *bytes, size_t len)
{
	struct sieve *s = &t->sieve;
	size_t n = 0;

	for (; n < len; n++) {
		unsigned char c = (unsigned char)bytes[n];

		if (c == '\a') {
			string_end(t, true);
			return n + 1;
		}
		if (c == 0x1b) {
			s->state = SIEVE_STRING_ESC;
			return n + 1;
		}
		if (c == 0x18 || c == 0x1a || (c == '\n' && s->string_kind == 'k')) {
			s->state = SIEVE_GROUND;
			return n + 1;
		}
		if (s->string_len < sizeof(s->string))
			s->string[s->string_len++] = (char)c;
		else
			s->string_cut = true;
		if (s->string_kind == ']' && s->string_len >= 3 && s->clip.len <= TERM_CLIP_MAX &&
		    memcmp(s->string, "52;", 3) == 0)
			buf_ch(&s->clip, (char)c);
	}
	return n;
}

static void other_state(struct term *t, unsigned char c)
{
	struct sieve *s = &t->sieve;

	if (s->state == SIEVE_STRING_ESC) {
		s->state = SIEVE_ESC;
		if (c == '\\') {
			string_end(t, false);
			return;
		}
	}
	if (c == 0x1b)
		s->state = SIEVE_ESC;
	else if (c < 0x20)
		control(t, (char)c);
	else if (c >= 0x80)
		s->state = SIEVE_GROUND; /* not 7-bit: the sequence is broken */
	else if (s->state == SIEVE_CSI || s->state == SIEVE_CSI_IGNORE)
		csi(t, c);
	else
		escape(t, c);
}

size_t sieve_feed(struct term *t, const char *bytes, size_t len, int64_t deadline)
{
	struct sieve *s = &t->sieve;
	size_t i = 0;

	while (i < len) {
		size_t n;

		if (s->state == SIEVE_STRING) {
			i += string_run(t, bytes + i, len - i);
			continue;
		}
		if (s->state != SIEVE_GROUND) {
			other_state(t, (unsigned char)bytes[i++]);
			if (s->cost < SIEVE_COST)
				continue;
			s->cost = 0;
			sieve_flush(t);
			if (clock_mono_us() >= deadline)
				return i;
			continue;
		}
		n = ascii_run(t, bytes + i, len - i);
		i += n;
		if (!n)
			ground(t, (unsigned char)bytes[i++]);
	}
	sieve_flush(t);
	return i;
}
