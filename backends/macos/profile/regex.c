/* regex - regular expressions of profiles, built from paths, names and patterns of rules. */
/* SPDX-License-Identifier: MIT */
#include "backends/macos/profile/regex.h"

#include <string.h>

#include "core/policy/rules/pattern.h"

#define KELVIN "\xe2\x84\xaa"
#define LONG_S "\xc5\xbf"
/* One character in UTF-8. */
#define ONE_CHARACTER                                                                              \
	"([^/\x80-\xff]|[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf][\x80-\xbf]|"                 \
	"[\xf0-\xf4][\x80-\xbf][\x80-\xbf][\x80-\xbf])"
#define ANY_CHARACTER "[^/]+" /* a character in any normal form */

const char regex_tail[] = "[. ]*(:[^/]*)?";

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_high(char c)
{
	return (unsigned char)c >= 0x80;
}

static void quote_char(struct buf *out, char c)
{
	if (strchr(".*+?()[]{}|^$\\", c))
		buf_ch(out, '\\');
	buf_ch(out, c);
}

void regex_quote(struct buf *out, const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		quote_char(out, text[i]);
}

static void put_letter(struct buf *out, char c)
{
	char low = (char)(c | 0x20), high = (char)(c & ~0x20);

	if (low == 'k')
		buf_str(out, "([kK]|" KELVIN ")");
	else if (low == 's')
		buf_str(out, "([sS]|" LONG_S ")");
	else
		buf_fmt(out, "[%c%c]", low, high);
}

/* A letter and a following combining mark may be one character in another normal form, and vice
 * versa. So a letter before a non-ASCII character is not matched literally. */
void regex_name(struct buf *out, const char *name, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (is_high(name[i]) || (i + 1 < len && is_high(name[i + 1]))) {
			while (i + 1 < len && is_high(name[i + 1]))
				i++;
			buf_str(out, ANY_CHARACTER);
		} else if (is_letter(name[i])) {
			put_letter(out, name[i]);
		} else {
			quote_char(out, name[i]);
		}
	}
}

/* ---- patterns of rules ----------------------------------------------------------------------- */

struct glob_text {
	const char *p, *end;
};

/* Returns the position after the set's "]". */
static const char *set_end(const struct glob_text *g)
{
	const char *at = g->p + 1;

	at += *at == '!' || *at == '^';
	while (*at != ']')
		at += *at == '\\' ? 2 : 1;
	return at + 1;
}

/* Appends a set of plain ASCII. Returns false for any other set. */
static bool put_set(struct buf *out, const char *from, const char *end)
{
	struct buf set = BUF_INIT;
	bool good = true;

	from++;
	buf_ch(&set, '[');
	good = *from != '!' && *from != '^';
	for (; good && from < end - 1; from++) {
		char c = *from;

		if (c == '\\')
			c = *++from;
		good = !is_high(c) && c >= ' ' && c != '/' && c != ']' && c != '[' && c != '^' &&
		       c != '\\' && (c != '-' || set.len > 1);
		buf_ch(&set, c);
	}
	good = good && set.data[set.len - 1] != '-';
	buf_ch(&set, ']');
	if (good)
		buf_add(out, set.data, set.len);
	buf_done(&set);
	return good;
}

/* Takes the literal text up to the next wildcard, without backslashes. */
static void take_literal(struct glob_text *g, struct buf *ret)
{
	buf_clear(ret);
	while (g->p < g->end && *g->p != '*' && *g->p != '?' && *g->p != '[') {
		g->p += *g->p == '\\';
		buf_ch(ret, *g->p++);
	}
}

static bool put_wildcard(struct buf *out, struct glob_text *g, enum regex_width width)
{
	char c = *g->p;
	const char *end = c == '[' ? set_end(g) : g->p + 1;
	bool good = true;

	if (c == '*')
		buf_str(out, "[^/]*");
	else if (width == REGEX_WIDE)
		buf_str(out, ANY_CHARACTER);
	else if (c == '?')
		buf_str(out, ONE_CHARACTER);
	else
		good = put_set(out, g->p, end);
	g->p = end;
	return good;
}

static bool put_component(struct buf *out, const char *text, size_t len, enum regex_width width)
{
	struct glob_text g = {text, text + len};
	AUTO_BUF struct buf literal = BUF_INIT;

	while (g.p < g.end) {
		if (*g.p == '*' || *g.p == '?' || *g.p == '[') {
			if (!put_wildcard(out, &g, width))
				return false;
			continue;
		}
		take_literal(&g, &literal);
		if (width == REGEX_WIDE)
			regex_name(out, literal.data, literal.len);
		else
			regex_quote(out, literal.data, literal.len);
	}
	if (width == REGEX_WIDE)
		buf_str(out, regex_tail);
	return true;
}

static void put_tail(struct buf *out, const struct pattern *p)
{
	for (unsigned i = 0; i < p->min; i++)
		buf_str(out, "/[^/]+");
	if (p->max == PATTERN_ANY)
		buf_str(out, p->n || p->min ? "(/.*)?" : "/.*");
	buf_ch(out, '$');
}

static bool put_pattern(struct buf *out, const struct pattern *p, enum regex_width width)
{
	buf_ch(out, '^');
	for (size_t i = 0; i < p->n; i++) {
		const struct pattern_part *part = &p->parts[i];

		if (part->deep) {
			buf_str(out, "(/.*)?");
			continue;
		}
		buf_ch(out, '/');
		if (!put_component(out, p->text.data + part->from, part->len, width))
			return false;
	}
	if (!p->n && !p->min && !p->max)
		buf_ch(out, '/');
	put_tail(out, p);
	return true;
}

bool regex_pattern(struct buf *out, const char *pattern, enum regex_width width)
{
	struct pattern p = PATTERN_INIT;
	size_t start = out->len;
	const char *why;
	bool good = pattern_parse(&p, pattern, &why) && put_pattern(out, &p, width);

	if (!good)
		buf_truncate(out, start);
	pattern_done(&p);
	return good;
}
