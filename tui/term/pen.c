/* pen - colours and attributes in one normal form. */
/* SPDX-License-Identifier: MIT */
#include "tui/term/inside.h"

#include <string.h>

#define LINE_KNOWN (1 + UNDERLINE_CURLY) /* kinds of underline that libvterm knows */

/* libvterm has no "dim" and no "concealed", but stores a font number in every cell. As cells show
 * no fonts, the font number stands for these two (see FONT_* in inside.h). */

/* Reads the colour after 38, 48 or 58 at parameter *i: ";2;r;g;b", ":2:r:g:b", ":2::r:g:b" (with a
 * colour space), ";5;n" or ":5:n". *i moves to its last parameter. Returns false if it is no
 * colour. */
static bool extended_colour(const struct sieve *s, unsigned *i, uint32_t *ret)
{
	unsigned at = *i + 1, end = at;
	int rgb[3];

	if (at >= s->nargs)
		return false;
	if (s->colon[at]) {
		while (end < s->nargs && s->colon[end])
			end++;
	} else {
		end = MIN(s->nargs, at + (s->arg[at] == 2 ? 4u : s->arg[at] == 5 ? 2u : 1u));
	}
	*i = end - 1;
	if (s->arg[at] == 5 && end - at >= 2) {
		*ret = COLOR_INDEX(MAX(0, s->arg[at + 1]));
		return s->arg[at + 1] <= 255;
	}
	if (s->arg[at] != 2 || end - at < 4)
		return false;
	at += s->colon[at] && end - at >= 5 ? 2 : 1;
	for (unsigned k = 0; k < 3; k++) {
		rgb[k] = MAX(0, s->arg[at + k]);
		if (rgb[k] > 255)
			return false;
	}
	*ret = COLOR_RGB(rgb[0], rgb[1], rgb[2]);
	return true;
}

static void colour(struct pen *p, const struct sieve *s, unsigned *i)
{
	int v = s->arg[*i];
	uint32_t c = COLOR_DEFAULT;

	if (v == 38 || v == 48 || v == 58) {
		if (!extended_colour(s, i, &c))
			return;
		if (v == 38)
			p->fg = c;
		else if (v == 48)
			p->bg = c;
		else
			p->line = c;
	} else if (v == 59) {
		p->line = COLOR_DEFAULT;
	} else if (v >= 30 && v <= 37) {
		p->fg = COLOR_INDEX(v - 30);
	} else if (v == 39) {
		p->fg = COLOR_DEFAULT;
	} else if (v >= 40 && v <= 47) {
		p->bg = COLOR_INDEX(v - 40);
	} else if (v == 49) {
		p->bg = COLOR_DEFAULT;
	} else if (v >= 90 && v <= 97) {
		p->fg = COLOR_INDEX(v - 90 + 8);
	} else if (v >= 100 && v <= 107) {
		p->bg = COLOR_INDEX(v - 100 + 8);
	}
}

/* Reads an underline: "4:0" none, "4:2" double, "4:3" curly, "4:4" dotted, "4:5" dashed. */
static void underline(struct pen *p, const struct sieve *s, unsigned *i)
{
	int kind = 1;

	if (*i + 1 < s->nargs && s->colon[*i + 1])
		kind = s->arg[++*i];
	p->underline = (uint8_t)(kind > 1 + UNDERLINE_DASHED ? 1 : MAX(kind, 0));
}

static void attribute(struct pen *p, const struct sieve *s, unsigned *i)
{
	switch (s->arg[*i]) {
	case -1:
	case 0:
		*p = (struct pen){.link = p->link}; /* SGR 0 does not end a link */
		break;
	case 1:
		p->bold = true;
		break;
	case 2:
		p->dim = true;
		break;
	case 3:
		p->italic = true;
		break;
	case 4:
		underline(p, s, i);
		break;
	case 5:
	case 6:
		p->blink = true;
		break;
	case 7:
		p->reverse = true;
		break;
	case 8:
		p->conceal = true;
		break;
	case 9:
		p->strike = true;
		break;
	case 21:
		p->underline = 1 + UNDERLINE_DOUBLE;
		break;
	case 22:
		p->bold = p->dim = false;
		break;
	case 23:
		p->italic = false;
		break;
	case 24:
		p->underline = 0;
		break;
	case 25:
		p->blink = false;
		break;
	case 27:
		p->reverse = false;
		break;
	case 28:
		p->conceal = false;
		break;
	case 29:
		p->strike = false;
		break;
	default:
		colour(p, s, i);
	}
}

