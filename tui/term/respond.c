/* respond - handles strings and queries that the agent sends to its terminal. */
/* SPDX-License-Identifier: MIT */
#include "tui/term/inside.h"

#include <string.h>
#include <strings.h>

#include "core/base/base64.h"
#include "core/base/text.h"
#include "tui/look/theme.h"

/*
 * Heard:     window titles (OSC 0 and 2), shown escaped and cut.
 *            Text for the clipboard (OSC 52), passed to the owner of the term.
 *            Addresses of links (OSC 8), shown as underlined text; the user may open them.
 *            Calls for the user (OSC 9 and 777), whose text is dropped.
 * Ignored:   all other strings: OSC 4 (colours), OSC 7 (directory), reading the clipboard, DCS
 *            (sixel), APC, PM, SOS.
 * Answered:  by libvterm: primary and secondary device attributes, operating status, cursor
 *            position, and whether a mode is set. Here: the colours of plain text and background
 *            (OSC 10 and 11), if known, by which programs choose theirs; the version; XTGETTCAP
 *            of a few capabilities; the flags of kitty's keyboard protocol (cordon supports the
 *            first, keys without ambiguity: encode.c); DECRQSS (never valid), because a program
 *            waits for that answer.
 *
 * Answers go to the agent's own pty, and contain no text of the agent's: only fixed strings, or
 * digits and a few signs.
 */

void term_set_colors(struct term *t, uint32_t text, uint32_t background)
{
	t->color[0] = text;
	t->color[1] = background;
}

static void send_answer(struct term *t, const char *bytes, size_t len)
{
	if (t->replied + len > REPLIES_MAX)
		return;
	t->replied += len;
	term_output(t, bytes, len);
}

/* Flushes first, so that answers come in the order of the questions: libvterm may have unread
 * ones. */
static void tell_color(struct term *t, unsigned which)
{
	uint32_t rgb = color_rgb(t->color[which]);
	unsigned r = rgb >> 16, g = rgb >> 8 & 0xff, b = rgb & 0xff;
	char answer[40];
	int len;

	if (t->color[which] == COLOR_DEFAULT)
		return;
	sieve_flush(t);
	len = snprintf(answer, sizeof(answer), "\033]1%u;rgb:%02x%02x/%02x%02x/%02x%02x%s", which,
		       r, r, g, g, b, b, t->sieve.string_bell ? "\a" : "\033\\");
	send_answer(t, answer, (size_t)len);
}

static void answer(struct term *t, const char *text)
{
	sieve_flush(t);
	send_answer(t, text, strlen(text));
}

void respond_version(struct term *t)
{
	answer(t, "\033P>|cordon\033\\");
}

bool term_keys_are_plain(const struct term *t)
{
	const struct keyboard *k = &t->keyboard[t->alt];

	return k->n && k->flags[k->n - 1] & KEYBOARD_PLAIN;
}

/* Pushes flags; if the stack is full, the oldest entry is dropped. */
static void push_keyboard(struct keyboard *k, int flags)
{
	if (k->n == KEYBOARD_DEEP)
		memmove(k->flags, k->flags + 1, --k->n);
	k->flags[k->n++] = (unsigned char)(flags & KEYBOARD_PLAIN);
}

/* Changes the current flags. mode 1: sets all; 2: adds; 3: removes. */
static void set_keyboard(struct keyboard *k, int flags, int mode)
{
	int old = k->n ? k->flags[k->n - 1] : 0;

	if (mode < 1 || mode > 3)
		return;
	k->n -= k->n > 0;
	push_keyboard(k, mode == 1 ? flags : mode == 2 ? old | flags : old & ~flags);
}

void respond_keyboard(struct term *t, char leader, int first, int second)
{
	struct keyboard *k = &t->keyboard[t->alt];

	if (leader == '?')
		answer(t, term_keys_are_plain(t) ? "\033[?1u" : "\033[?0u");
	else if (leader == '>')
		push_keyboard(k, MAX(first, 0));
	else if (leader == '<')
		k->n -= MIN(k->n, (unsigned)MAX(first, 1));
	else if (leader == '=')
		set_keyboard(k, MAX(first, 0), second < 0 ? 1 : second);
}

