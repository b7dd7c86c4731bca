/* shell - a recursive descent over the text; see shell.h. */
/* SPDX-License-Identifier: MIT */
#include "core/hook/shell.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "core/base/buf.h"

#define HEREDOCS_MAX 16 /* that wait for the end of their line */

struct heredoc {
	const char *end;
	bool strip; /* "<<-": leading tabs do not count */
};

struct parser {
	struct shell_line *line;
	const char *p, *end;
	unsigned depth;
	unsigned braces; /* "${" that are open where we are */
	struct heredoc docs[HEREDOCS_MAX];
	size_t n_docs;
};

/* The command whose words are being read. Words of nested commands come before its own. */
struct draft {
	struct shell_word words[256];
	size_t n_words;
	struct shell_redirect redirects[32];
	size_t n_redirects;
};

static int parse_list(struct parser *ps, char until);
static int read_word(struct parser *ps, struct shell_word *ret);

/* ---- the result ------------------------------------------------------------------------------ */

static int add_command(struct shell_line *l, const struct draft *d, bool piped)
{
	struct shell_command *c;

	if (d->n_words == 0 && d->n_redirects == 0)
		return 0;
	if (l->n_commands == SHELL_COMMANDS_MAX || l->n_words + d->n_words > SHELL_WORDS_MAX)
		return -E2BIG;
	if (l->n_commands == l->cap_commands) {
		l->cap_commands = l->cap_commands * 2 + 4;
		l->commands = xrealloc(l->commands, l->cap_commands * sizeof(*l->commands));
	}
	if (l->n_words + d->n_words > l->cap_words) {
		l->cap_words = (l->n_words + d->n_words) * 2;
		l->words = xrealloc(l->words, l->cap_words * sizeof(*l->words));
	}
	if (l->n_redirects + d->n_redirects > l->cap_redirects) {
		l->cap_redirects = (l->n_redirects + d->n_redirects) * 2;
		l->redirects = xrealloc(l->redirects, l->cap_redirects * sizeof(*l->redirects));
	}
	c = &l->commands[l->n_commands++];
	*c = (struct shell_command){l->n_words, d->n_words, l->n_redirects, d->n_redirects, piped};
	for (size_t i = 0; i < d->n_words; i++)
		l->words[l->n_words++] = d->words[i];
	for (size_t i = 0; i < d->n_redirects; i++)
		l->redirects[l->n_redirects++] = d->redirects[i];
	return 0;
}

void shell_done(struct shell_line *l)
{
	free(l->commands);
	free(l->words);
	free(l->redirects);
	arena_done(&l->strings);
	*l = (struct shell_line){0};
}

/* ---- blanks, comments, here-documents -------------------------------------------------------- */

static bool at(const struct parser *ps, const char *s)
{
	size_t len = strlen(s);

	return (size_t)(ps->end - ps->p) >= len && memcmp(ps->p, s, len) == 0;
}

static bool is_meta(char c)
{
	return strchr(" \t\n;&|<>()", c) != NULL && c;
}

static void skip_blanks(struct parser *ps)
{
	for (; ps->p < ps->end; ps->p++) {
		if (at(ps, "\\\n"))
			ps->p++;
		else if (*ps->p != ' ' && *ps->p != '\t' && *ps->p != '\r')
			break;
	}
	if (ps->p < ps->end && *ps->p == '#')
		while (ps->p < ps->end && *ps->p != '\n')
			ps->p++;
}

/* Over the bodies that follow this line; one that does not end goes to the end of the text. */
static void skip_heredocs(struct parser *ps)
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

static int descend(struct parser *ps, char until)
{
	int r;

	if (ps->depth == SHELL_DEPTH_MAX)
		return -E2BIG;
	ps->depth++;
	r = parse_list(ps, until);
	ps->depth--;
	return r;
}

/* "$((1 + (2)))", from behind "$((" to behind "))". */
static int skip_arithmetic(struct parser *ps)
{
	int open = 2;

	for (; ps->p < ps->end && open > 0; ps->p++)
		open += *ps->p == '(' ? 1 : *ps->p == ')' ? -1 : 0;
	return open == 0 ? 0 : -EINVAL;
}

