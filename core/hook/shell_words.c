/* shell_words - reads the words of a command line: quotes, expansions, here-documents. */
/* SPDX-License-Identifier: MIT */
#include "core/hook/shell_priv.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "core/base/buf.h"

/* ---- blanks, comments, here-documents -------------------------------------------------------- */

bool shell_at(const struct parser *ps, const char *s)
{
	size_t len = strlen(s);

	return (size_t)(ps->end - ps->p) >= len && memcmp(ps->p, s, len) == 0;
}

bool shell_is_meta(char c)
{
	return strchr(" \t\n;&|<>()", c) != NULL && c;
}

void shell_skip_blanks(struct parser *ps)
{
	for (; ps->p < ps->end; ps->p++) {
		if (shell_at(ps, "\\\n"))
			ps->p++;
		else if (*ps->p != ' ' && *ps->p != '\t' && *ps->p != '\r')
			break;
	}
	if (ps->p < ps->end && *ps->p == '#')
		while (ps->p < ps->end && *ps->p != '\n')
			ps->p++;
}

/* Skips the bodies after this line; one without an end extends to the end of the text. */
void shell_skip_heredocs(struct parser *ps)
{
	for (size_t i = 0; i < ps->n_docs; i++) {
		const struct heredoc *d = &ps->docs[i];
		size_t len = strlen(d->end);
		bool found = false;

		while (ps->p < ps->end && !found) {
			const char *line = ps->p;
			const char *eol = memchr(line, '\n', (size_t)(ps->end - line));

			if (!eol)
				eol = ps->end;
			ps->p = eol < ps->end ? eol + 1 : eol;
			while (d->strip && line < eol && *line == '\t')
				line++;
			found = (size_t)(eol - line) == len && memcmp(line, d->end, len) == 0;
		}
	}
	ps->n_docs = 0;
}

/* ---- expansions ------------------------------------------------------------------------------ */

int shell_descend(struct parser *ps, char until)
{
	int r;

	if (ps->depth == SHELL_DEPTH_MAX)
		return -E2BIG;
	ps->depth++;
	r = shell_parse_list(ps, until);
	ps->depth--;
	return r;
}

/* Skips "$((1 + (2)))" from behind "$((" to behind "))". */
int shell_skip_arithmetic(struct parser *ps)
{
	int open = 2;

	for (; ps->p < ps->end && open > 0; ps->p++)
		open += *ps->p == '(' ? 1 : *ps->p == ')' ? -1 : 0;
	return open == 0 ? 0 : -EINVAL;
}

/* Reads "`command`": parses its text separately, without the backslashes that quote in it. */
static int read_backquotes(struct parser *ps)
{
	AUTO_BUF struct buf text = BUF_INIT;
	struct parser inner = *ps;
	int r;

	for (ps->p++; ps->p < ps->end && *ps->p != '`'; ps->p++) {
		if (*ps->p == '\\' && ps->p + 1 < ps->end && strchr("`\\$", ps->p[1]))
			ps->p++;
		buf_ch(&text, *ps->p);
	}
	if (ps->p == ps->end)
		return -EINVAL;
	ps->p++;
	inner.p = text.data;
	inner.end = text.data + text.len;
	inner.n_docs = 0;
	r = shell_descend(&inner, '\0');
	return r;
}

/* Skips "${name:-word}" up to its brace; reads its substitutions, and respects quotes. */
static int skip_braces(struct parser *ps)
{
	ps->p += 2;
	while (ps->p < ps->end && *ps->p != '}') {
		struct shell_word word;
		int r;

		if (shell_is_meta(*ps->p)) {
			ps->p++;
			continue;
		}
		if (ps->braces == SHELL_DEPTH_MAX)
			return -E2BIG;
		ps->braces++;
		r = shell_read_word(ps, &word);
		ps->braces--;
		if (r < 0)
			return r;
	}
	if (ps->p == ps->end)
		return -EINVAL;
	ps->p++;
	return 0;
}