/* Changes the pen by the parameters of SGR. */
void pen_apply(struct sieve *s)
{
	if (!s->nargs)
		s->pen = (struct pen){.link = s->pen.link};
	for (unsigned i = 0; i < s->nargs; i++) {
		attribute(&s->pen, s, &i);
		/* Skip sub-parameters of an unknown parameter. */
		while (i + 1 < s->nargs && s->colon[i + 1])
			i++;
	}
}

bool pen_equal(const struct pen *a, const struct pen *b)
{
	return a->fg == b->fg && a->bg == b->bg && a->bold == b->bold && a->dim == b->dim &&
	       a->italic == b->italic && a->blink == b->blink && a->underline == b->underline &&
	       a->line == b->line && a->link == b->link && a->reverse == b->reverse &&
	       a->conceal == b->conceal && a->strike == b->strike;
}

/* Returns the extra of a pen and cluster. What libvterm supports is in its own pen instead. */
unsigned pen_extra(struct term *t, const struct pen *p, const char *cluster)
{
	struct extra e = {.link = p->link};

	if (!p->link && !*cluster && (!p->underline || (!p->line && p->underline <= LINE_KNOWN)))
		return 0;
	if (p->underline)
		e.line = p->line;
	if (p->underline > LINE_KNOWN)
		e.underline = p->underline;
	snprintf(e.cluster, sizeof(e.cluster), "%s", cluster);
	return extras_add(&t->extras, &e);
}

void pen_sgr(struct term *t)
{
	struct pen old = t->sieve.pen;

	pen_apply(&t->sieve);
	if (!pen_equal(&old, &t->sieve.pen))
		pen_emit(t);
}

void pen_font(struct term *t, unsigned add)
{
	const struct pen *p = &t->sieve.pen;

	sieve_fmt(t, "\033[%um", 10 + add + (p->conceal ? FONT_CONCEAL : p->dim ? FONT_DIM : 0u));
}

static void emit_colour(struct term *t, int base, uint32_t c)
{
	if (COLOR_IS_INDEX(c))
		sieve_fmt(t, "\033[%d;5;%um", base, (unsigned)(c & 0xff));
	else if (COLOR_IS_RGB(c))
		sieve_fmt(t, "\033[%d;2;%u;%u;%um", base, (unsigned)(c >> 16 & 0xff),
			  (unsigned)(c >> 8 & 0xff), (unsigned)(c & 0xff));
}

/* Prints the whole pen, independent of libvterm's current one. */
void pen_emit(struct term *t)
{
	const struct pen *p = &t->sieve.pen;

	sieve_fmt(t, "\033[0%s%s%s%s%s%s%sm", p->bold ? ";1" : "", p->italic ? ";3" : "",
		  p->underline ? ";4" : "", p->blink ? ";5" : "", p->reverse ? ";7" : "",
		  p->strike ? ";9" : "",
		  p->conceal ? ";12"
		  : p->dim   ? ";11"
			     : "");
	if (p->underline > 1 && p->underline <= LINE_KNOWN)
		sieve_fmt(t, "\033[4:%um", p->underline);
	emit_colour(t, 38, p->fg);
	emit_colour(t, 48, p->bg);
}

void pen_of(struct pen *p, const struct style *st)
{
	*p = (struct pen){.fg = st->fg, .bg = st->bg, .line = st->line, .link = st->link};
	p->bold = st->attr & STYLE_BOLD;
	p->dim = st->attr & STYLE_DIM;
	p->italic = st->attr & STYLE_ITALIC;
	p->blink = st->attr & STYLE_BLINK;
	if (st->attr & STYLE_UNDERLINE)
		p->underline = (uint8_t)(1 + STYLE_UNDERLINE_OF(st->attr));
	p->reverse = st->attr & STYLE_REVERSE;
	p->strike = st->attr & STYLE_STRIKE;
}

struct style pen_style(const struct pen *p)
{
	struct style st = {.fg = p->fg, .bg = p->bg, .link = p->link};

	if (p->underline)
		st.line = p->line;
	st.attr = (p->bold ? STYLE_BOLD : 0u) | (p->dim && !p->conceal ? STYLE_DIM : 0u) |
		  (p->italic ? STYLE_ITALIC : 0u) | (p->blink ? STYLE_BLINK : 0u) |
		  (p->underline ? STYLE_UNDERLINE_AS(p->underline - 1) : 0u) |
		  (p->reverse ? STYLE_REVERSE : 0u) | (p->strike ? STYLE_STRIKE : 0u);
	return st;
}