/* "`command`": its text without the backslashes that quote in there, parsed by itself. */
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
	r = descend(&inner, '\0');
	return r;
}

/* "${name:-word}": to its brace; substitutions in it are read, quotes respected. */
static int skip_braces(struct parser *ps)
{
	ps->p += 2;
	while (ps->p < ps->end && *ps->p != '}') {
		struct shell_word word;
		int r;

		if (is_meta(*ps->p)) {
			ps->p++;
			continue;
		}
		if (ps->braces == SHELL_DEPTH_MAX)
			return -E2BIG;
		ps->braces++;
		r = read_word(ps, &word);
		ps->braces--;
		if (r < 0)
			return r;
	}
	if (ps->p == ps->end)
		return -EINVAL;
	ps->p++;
	return 0;
}

/* At a dollar sign or a backquote: over the expansion, whose commands are listed. */
static int read_expansion(struct parser *ps)
{
	if (*ps->p == '`')
		return read_backquotes(ps);
	if (at(ps, "$((")) {
		const char *start = ps->p;

		ps->p += 3;
		if (skip_arithmetic(ps) == 0 && ps->p[-2] == ')')
			return 0;
		ps->p = start; /* "$((a); b)": a subshell in a substitution */
	}
	if (at(ps, "$(")) {
		ps->p += 2;
		return descend(ps, ')');
	}
	if (at(ps, "${"))
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

/* Inside $'...': \n, \t, \\, \', \xHH, \NNN; others stay as they are. */
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
	ps->p--; /* the caller goes on behind the last byte */
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
		if (at(ps, "\\\n")) {
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
	if (at(ps, "$'") || at(ps, "$\"")) {
		ps->p++;
		return add_quoted(ps, g, *ps->p, *ps->p == '\'');
	}
	if (c == '$' || c == '`')
		return add_expansion(ps, g);
	buf_ch(&g->text, c);
	ps->p++;
	return 0;
}

static int read_word(struct parser *ps, struct shell_word *ret)
{
	struct growing g = {BUF_INIT, {NULL, true, false}};
	int r = 0;

	while (r == 0 && ps->p < ps->end && !is_meta(*ps->p)) {
		if (*ps->p == '}' && ps->braces > 0)
			break; /* of "${...}" */
		r = add_part(ps, &g);
	}
	g.word.text = arena_strn(&ps->line->strings, g.text.data, g.text.len);
	buf_done(&g.text);
	*ret = g.word;
	return r;
}

/* ---- commands -------------------------------------------------------------------------------- */

static int add_word(struct draft *d, struct shell_word word)
{
	if (d->n_words == ARRAY_LEN(d->words))
		return -E2BIG;
	d->words[d->n_words++] = word;
	return 0;
}

/* "<(command)" and ">(command)": a word that names a pipe. */
static int read_process(struct parser *ps, struct draft *d)
{
	int r;

	ps->p += 2;
	r = descend(ps, ')');
	return r < 0 ? r : add_word(d, (struct shell_word){"/dev/fd/N", false, false});
}

static int read_redirect(struct parser *ps, struct draft *d)
{
	static const char *const ops[] = {"<<<", "<<-", "&>>", "<<", ">>", "<&",
					  ">&",	 "<>",	">|",  "&>", "<",  ">"};
	struct shell_redirect to = {NULL, {NULL, true, false}};
	int r;

	if (at(ps, "<(") || at(ps, ">("))
		return read_process(ps, d);
	for (size_t i = 0; !to.op && i < ARRAY_LEN(ops); i++)
		if (at(ps, ops[i]))
			to.op = ops[i];
	if (!to.op)
		return -EINVAL;
	ps->p += strlen(to.op);
	skip_blanks(ps);
	if (ps->p == ps->end || (is_meta(*ps->p) && !at(ps, "<(") && !at(ps, ">(")))
		return -EINVAL;
	if (is_meta(*ps->p))
		return read_process(ps, d);
	r = read_word(ps, &to.target);
	if (r < 0)
		return r;
	if (str_eq(to.op, "<<") || str_eq(to.op, "<<-")) {
		if (ps->n_docs == HEREDOCS_MAX)
			return -E2BIG;
		ps->docs[ps->n_docs++] = (struct heredoc){to.target.text, str_eq(to.op, "<<-")};
		return 0;
	}
	if (d->n_redirects == ARRAY_LEN(d->redirects))
		return -E2BIG;
	d->redirects[d->n_redirects++] = to;
	return 0;
}

static bool is_number(const char *from, const char *to)
{
	for (const char *p = from; p < to; p++)
		if (!isdigit((unsigned char)*p))
			return false;
	return to > from;
}

/* Words that stand before a command without being one. */
static bool is_reserved(const struct shell_word *w)
{
	static const char *const words[] = {"if", "then", "elif",  "else",  "fi",
					    "do", "done", "while", "until", "!",
					    "{",  "}",	  "time",  "esac",  "coproc"};

	for (size_t i = 0; !w->quoted && i < ARRAY_LEN(words); i++)
		if (str_eq(w->text, words[i]))
			return true;
	return false;
}

static bool is_word(const struct shell_word *w, const char *text)
{
	return !w->quoted && str_eq(w->text, text);
}

/* "[[ a < b && c ]]": its operators are no lists and no redirections. */
static int skip_test(struct parser *ps)
{
	while (ps->p < ps->end) {
		struct shell_word word;
		int r;

		if (is_meta(*ps->p)) {
			ps->p++;
			continue;
		}
		r = read_word(ps, &word);
		if (r < 0 || str_eq(word.text, "]]"))
			return r;
	}
	return -EINVAL;
}

/* Where the words of a loop or a case stand in their command. */
enum place {
	PLACE_START,   /* a reserved word or the command's name comes next */
	PLACE_NAME,    /* "function": a name comes next, then its body */
	PLACE_WORDS,   /* arguments */
	PLACE_IGNORED, /* "for x in a b", "case w in": nothing is run until the line goes on */
};

struct reading {
	struct draft draft;
	enum place place;
	bool piped;
	int cases;    /* open "case"s of this list */
	bool pattern; /* "a|b)" comes next */
};

static int end_command(struct parser *ps, struct reading *rd, bool pipe)
{
	int r = rd->place == PLACE_IGNORED ? 0 : add_command(ps->line, &rd->draft, rd->piped);

	rd->draft.n_words = rd->draft.n_redirects = 0;
	rd->place = PLACE_START;
	rd->piped = pipe;
	return r;
}

/* "case word in" -> patterns; the words of "for" and "select" -> nothing. */
static int take_word(struct parser *ps, struct reading *rd, const struct shell_word *word)
{
	if (rd->place == PLACE_IGNORED) {
		if (rd->pattern || !is_word(word, "in") || rd->cases == 0)
			return 0;
		rd->pattern = true;
		rd->place = PLACE_START;
		return 0;
	}
	if (rd->place == PLACE_NAME) {
		rd->place = PLACE_START;
		return 0;
	}
	if (rd->place == PLACE_START && rd->draft.n_words == 0) {
		if (is_word(word, "[[")) {
			rd->place = PLACE_IGNORED;
			return skip_test(ps);
		}
		if (is_word(word, "esac") && rd->cases > 0)
			rd->cases--;
		if (is_reserved(word))
			return 0;
		if (is_word(word, "case")) {
			rd->cases++;
			rd->place = PLACE_IGNORED;
			return 0;
		}
		if (is_word(word, "for") || is_word(word, "select")) {
			rd->place = PLACE_IGNORED;
			return 0;
		}
		if (is_word(word, "function")) {
			rd->place = PLACE_NAME;
			return 0;
		}
	}
	rd->place = PLACE_WORDS;
	return add_word(&rd->draft, *word);
}

/* Over "(a | b)" of a case; "esac" ends it. */
static int read_pattern(struct parser *ps, struct reading *rd)
{
	struct shell_word word = {"", true, false};
	int r;

	if (*ps->p == '(')
		ps->p++;
	while (ps->p < ps->end && *ps->p != ')') {
		if (is_meta(*ps->p)) {
			ps->p++;
			continue;
		}
		r = read_word(ps, &word);
		if (r < 0)
			return r;
		if (is_word(&word, "esac")) {
			rd->cases--;
			rd->pattern = false;
			return 0;
		}
	}
	if (ps->p == ps->end)
		return -EINVAL;
	ps->p++;
	rd->pattern = false;
	return 0;
}

/* "(" where a command may begin: a subshell, or arithmetic; behind a name: a function. */
static int read_parenthesis(struct parser *ps, struct reading *rd)
{
	if (rd->place == PLACE_IGNORED || rd->draft.n_words == 1) {
		ps->p++;
		skip_blanks(ps);
		if (ps->p < ps->end && *ps->p == '(' && rd->place == PLACE_IGNORED) {
			ps->p++;
			return skip_arithmetic(ps); /* "for ((i = 0; ...))" */
		}
		if (ps->p == ps->end || *ps->p != ')')
			return -EINVAL;
		ps->p++;
		rd->draft.n_words = 0;
		rd->place = PLACE_START;
		return 0;
	}
	if (rd->draft.n_words > 0)
		return -EINVAL;
	if (at(ps, "((")) {
		const char *start = ps->p;

		ps->p += 2;
		if (skip_arithmetic(ps) == 0 && ps->p[-2] == ')')
			return 0;
		ps->p = start;
	}
	ps->p++;
	return descend(ps, ')');
}

/* One operator that ends a command; *ps->p is one of ";&|\n". */
static int read_operator(struct parser *ps, struct reading *rd)
{
	bool pipe = *ps->p == '|' && !at(ps, "||");
	bool next = rd->cases > 0 && (at(ps, ";;") || at(ps, ";&"));
	bool newline = *ps->p == '\n';
	int r = end_command(ps, rd, pipe);

	ps->p += at(ps, ";;&")									? 3
		 : at(ps, "||") || at(ps, "&&") || at(ps, ";;") || at(ps, ";&") || at(ps, "|&") ? 2
												: 1;
	rd->pattern = rd->pattern || next;
	if (newline)
		skip_heredocs(ps);
	return r;
}

static int read_plain(struct parser *ps, struct reading *rd)
{
	const char *start = ps->p;
	struct shell_word word;
	int r = read_word(ps, &word);

	if (r < 0)
		return r;
	if (ps->p < ps->end && (*ps->p == '<' || *ps->p == '>') && is_number(start, ps->p))
		return 0; /* "2>": the descriptor */
	return take_word(ps, rd, &word);
}

static int read_next(struct parser *ps, struct reading *rd)
{
	if (rd->pattern && *ps->p != '\n')
		return read_pattern(ps, rd);
	if (at(ps, "&>") || *ps->p == '<' || *ps->p == '>')
		return read_redirect(ps, &rd->draft);
	if (strchr(";&|\n", *ps->p) && *ps->p)
		return read_operator(ps, rd);
	if (*ps->p == '(')
		return read_parenthesis(ps, rd);
	return read_plain(ps, rd);
}

/* Up to the closing `until`, which is taken; '\0': up to the end. */
static int parse_list(struct parser *ps, char until)
{
	struct reading *rd = xcalloc(1, sizeof(*rd));
	unsigned braces = ps->braces;
	bool closed = until == '\0';
	int r = 0;

	ps->braces = 0;
	while (r == 0) {
		skip_blanks(ps);
		if (ps->p == ps->end)
			break;
		if (*ps->p == ')' && !rd->pattern) {
			closed = until == ')';
			if (closed)
				ps->p++;
			else
				r = -EINVAL;
			break;
		}
		r = read_next(ps, rd);
	}
	ps->braces = braces;
	if (r == 0)
		r = end_command(ps, rd, false);
	free(rd);
	return r < 0 ? r : closed ? 0 : -EINVAL;
}

int shell_parse(struct shell_line *line, const char *text, size_t len)
{
	struct parser ps = {.line = line, .p = text, .end = text + len};

	if (len > SHELL_TEXT_MAX)
		return -E2BIG;
	if (memchr(text, '\0', len))
		return -EINVAL;
	return parse_list(&ps, '\0');
}
