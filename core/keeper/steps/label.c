/* label - a command as people would type it: wrappers taken off, arguments quoted where needed. */
/* SPDX-License-Identifier: MIT */
#include "core/keeper/steps/label.h"

#include <assert.h>
#include <ctype.h>
#include <string.h>

#include "core/base/path.h"
#include "core/base/text.h"
#include "core/keeper/steps/command.h"

#define WORDS_MAX 1024

struct words {
	const char *list[WORDS_MAX];
	size_t n;
	bool cut; /* there is more */
};

#define CUT " " LABEL_REST

static void split(struct words *w, const char *argv, size_t len)
{
	const char *end = argv + len;

	w->n = 0;
	while (argv < end && w->n < WORDS_MAX) {
		const char *nul = memchr(argv, '\0', (size_t)(end - argv));

		if (!nul)
			break; /* not a whole argument: the door ends each with NUL */
		w->list[w->n++] = argv;
		argv = nul + 1;
	}
	w->cut = argv < end;
}

static const char *program(const char *word)
{
	if (*word == '-') /* a login shell */
		word++;
	return path_base(word);
}

const char *label_program(const char *argv, size_t len)
{
	return memchr(argv, '\0', len) ? program(argv) : "";
}

static bool is_shell(const char *word)
{
	static const char *const shells[] = {"sh",  "bash", "dash", "zsh",
					     "ksh", "ash",  "fish", NULL};

	return str_one_of(program(word), shells);
}

/* The text after -c, -lc, -ec ...; NULL: not a shell that runs a text. */
static const char *shell_text(const struct words *w, size_t at)
{
	if (!is_shell(w->list[at]))
		return NULL;
	for (size_t i = at + 1; i + 1 < w->n; i++) {
		const char *word = w->list[i];

		if (word[0] != '-' && word[0] != '+')
			return NULL;
		if (word[0] != '-' || word[1] == '-' || !strchr(word, 'c'))
			continue;
		/* bash -c -l TEXT: options may follow. */
		while (i + 2 < w->n && w->list[i + 1][0] == '-')
			i++;
		return w->list[i + 1];
	}
	return NULL;
}

/* Wrappers that run the rest of their arguments; their options that take a word of their own. */
static const struct wrapper {
	const char *name, *with_word;
	int operands; /* words of its own before the command: timeout's duration */
} wrappers[] = {
	{"env", "uCS", 0}, {"nice", "n", 0},	 {"timeout", "ks", 1},	   {"nohup", "", 0},
	{"time", "fo", 0}, {"setsid", "", 0},	 {"stdbuf", "ioe", 0},	   {"ionice", "cnp", 0},
	{"npx", "pc", 0},  {"bunx", "", 0},	 {"chrt", "TPD", 1},	   {"taskset", "", 1},
	{"pnpx", "", 0},   {"uvx", "", 0},	 {"sudo", "ugpCDhrtT", 0}, {"doas", "uC", 0},
	{"tini", "p", 0},  {"dumb-init", "", 0},
};

static const struct wrapper *wrapper_find(const char *word)
{
	const char *name = program(word);

	for (size_t i = 0; i < ARRAY_LEN(wrappers); i++) {
		if (str_eq(name, wrappers[i].name))
			return &wrappers[i];
	}
	return NULL;
}

static bool is_assignment(const char *word)
{
	const char *p = word;

	while (isalnum((unsigned char)*p) || *p == '_')
		p++;
	return p > word && *p == '=';
}

/* Index of the wrapped command's first word, or at when list[at] wraps nothing. */
static size_t unwrap(const struct words *w, size_t at)
{
	const struct wrapper *wrap;
	size_t i = at + 1;
	int operands;

	/* A script's interpreter: "node /usr/bin/npx claude". */
	if (i < w->n && str_eq(program(w->list[at]), "node") && str_eq(program(w->list[i]), "npx"))
		at = i++;
	wrap = wrapper_find(w->list[at]);
	if (!wrap)
		return at;
	for (operands = wrap->operands; i < w->n; i++) {
		const char *word = w->list[i];

		assert(word); /* split() filled the list up to n */
		if (str_eq(word, "--"))
			return i + 1 < w->n ? i + 1 : at;
		if (word[0] == '-') {
			if (word[1] && !word[2] && strchr(wrap->with_word, word[1]))
				i++;
			continue;
		}
		if (str_eq(wrap->name, "env") && is_assignment(word))
			continue;
		if (operands-- > 0)
			continue;
		return i;
	}
	return at;
}

/* ---- what agents put around a command -------------------------------------------------------- */

/*
 * Claude Code and opencode have their shells set up before they evaluate the command. The whole
 * text is one of these, whatever the width of its blanks: anything else in it may run something,
 * and is shown. The mark COMMAND stands for the word that is evaluated, NAME for one of a file.
 */
#define COMMAND "\001"
#define NAME	"\002"
#define CLAUDE(options)                                                                            \
	options " 2>/dev/null || true && eval " COMMAND                                            \
		" < /dev/null && pwd -P >| /tmp/claude-" NAME

static const char *const shapes[] = {
	CLAUDE("shopt -u extglob"),
	CLAUDE("setopt NO_EXTENDED_GLOB NO_BARE_GLOB_QUAL"),
	"\nshopt -s expand_aliases\n[[ -f ~/.bashrc ]] && source ~/.bashrc >/dev/null 2>&1 || "
	"true\n"
	"cd -- \"$1\"\neval " COMMAND "\n",
};

