/* search - finds text in the scrollback and on the screen. */
/* SPDX-License-Identifier: MIT */
#include "tui/term/inside.h"

#include <string.h>

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool equal_folded(const char *s, const char *needle, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (lower(s[i]) != needle[i])
			return false;
	return true;
}

long search_in(const struct search *s, struct span text, size_t from)
{
	size_t len = strlen(s->needle);

	if (from > text.len || text.len - from < len)
		return -1;
	if (!s->fold) {
		const char *hit = memmem(text.data + from, text.len - from, s->needle, len);

		return hit ? (long)(hit - text.data) : -1;
	}
	for (size_t i = from; i + len <= text.len; i++)
		if (lower(text.data[i]) == *s->needle &&
		    equal_folded(text.data + i, s->needle, len))
			return (long)i;
	return -1;
}

void search_done(struct search *s)
{
	free(s->needle);
	*s = (struct search){0};
}

/* Returns the last match in the line that begins before byte `before`. */
static long last_before(const struct search *s, struct span text, size_t before)
{
	long hit = -1, next = search_in(s, text, 0);

	while (next >= 0 && (size_t)next < before) {
		hit = next;
		next = search_in(s, text, (size_t)next + strlen(s->needle));
	}
	return hit;
}

static bool found_at(struct term *t, uint64_t line, long at)
{
	if (at < 0)
		return false;
	t->search.line = line;
	t->search.at = (size_t)at;
	t->search.found = true;
	term_show_line(t, line);
	term_copy_match(t);
	return true;
}

/* Searches from the newest line in [from, to) to the oldest. */
static bool find_older(struct term *t, uint64_t from, uint64_t to)
{
	for (uint64_t line = to; line-- > from;)
		if (found_at(t, line,
			     last_before(&t->search, line_text(term_line(t, line)), SIZE_MAX)))
			return true;
	return false;
}

static bool find_newer(struct term *t, uint64_t from, uint64_t to)
{
	for (uint64_t line = from; line < to; line++)
		if (found_at(t, line, search_in(&t->search, line_text(term_line(t, line)), 0)))
			return true;
	return false;
}

bool term_search(struct term *t, const char *needle)
{
	struct search *s = &t->search;

	search_done(s);
	t->dirty = true;
	if (!needle || !*needle)
		return false;
	s->needle = xstrdup(needle);
	s->fold = true;
	for (const char *p = needle; *p; p++)
		if (*p != lower(*p))
			s->fold = false;
	return find_older(t, t->first_line, term_end(t));
}

bool term_search_next(struct term *t, bool older)
{
	struct search *s = &t->search;
	uint64_t line = s->line;
	long at;

	if (!s->needle)
		return false;
	/* The current match may have left the history. */
	if (!s->found || line < t->first_line || line >= term_end(t))
		return find_older(t, t->first_line, term_end(t));
	if (older) {
		at = last_before(s, line_text(term_line(t, line)), s->at);
		return found_at(t, line, at) || find_older(t, t->first_line, line) ||
		       find_older(t, line, term_end(t));
	}
	at = search_in(s, line_text(term_line(t, line)), s->at + strlen(s->needle));
	return found_at(t, line, at) || find_newer(t, line + 1, term_end(t)) ||
	       find_newer(t, t->first_line, line + 1);
}

size_t term_search_count(struct term *t, size_t *ret_current)
{
	const struct search *s = &t->search;
	size_t n = 0;

	*ret_current = 0;
	if (!s->needle)
		return 0;
	for (uint64_t line = t->first_line; line < term_end(t); line++) {
		struct span text = line_text(term_line(t, line));
		long at = search_in(s, text, 0);

		while (at >= 0) {
			n++;
			if (s->found && line == s->line && (size_t)at == s->at)
				*ret_current = n;
			at = search_in(s, text, (size_t)at + strlen(s->needle));
		}
	}
	return n;
}