/* Skips an expansion at a dollar sign or a backquote, and lists its commands. */
static int read_expansion(struct parser *ps)
{
	if (*ps->p == '`')
		return read_backquotes(ps);
	if (shell_at(ps, "$((")) {
		const char *start = ps->p;

		ps->p += 3;
		if (shell_skip_arithmetic(ps) == 0 && ps->p[-2] == ')')
			return 0;
		ps->p = start; /* "$((a); b)": a subshell in a substitution */
	}
	if (shell_at(ps, "$(")) {
		ps->p += 2;
		return shell_descend(ps, ')');
	}
	if (shell_at(ps, "${"))
		return skip_braces(ps);
	ps->p++;
	if (ps->p < ps->end && strchr("@*#?$!-", *ps->p) && *ps->p)
		ps->p++;
	else
		while (ps->p < ps->end && (isalnum((unsigned char)*ps->p) || *ps->p == '_'))
			ps->p++;
	return 0;
}

/* ---- words ----------------------------------------------------------------------------------- */

struct growing {
	struct buf text;
	struct shell_word word;
};

static int add_expansion(struct parser *ps, struct growing *g)
{
	const char *start = ps->p;
	int r = read_expansion(ps);

	if (r < 0)
		return r;
	buf_add(&g->text, start, (size_t)(ps->p - start));
	if (ps->p - start > 1 || *start != '$')
		g->word.literal = false;
	return 0;
}

/* Adds an escape inside $'...': \n, \t, \\, \', \xHH, \NNN; leaves others unchanged. */
static void add_escape(struct parser *ps, struct growing *g)
{
	static const char names[] = "abefnrtv\\'\"?", bytes[] = "\a\b\033\f\n\r\t\v\\'\"?";
	const char *found = memchr(names, *ps->p, sizeof(names) - 1);
	unsigned value = 0;
	int n = 0, base = *ps->p == 'x' ? 16 : 8;

	if (found) {
		buf_ch(&g->text, bytes[found - names]);
		return;
	}
	if (base == 16)
		ps->p++;
	for (; ps->p < ps->end && n < (base == 16 ? 2 : 3); n++, ps->p++) {
		const char *digits = "0123456789abcdef";
		const char *d = strchr(digits, tolower((unsigned char)*ps->p));

		if (!d || !*d || d - digits >= base)
			break;
		value = value * (unsigned)base + (unsigned)(d - digits);
	}
	ps->p--; /* the caller continues after the last byte */
	if (n > 0 && value)
		buf_ch(&g->text, (char)value);
}

static int add_quoted(struct parser *ps, struct growing *g, char quote, bool ansi)
{
	g->word.quoted = true;
	for (ps->p++; ps->p < ps->end && *ps->p != quote; ps->p++) {
		if (ansi && *ps->p == '\\' && ps->p + 1 < ps->end) {
			ps->p++;
			add_escape(ps, g);
		} else if (quote == '"' && *ps->p == '\\' && ps->p + 1 < ps->end) {
			if (!strchr("$`\"\\\n", ps->p[1]))
				buf_ch(&g->text, '\\');
			if (*++ps->p != '\n')
				buf_ch(&g->text, *ps->p);
		} else if (quote == '"' && (*ps->p == '$' || *ps->p == '`')) {
			int r = add_expansion(ps, g);

			if (r < 0)
				return r;
			ps->p--;
		} else {
			buf_ch(&g->text, *ps->p);
		}
	}
	if (ps->p == ps->end)
		return -EINVAL;
	ps->p++;
	return 0;
}

static int add_part(struct parser *ps, struct growing *g)
{
	char c = *ps->p;

	if (c == '\\') {
		if (shell_at(ps, "\\\n")) {
			ps->p += 2;
			return 0;
		}
		if (++ps->p < ps->end)
			buf_ch(&g->text, *ps->p++);
		g->word.quoted = true;
		return 0;
	}
	if (c == '\'' || c == '"')
		return add_quoted(ps, g, c, false);
	if (shell_at(ps, "$'") || shell_at(ps, "$\"")) {
		ps->p++;
		return add_quoted(ps, g, *ps->p, *ps->p == '\'');
	}
	if (c == '$' || c == '`')
		return add_expansion(ps, g);
	buf_ch(&g->text, c);
	ps->p++;
	return 0;
}

int shell_read_word(struct parser *ps, struct shell_word *ret)
{
	struct growing g = {BUF_INIT, {NULL, true, false}};
	int r = 0;

	while (r == 0 && ps->p < ps->end && !shell_is_meta(*ps->p)) {
		if (*ps->p == '}' && ps->braces > 0)
			break; /* it ends "${...}" */
		r = add_part(ps, &g);
	}
	g.word.text = arena_strn(&ps->line->strings, g.text.data, g.text.len);
	buf_done(&g.text);
	*ret = g.word;
	return r;
}
