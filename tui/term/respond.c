/* respond - what the agent may tell its terminal, and what it may ask. */
/* SPDX-License-Identifier: MIT */
#include "tui/term/inside.h"

#include <string.h>

#include "core/base/text.h"

/*
 * Heard:     window titles (OSC 0 and 2), shown escaped and cut.
 * Ignored:   everything else that comes as a string: OSC 4/10/11 (colours), OSC 7 (directory),
 *            OSC 8 (links), OSC 52 (clipboard, reading and writing), OSC 9/777 (notifications),
 *            DCS (sixel, DECRQSS, XTGETTCAP), APC, PM, SOS.
 * Answered:  primary and secondary device attributes, operating status, cursor position, and
 *            whether a mode is set. By libvterm, to the agent's own pty, and never with anything
 *            in it that the agent chose: an answer is digits and a few signs.
 */

void respond_string(struct term *t)
{
	struct sieve *s = &t->sieve;
	size_t len = s->string_len;
	char title[TERM_TITLE_MAX];

	if (s->string_kind != ']' || s->string_len < 2 || s->string[1] != ';' ||
	    (s->string[0] != '0' && s->string[0] != '2'))
		return;
	while (len > 2 && s->string[len - 1] == ' ') /* some pad it to a width */
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

/* libvterm's output: answers while it is fed, input while the human types. */
void respond_output(const char *bytes, size_t len, void *user)
{
	struct term *t = user;

	if (!t->typing) {
		if (!is_answer(bytes, len) || t->replied + len > REPLIES_MAX)
			return;
		t->replied += len;
	}
	t->sent = true;
	t->on->output(t->data, bytes, len);
}
