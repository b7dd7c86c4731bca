/* menu - finds a numbered menu on the agent's screen: its own question to the user. */
/* SPDX-License-Identifier: MIT */
#include "tui/term/inside.h"

#include <string.h>

/*
 * Agents draw a question that no hook reports, such as "Do you trust this folder?", like this:
 *
 *	❯ 1. Yes                      Claude Code; › in Codex, ● in Gemini CLI
 *	  2. No, exit
 *
 * A prompt has the same marks, at the left of what the user types. Therefore the lowest mark on the
 * screen decides: below an answered menu there is a prompt.
 */
static const char *const marks[] = {"❯", "›", "●", ">"};
#define MENU_GAP 4 /* rows to the next entry: a long entry is wrapped */

static bool take(struct span *s, const char *word)
{
	size_t len = strlen(word);

	if (s->len < len || memcmp(s->data, word, len) != 0)
		return false;
	*s = (struct span){s->data + len, s->len - len};
	return true;
}

/* Removes blanks and the frame of a dialog from the row's begin. */
static void skip_frame(struct span *s)
{
	while (take(s, " ") || take(s, "│") || take(s, "┃"))
		;
}

static bool take_mark(struct span *s)
{
	for (size_t i = 0; i < ARRAY_LEN(marks); i++)
		if (take(s, marks[i]))
			return true;
	return false;
}

/* Returns the number of "2. No, exit", or 0. */
static int entry_number(struct span s)
{
	int n = 0;

	for (; s.len && *s.data >= '0' && *s.data <= '9' && n < 100; s.data++, s.len--)
		n = n * 10 + (*s.data - '0');
	return take(&s, ". ") ? n : 0;
}

static struct span row_text(struct term *t, int row)
{
	struct span s = line_text(term_line(t, term_end(t) - (uint64_t)(t->rows - row)));

	skip_frame(&s);
	return s;
}

/* Returns whether one of the rows after (by 1) or before (by -1) is the entry of this number. */
static bool has_entry(struct term *t, int row, int by, int number)
{
	for (int i = 1; i <= MENU_GAP && row + i * by >= 0 && row + i * by < t->rows; i++)
		if (number > 0 && entry_number(row_text(t, row + i * by)) == number)
			return true;
	return false;
}

bool term_shows_menu(struct term *t)
{
	for (int row = t->rows; row-- > 0;) {
		struct span s = row_text(t, row);
		int n;

		if (!take_mark(&s))
			continue;
		skip_frame(&s);
		n = entry_number(s);
		return n && (has_entry(t, row, 1, n + 1) || has_entry(t, row, -1, n - 1));
	}
	return false;
}