#define NAME_CHARS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"

/* NULL: there is none, or a line ends where none does in the shape, or the other way round. */
static const char *take_blank(char like, const char *at)
{
	size_t n = strspn(at, like == '\n' ? " \t\n" : " \t");

	return n && (like != '\n' || memchr(at, '\n', n)) ? at + n : NULL;
}

/* Quoted parts and escapes, one behind the other; NULL: something is not quoted, or does not end.
 */
static const char *take_quoted(struct buf *out, const char *at)
{
	while (*at && !strchr(" \t\n", *at)) {
		const char quote = *at;

		if (quote == '\\' && at[1]) {
			buf_ch(out, at[1]);
			at += 2;
			continue;
		}
		if (quote != '\'' && quote != '"')
			return NULL;
		for (at++; *at != quote; at++) {
			if (quote == '"' && *at == '\\' && at[1] && strchr("$`\"\\", at[1]))
				at++;
			if (!*at)
				return NULL;
			buf_ch(out, *at);
		}
		at++;
	}
	return at;
}

static const char *take_plain(struct buf *out, const char *at)
{
	size_t n = strspn(at, NAME_CHARS);

	buf_add(out, at, n);
	return n && (!at[n] || strchr(" \t\n", at[n])) ? at + n : NULL;
}

static bool has_shape(struct buf *out, const char *shape, const char *text)
{
	AUTO_BUF struct buf name = BUF_INIT;

	for (; text && *shape; shape++) {
		if (*shape == ' ' || *shape == '\n')
			text = take_blank(*shape, text);
		else if (*shape == *NAME)
			text = take_plain(&name, text);
		else if (*shape == *COMMAND)
			text = *text == '\'' || *text == '"' ? take_quoted(out, text)
							     : take_plain(out, text);
		else
			text = *text == *shape ? text + 1 : NULL;
	}
	return text && !*text;
}

static void trim(struct buf *b)
{
	size_t lead = 0;

	while (lead < b->len && isspace((unsigned char)b->data[lead]))
		lead++;
	if (lead)
		buf_drop_front(b, lead);
	while (b->len && isspace((unsigned char)b->data[b->len - 1]))
		buf_truncate(b, b->len - 1);
}

static bool evaluated(struct buf *out, const char *text)
{
	for (size_t i = 0; i < ARRAY_LEN(shapes); i++) {
		AUTO_BUF struct buf command = BUF_INIT;

		if (!has_shape(&command, shapes[i], text))
			continue;
		trim(&command);
		buf_add(out, command.data, command.len);
		return command.len > 0;
	}
	return false;
}

bool label_evaluated(struct buf *out, const char *argv, size_t len)
{
	const char *text;
	struct words w;

	split(&w, argv, len);
	text = w.n ? shell_text(&w, 0) : NULL;
	return text && !w.cut && evaluated(out, text);
}

/* ---- labels -----------------------------------------------------------------------------------
 */

void label_command(struct buf *out, const char *argv, size_t len)
{
	size_t start = out->len, at = 0, next;
	const char *text;
	struct words w;

	split(&w, argv, len);
	while (w.n && (next = unwrap(&w, at)) > at)
		at = next;
	text = at < w.n ? shell_text(&w, at) : NULL;
	if (text && !evaluated(out, text)) {
		if (str_starts(text, "exec ") && text[5] != '-') /* the shell's own business */
			text += 5;
		buf_str(out, text);
	} else if (!text) {
		for (size_t i = at; i < w.n; i++) {
			if (i > at)
				buf_ch(out, ' ');
			text_shell_word(out,
					i == at && *w.list[i] == '-' ? w.list[i] + 1 : w.list[i]);
			if (out->len - start > LABEL_MAX)
				break;
		}
	}
	if (!w.n || (!w.cut && out->len - start <= LABEL_MAX))
		return;
	buf_truncate(out, MIN(out->len, start + LABEL_MAX - strlen(CUT)));
	buf_str(out, CUT);
}

bool label_is_whole(const char *label)
{
	return strlen(label) < LABEL_MAX && !strstr(label, CUT);
}

bool label_is_wrapper(const char *argv, size_t len)
{
	struct words w;

	split(&w, argv, len);
	return w.n && (shell_text(&w, 0) || unwrap(&w, 0) > 0);
}

bool label_wraps(const char *argv, size_t len)
{
	struct words w;
	const char *text;

	split(&w, argv, len);
	if (!w.n)
		return false;
	text = shell_text(&w, 0);
	if (text) /* one plain command, no job of the shell's own */
		return *text && !text[strcspn(text, ";|&<>()$`{}\n")];
	return unwrap(&w, 0) > 0;
}

bool label_is_interpreter(const char *name)
{
	static const char *const names[] = {"node", "nodejs", "bun", "ruby", "perl", NULL};

	return str_one_of(name, names) || str_starts(name, "python");
}

const char *label_agent(const char *argv, size_t len)
{
	struct words w;
	size_t i = 1;

	split(&w, argv, len);
	if (!w.n || !label_is_interpreter(program(w.list[0])))
		return label_program(argv, len);
	while (i < w.n && w.list[i][0] == '-')
		i++;
	return i < w.n ? path_base(w.list[i]) : label_program(argv, len);
}
