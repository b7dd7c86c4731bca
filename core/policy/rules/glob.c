/* glob - matches one component of a path with one component of a pattern. */
/* SPDX-License-Identifier: MIT */
#include "core/policy/rules/glob.h"

#include <string.h>

#define LONE_BYTE 0x200000u /* a byte outside any character; above all of Unicode */

/* Gets the character at s. Returns its number of bytes. */
static size_t next_char(const char *s, size_t len, uint32_t *ret)
{
	unsigned char c = (unsigned char)*s;
	size_t n = c < 0x80 ? 1 : c >= 0xf0 && c < 0xf5 ? 4 : c >= 0xe0 ? 3 : c >= 0xc2 ? 2 : 0;
	uint32_t v = n == 1 ? c : c & (0x7fu >> n);

	*ret = LONE_BYTE | c;
	if (n == 0 || n > len || c >= 0xf5)
		return 1;
	for (size_t i = 1; i < n; i++) {
		if (((unsigned char)s[i] & 0xc0) != 0x80)
			return 1;
		v = v << 6 | ((unsigned char)s[i] & 0x3f);
	}
	*ret = v;
	return n;
}

/* ---- sets ------------------------------------------------------------------------------------ */

/* Gets one character of a set, without its backslash. Returns the bytes read. */
static size_t set_char(const char *p, const char *end, uint32_t *ret)
{
	if (*p == '\\' && p + 1 < end)
		return 1 + next_char(p + 1, (size_t)(end - p - 1), ret);
	return next_char(p, (size_t)(end - p), ret);
}

/* Returns the position after the `]` of the set that begins at p; NULL: it has no end, or is
 * invalid. */
static const char *set_end(const char *p, const char *end, const char **why)
{
	uint32_t c;

	*why = "'[' without its ']'";
	p++;
	if (p < end && (*p == '!' || *p == '^'))
		p++;
	if (p < end && *p == ']') {
		*why = "a set '[]' that holds nothing";
		return NULL;
	}
	while (p < end && *p != ']') {
		uint32_t from;

		p += set_char(p, end, &from);
		if (p + 1 < end && *p == '-' && p[1] != ']') {
			p += 1 + set_char(p + 1, end, &c);
			if (p > end)
				return NULL;
			*why = "a range in '[]' that ends before it begins";
			if (c < from)
				return NULL;
			*why = "'[' without its ']'";
		}
	}
	return p < end ? p + 1 : NULL;
}

static bool set_holds(const char *p, const char *end, uint32_t c)
{
	bool inverse = p[1] == '!' || p[1] == '^';
	bool found = false;

	for (p += 1 + inverse; *p != ']';) {
		uint32_t from, to;

		p += set_char(p, end, &from);
		to = from;
		if (*p == '-' && p[1] != ']')
			p += 1 + set_char(p + 1, end, &to);
		found = found || (c >= from && c <= to);
	}
	return found != inverse;
}

/* ---- parsing --------------------------------------------------------------------------------- */

struct glob_shape glob_look(const char *pattern, size_t len, struct buf *text)
{
	struct glob_shape s = {.form = GLOB_LITERAL};
	const char *p = pattern, *end = pattern + len;
	size_t start = text->len, since = start; /* after the last wildcard */
	bool only_stars = len > 0;
	size_t run;

	while (p < end) {
		bool set = *p == '[';

		if (p + 1 < end && p[0] == '*' && p[1] == '*')
			return (struct glob_shape){.form = GLOB_BAD,
						   .bad = "'**' stands alone between slashes, or "
							  "say '*'"};
		if (*p == '*' || *p == '?' || set) {
			if (s.form == GLOB_LITERAL)
				s.prefix_len = (uint32_t)(text->len - start);
			s.form = GLOB_MIXED;
			only_stars = only_stars && *p == '*';
			p = set ? set_end(p, end, &s.bad) : p + 1;
			since = text->len;
			if (!p)
				return (struct glob_shape){.form = GLOB_BAD, .bad = s.bad};
			continue;
		}
		if (*p == '\\' && ++p == end)
			return (struct glob_shape){.form = GLOB_BAD,
						   .bad = "'\\' with nothing behind it"};
		only_stars = false;
		run = 1;
		while (p + run < end && !glob_is_special(p[run]))
			run++;
		buf_add(text, p, run);
		p += run;
	}
	s.literals = (uint32_t)(text->len - start);
	s.suffix_at = (uint32_t)(since - start);
	s.suffix_len = (uint32_t)(text->len - since);
	if (s.form == GLOB_LITERAL)
		s.prefix_len = s.literals;
	else if (only_stars)
		s.form = GLOB_ANY;
	return s;
}

/* ---- matching -------------------------------------------------------------------------------- */

/* Matches one character of name with the pattern at *p, and moves *p on if it matches. */
static bool match_one(const char **p, const char *end, const char *name, size_t left, size_t *ret_n)
{
	const char *at = *p, *why;
	uint32_t c;

	*ret_n = next_char(name, left, &c);
	if (*at == '?') {
		*p = at + 1;
		return true;
	}
	if (*at == '[') {
		*p = set_end(at, end, &why);
		return set_holds(at, end, c);
	}
	at += *at == '\\';
	if (*at != *name)
		return false;
	*ret_n = 1;
	*p = at + 1;
	return true;
}

bool glob_match(const char *pattern, size_t len, const char *name, size_t name_len)
{
	const char *p = pattern, *end = pattern + len;
	const char *s = name, *stop = name + name_len;
	const char *star = NULL, *retry = NULL;
	uint32_t c;

	while (s < stop) {
		size_t n;

		if (p < end && *p == '*') {
			star = ++p;
			retry = s;
			continue;
		}
		if (p < end && match_one(&p, end, s, (size_t)(stop - s), &n)) {
			s += n;
			continue;
		}
		if (!star)
			return false;
		p = star;
		retry += next_char(retry, (size_t)(stop - retry), &c);
		s = retry;
	}
	while (p < end && *p == '*')
		p++;
	return p == end;
}

void glob_quote(struct buf *out, const char *name)
{
	while (*name) {
		size_t n = 0;

		while (name[n] && !glob_is_special(name[n]))
			n++;
		buf_add(out, name, n);
		name += n;
		if (!*name)
			return;
		buf_ch(out, '\\');
		buf_ch(out, *name++);
	}
}