/* Answers XTGETTCAP for one capability; names and values are hexadecimal. */
static void tell_capability(struct term *t, struct span name)
{
	static const struct {
		const char *name, *answer;
	} known[] = {
		{"524742", "524742=382F382F38"},		   /* RGB=8/8/8 */
		{"5463", "5463"},				   /* Tc */
		{"436F", "436F=323536"},			   /* Co=256 */
		{"544E", "544E=787465726D2D323536636F6C6F72"},	   /* TN=xterm-256color */
		{"536D756C78", "536D756C78=1B5B343A25703125646D"}, /* Smulx */
	};

	for (size_t i = 0; i < ARRAY_LEN(known); i++) {
		AUTO_FREE char *text = xasprintf("\033P1+r%s\033\\", known[i].answer);

		if (name.len == strlen(known[i].name) &&
		    strncasecmp(name.data, known[i].name, name.len) == 0) {
			answer(t, text);
			return;
		}
	}
	answer(t, "\033P0+r\033\\");
}

static void device_string(struct term *t)
{
	struct span s = {.data = t->sieve.string, .len = t->sieve.string_len};

	if (s.len >= 2 && memcmp(s.data, "+q", 2) == 0)
		tell_capability(t, (struct span){.data = s.data + 2, .len = s.len - 2});
	else if (s.len >= 2 && memcmp(s.data, "$q", 2) == 0)
		answer(t, "\033P0$r\033\\");
}

/* Takes ";c;" and base64 of OSC 52, from the ';' after 52 on. A request to read ("?") is not
 * base64. */
static void clipboard(struct term *t)
{
	const struct buf *clip = &t->sieve.clip;
	const char *text = strchr(clip->data + 1, ';');
	AUTO_FREE char *plain = NULL;
	size_t len;

	if (!text || clip->len > TERM_CLIP_MAX || !t->on->clipboard)
		return;
	plain = base64_decode(text + 1, &len);
	if (plain && len)
		t->on->clipboard(t->data, plain, len);
}

/* Sets the link of later text from "8;parameters;address"; an empty address ends it. */
static void link_begins(struct term *t)
{
	struct sieve *s = &t->sieve;
	const char *at = memchr(s->string + 2, ';', s->string_len - 2);
	size_t skip = at ? (size_t)(at - s->string) + 1 : s->string_len;

	s->pen.link =
		s->string_cut ? 0 : extras_link(&t->extras, s->string + skip, s->string_len - skip);
}

/* Returns whether OSC 9 or 777 is a notification ("9;words", "777;notify;title;words"), not a
 * progress bar ("9;4;..."). */
static bool is_call(const struct sieve *s)
{
	if (s->string_len > 2 && memcmp(s->string, "9;", 2) == 0)
		return !(s->string_len >= 4 && memcmp(s->string, "9;4;", 4) == 0);
	return s->string_len > 11 && memcmp(s->string, "777;notify;", 11) == 0;
}

void respond_string(struct term *t)
{
	struct sieve *s = &t->sieve;
	size_t len = s->string_len;
	char title[TERM_TITLE_MAX];

	if (s->string_kind == 'P')
		device_string(t);
	if (s->clip.len)
		clipboard(t);
	if (s->string_kind == ']' && len >= 3 && memcmp(s->string, "8;", 2) == 0)
		link_begins(t);
	if (s->string_kind == ']' && is_call(s))
		t->calls = true;
	if (s->string_kind == ']' && len == 4 && memcmp(s->string, "10;?", 4) == 0)
		tell_color(t, 0);
	if (s->string_kind == ']' && len == 4 && memcmp(s->string, "11;?", 4) == 0)
		tell_color(t, 1);
	if (s->string_kind != ']' || s->string_len < 2 || s->string[1] != ';' ||
	    (s->string[0] != '0' && s->string[0] != '2'))
		return;
	while (len > 2 && s->string[len - 1] == ' ') /* programs may pad a title to a width */
		len--;
	text_escape_into(title, sizeof(title), s->string + 2, len - 2);
	if (str_eq(title, t->title))
		return;
	memcpy(t->title, title, sizeof(title));
	if (t->on->title)
		t->on->title(t->data, t->title);
}

static bool is_answer(const char *bytes, size_t len)
{
	if (len < 3 || len > 32 || bytes[0] != '\033' || bytes[1] != '[')
		return false;
	for (size_t i = 2; i + 1 < len; i++)
		if (!bytes[i] || !strchr("0123456789;?>$", bytes[i]))
			return false;
	return strchr("cnRy", bytes[len - 1]) && bytes[len - 1];
}

/* Sends libvterm's output: answers during a feed, otherwise encoded input. */
void respond_output(const char *bytes, size_t len, void *user)
{
	struct term *t = user;

	if (t->typing) {
		term_output(t, bytes, len);
	} else if (is_answer(bytes, len)) {
		send_answer(t, bytes, len);
	}
}
