/* extra - attributes of cells that libvterm does not support: links, underlines, joined emoji. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/buf.h"

/*
 * An extra is interned under a number. The number is stored in the cell as two code points that
 * libvterm takes for combining marks and that the agent cannot send (glyph.c drops them): so it
 * moves and scrolls with the character.
 *
 * Life:  zeroed -> extras_done().
 * Trust: all bytes are the agent's. At most EXTRA_MAX extras and the newest EXTRA_LINKS links are
 *        kept; the number of a dropped link never becomes another link's.
 */
#define EXTRA_MAX   57600
#define EXTRA_LINKS 512
#define LINK_MAX    2083 /* bytes of an address; a longer one is ignored */

#define EXTRA_FIRST    0xe0100 /* variation selectors 17 to 256 */
#define EXTRA_DIGITS   240
#define EXTRA_IS(cp)   ((cp) >= EXTRA_FIRST && (cp) < EXTRA_FIRST + EXTRA_DIGITS)
#define EXTRA_JOINER   0x200d
#define EXTRA_TONE(cp) ((cp) >= 0x1f3fb && (cp) <= 0x1f3ff) /* a skin tone */
#define CLUSTER_MAX    31 /* bytes of joined emoji: a cell of a surface */

struct extra {
	uint32_t line, link; /* like in struct style */
	uint8_t underline;   /* like in struct pen, if libvterm does not support it; or 0 */
	char cluster[CLUSTER_MAX + 1]; /* joined emoji: the whole text of the cell; or "" */
};

struct extras {
	struct extra *list; /* number n is list[n - 1] */
	size_t n, cap;
	char *links[EXTRA_LINKS]; /* ring: number n is at n % EXTRA_LINKS */
	uint32_t n_links;	  /* links so far, dropped ones included */
};

void extras_done(struct extras *x);
/* Returns the number of an extra; 0 if it is empty, or there are too many. */
unsigned extras_add(struct extras *x, const struct extra *e);
const struct extra *extras_at(const struct extras *x, unsigned number); /* NULL: no such number */
/* Returns the number of an address; 0: invalid (empty, too long, or not printable ASCII). */
uint32_t extras_link(struct extras *x, const char *url, size_t len);
const char *extras_url(const struct extras *x, uint32_t link); /* NULL: dropped */
