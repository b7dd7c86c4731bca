/* shell - finds the commands of a command line by recursive descent; see shell.h. */
/* SPDX-License-Identifier: MIT */
#include "core/hook/shell_priv.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "core/base/text.h"

/* The command that is being read. Words of nested commands come before its own. */
struct draft {
	struct shell_word words[256];
	size_t n_words;
	struct shell_redirect redirects[32];
	size_t n_redirects;
};

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

/* ---- commands -------------------------------------------------------------------------------- */

static int add_word(struct draft *d, struct shell_word word)
{
	if (d->n_words == ARRAY_LEN(d->words))
		return -E2BIG;
	d->words[d->n_words++] = word;
	return 0;
}

/* Reads "<(command)" or ">(command)": a word that names a pipe. */
static int read_process(struct parser *ps, struct draft *d)
{
	int r;

	ps->p += 2;
	r = shell_descend(ps, ')');
	return r < 0 ? r : add_word(d, (struct shell_word){"/dev/fd/N", false, false});
}

static int read_redirect(struct parser *ps, struct draft *d)
{
	static const char *const ops[] = {"<<<", "<<-", "&>>", "<<", ">>", "<&",
					  ">&",	 "<>",	">|",  "&>", "<",  ">"};
	struct shell_redirect to = {NULL, {NULL, true, false}};
	int r;

	if (shell_at(ps, "<(") || shell_at(ps, ">("))
		return read_process(ps, d);
	for (size_t i = 0; !to.op && i < ARRAY_LEN(ops); i++)
		if (shell_at(ps, ops[i]))
			to.op = ops[i];
	if (!to.op)
		return -EINVAL;
	ps->p += strlen(to.op);
	shell_skip_blanks(ps);
	if (ps->p == ps->end ||
	    (shell_is_meta(*ps->p) && !shell_at(ps, "<(") && !shell_at(ps, ">(")))
		return -EINVAL;
	if (shell_is_meta(*ps->p))
		return read_process(ps, d);
	r = shell_read_word(ps, &to.target);
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

static bool is_word(const struct shell_word *w, const char *text)
{
	return !w->quoted && str_eq(w->text, text);
}

/* Skips "[[ a < b && c ]]", whose operators are neither lists nor redirections. */
static int skip_test(struct parser *ps)
{
	while (ps->p < ps->end) {
		struct shell_word word;
		int r;

		if (shell_is_meta(*ps->p)) {
			ps->p++;
			continue;
		}
		r = shell_read_word(ps, &word);
		if (r < 0 || str_eq(word.text, "]]"))
			return r;
	}
	return -EINVAL;
}

/* What the next word of a command is. */
enum place {
	PLACE_START,   /* a reserved word or the command's name comes next */
	PLACE_NAME,    /* "function": a name comes next, then its body */
	PLACE_WORDS,   /* arguments */
	PLACE_IGNORED, /* "for x in a b", "case w in": nothing runs until the line continues */
};

struct reading {
	struct draft draft;
	enum place place;
	bool piped;
	int cases;    /* number of open "case"s in this list */
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

/* Takes a word. After "case word in" come patterns; the words of "for" and "select" are skipped. */
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
		if (!word->quoted && text_is_reserved(word->text)) /* a command comes next */
			return 0;
	}
	rd->place = PLACE_WORDS;
	return add_word(&rd->draft, *word);
}

/* Skips "(a | b)" of a case; "esac" ends it. */
static int read_pattern(struct parser *ps, struct reading *rd)
{
	struct shell_word word = {"", true, false};
	int r;

	if (*ps->p == '(')
		ps->p++;
	while (ps->p < ps->end && *ps->p != ')') {
		if (shell_is_meta(*ps->p)) {
			ps->p++;
			continue;
		}
		r = shell_read_word(ps, &word);
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

/* Reads "(" at the start of a command: a subshell or arithmetic; after a name: a function. */
static int read_parenthesis(struct parser *ps, struct reading *rd)
{
	if (rd->place == PLACE_IGNORED || rd->draft.n_words == 1) {
		ps->p++;
		shell_skip_blanks(ps);
		if (ps->p < ps->end && *ps->p == '(' && rd->place == PLACE_IGNORED) {
			ps->p++;
			return shell_skip_arithmetic(ps); /* "for ((i = 0; ...))" */
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
	if (shell_at(ps, "((")) {
		const char *start = ps->p;

		ps->p += 2;
		if (shell_skip_arithmetic(ps) == 0 && ps->p[-2] == ')')
			return 0;
		ps->p = start;
	}
	ps->p++;
	return shell_descend(ps, ')');
}

/* Reads one operator that ends a command; *ps->p is one of ";&|\n". */
static int read_operator(struct parser *ps, struct reading *rd)
{
	bool pipe = *ps->p == '|' && !shell_at(ps, "||");
	bool next = rd->cases > 0 && (shell_at(ps, ";;") || shell_at(ps, ";&"));
	bool newline = *ps->p == '\n';
	int r = end_command(ps, rd, pipe);

	ps->p += shell_at(ps, ";;&") ? 3
		 : shell_at(ps, "||") || shell_at(ps, "&&") || shell_at(ps, ";;") ||
				 shell_at(ps, ";&") || shell_at(ps, "|&")
			 ? 2
			 : 1;
	rd->pattern = rd->pattern || next;
	if (newline)
		shell_skip_heredocs(ps);
	return r;
}

static int read_plain(struct parser *ps, struct reading *rd)
{
	const char *start = ps->p;
	struct shell_word word;
	int r = shell_read_word(ps, &word);

	if (r < 0)
		return r;
	if (ps->p < ps->end && (*ps->p == '<' || *ps->p == '>') && is_number(start, ps->p))
		return 0; /* "2>": the word is the descriptor */
	return take_word(ps, rd, &word);
}

static int read_next(struct parser *ps, struct reading *rd)
{
	if (rd->pattern && *ps->p != '\n')
		return read_pattern(ps, rd);
	if (shell_at(ps, "&>") || *ps->p == '<' || *ps->p == '>')
		return read_redirect(ps, &rd->draft);
	if (strchr(";&|\n", *ps->p) && *ps->p)
		return read_operator(ps, rd);
	if (*ps->p == '(')
		return read_parenthesis(ps, rd);
	return read_plain(ps, rd);
}

/* Parses up to and including `until`; '\0': up to the end. */
int shell_parse_list(struct parser *ps, char until)
{
	struct reading *rd = xcalloc(1, sizeof(*rd));
	unsigned braces = ps->braces;
	bool closed = until == '\0';
	int r = 0;

	ps->braces = 0;
	while (r == 0) {
		shell_skip_blanks(ps);
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
	return shell_parse_list(&ps, '\0');
}
