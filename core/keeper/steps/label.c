/* label - a command as people would type it: without wrappers, arguments quoted where needed. */
/* SPDX-License-Identifier: MIT */
#include "core/keeper/steps/label.h"

#include <assert.h>
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "core/base/path.h"
#include "core/base/text.h"
#include "core/journal/history.h"
#include "core/keeper/steps/command.h"

#define WORDS_MAX 1024

struct words {
	const char *list[WORDS_MAX];
	size_t n;
	bool cut; /* there are further arguments */
};

#define CUT " " LABEL_REST

static void split(struct words *w, const char *argv, size_t len)
{
	const char *end = argv + len;

	w->n = 0;
	while (argv < end && w->n < WORDS_MAX) {
		const char *nul = memchr(argv, '\0', (size_t)(end - argv));

		if (!nul)
			break; /* incomplete: the door ends each argument with NUL */
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

/* Returns the last component of argv[0], borrowed. */
static const char *label_program(const char *argv, size_t len)
{
	return memchr(argv, '\0', len) ? program(argv) : "";
}

void label_unmark(struct buf *label)
{
	const char *at = label->data + strspn(label->data, " \t");
	AUTO_FREE char *rest = NULL;

	if (strncasecmp(at, YOURS_MARK, 3) != 0 || (at[3] && at[3] != ':'))
		return;
	rest = xstrdup(label->data);
	buf_clear(label);
	buf_fmt(label, "\\%s", rest);
}

bool label_is_shell(const char *word)
{
	static const char *const shells[] = {"sh",  "bash", "dash", "zsh",
					     "ksh", "ash",  "fish", NULL};

	return str_one_of(program(word), shells);
}

/* Returns the text after -c, -lc, -ec ...; NULL: not a shell that runs a text. */
static const char *shell_text(const struct words *w, size_t at)
{
	if (!label_is_shell(w->list[at]))
		return NULL;
	for (size_t i = at + 1; i + 1 < w->n; i++) {
		const char *word = w->list[i];

		if (word[0] != '-' && word[0] != '+')
			return NULL;
		if (word[0] != '-' || word[1] == '-' || !strchr(word, 'c'))
			continue;
		/* Skip options between: bash -c -l TEXT. */
		while (i + 2 < w->n && w->list[i + 1][0] == '-')
			i++;
		return w->list[i + 1];
	}
	return NULL;
}

/* Wrappers that run the rest of their arguments, and their options that have a value. */
static const struct wrapper {
	const char *name, *with_word;
	int operands;	  /* own words before the command: timeout's duration */
	const char *mode; /* the first word must be this one; NULL: any */
} wrappers[] = {
	{"env", "uCS", 0, NULL},
	{"nice", "n", 0, NULL},
	{"timeout", "ks", 1, NULL},
	{"nohup", "", 0, NULL},
	{"time", "fo", 0, NULL},
	{"setsid", "", 0, NULL},
	{"stdbuf", "ioe", 0, NULL},
	{"ionice", "cnp", 0, NULL},
	{"npx", "pc", 0, NULL},
	{"bunx", "", 0, NULL},
	{"chrt", "TPD", 1, NULL},
	{"taskset", "", 1, NULL},
	{"pnpx", "", 0, NULL},
	{"uvx", "", 0, NULL},
	{"sudo", "ugpCDhrtT", 0, NULL},
	{"doas", "uC", 0, NULL},
	{"tini", "p", 0, NULL},
	{"dumb-init", "", 0, NULL},
	/* Codex: two descriptors, "pipe" or "pty", a name, the directory, the program */
	{"exe", "", 6, "--codex-run-as-process-setup"},
};

static const struct wrapper *wrapper_find(const char *word, const char *next)
{
	const char *name = program(word);

	for (size_t i = 0; i < ARRAY_LEN(wrappers); i++) {
		const struct wrapper *w = &wrappers[i];

		if (str_eq(name, w->name) && (!w->mode || (next && str_eq(next, w->mode))))
			return w;
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

/* Returns the index of the wrapped command's first word, or `at` if list[at] is no wrapper. */
static size_t unwrap(const struct words *w, size_t at)
{
	const struct wrapper *wrap;
	size_t i = at + 1;
	int operands;

	/* An interpreter: "node /usr/bin/npx claude". */
	if (i < w->n && str_eq(program(w->list[at]), "node") && str_eq(program(w->list[i]), "npx"))
		at = i++;
	wrap = wrapper_find(w->list[at], i < w->n ? w->list[i] : NULL);
	if (!wrap)
		return at;
	for (operands = wrap->operands; i < w->n; i++) {
		const char *word = w->list[i];

		assert(word); /* not NULL: split() filled the list up to n */
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

/* ---- set-ups that agents put around a command ----------------------------------------------- */

/*
 * Agents have their shells set up before they evaluate the command. A text is a set-up only if all
 * of it matches one of these shapes, except for the width of blanks: other text may run a program,
 * so it is shown. The mark COMMAND stands for the evaluated word, LINES for evaluated lines, NAME
 * for a part of a file's name.
 */
#define COMMAND "\001"
#define NAME	"\002"
#define LINES	"\003"
#define CLAUDE(options)                                                                            \
	options " 2>/dev/null || true && eval " COMMAND                                            \
		" < /dev/null && pwd -P >| /tmp/claude-" NAME

/* With separate settings the shell reads a copy of its set-up, in a directory of this folder
 * alone. */
#define SNAPSHOT                                                                                   \
	"source /run/cordon/cache/own/" NAME "/shell-snapshots/snapshot-" NAME                     \
	".sh 2>/dev/null || true && "

#define GEMINI                                                                                     \
	"_bgpids_file=/tmp/gemini-shell-" NAME                                                     \
	"/bgpids.tmp\n(\ntrap 'jobs -p > \"$_bgpids_file\"' EXIT\n" LINES                          \
	"\n)\n__code=$?\nexit $__code"

static const char *const shapes[] = {
	/* Gemini CLI */
	GEMINI,
	"shopt -u promptvars nullglob extglob nocaseglob dotglob; " GEMINI,
	/* Claude Code */
	CLAUDE("shopt -u extglob"),
	CLAUDE("setopt NO_EXTENDED_GLOB NO_BARE_GLOB_QUAL"),
	SNAPSHOT CLAUDE("shopt -u extglob"),
	SNAPSHOT CLAUDE("setopt NO_EXTENDED_GLOB NO_BARE_GLOB_QUAL"),
	/* opencode */
	"\nshopt -s expand_aliases\n[[ -f ~/.bashrc ]] && source ~/.bashrc >/dev/null 2>&1 || "
	"true\n"
	"cd -- \"$1\"\neval " COMMAND "\n",
};

#define NAME_CHARS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"

/* Takes blanks. Returns NULL if there are none, or if they differ from the shape in whether a line
 * ends. */
static const char *take_blank(char like, const char *at)
{
	size_t n = strspn(at, like == '\n' ? " \t\n" : " \t");

	return n && (like != '\n' || memchr(at, '\n', n)) ? at + n : NULL;
}

/* Takes quoted parts and escapes in a row. Returns NULL if a part is not quoted, or does not
 * end. */
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

/* Takes all lines before the shape's tail. */
static const char *take_lines(struct buf *out, const char *tail, const char *at)
{
	size_t len = strlen(at), rest = strlen(tail);

	if (len < rest || !str_eq(at + len - rest, tail))
		return NULL;
	buf_add(out, at, len - rest);
	return at + len - rest;
}

static bool has_shape(struct buf *out, const char *shape, const char *text)
{
	for (; text && *shape; shape++) {
		if (*shape == ' ' || *shape == '\n')
			text = take_blank(*shape, text);
		else if (*shape == *NAME)
			text = strspn(text, NAME_CHARS) ? text + strspn(text, NAME_CHARS) : NULL;
		else if (*shape == *LINES)
			text = take_lines(out, shape + 1, text);
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
		if (str_starts(text, "exec ") && text[5] != '-') /* only replaces the shell */
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

/* Beginnings of set-up texts that end in the exec of a shell with the command. */
static const char *const set_ups[] = {"__CODEX_SNAPSHOT_", NULL};

bool label_is_set_up(const char *argv, size_t len)
{
	struct words w;
	size_t at = 0, next;
	const char *text;

	split(&w, argv, len);
	while (w.n && (next = unwrap(&w, at)) > at)
		at = next;
	text = at < w.n ? shell_text(&w, at) : NULL;
	for (size_t i = 0; text && set_ups[i]; i++)
		if (str_starts(text, set_ups[i]))
			return true;
	return w.cut || (text && strlen(text) >= LABEL_MAX - 1);
}

bool label_is_text(const char *argv, size_t len)
{
	struct words w;

	split(&w, argv, len);
	return w.n && shell_text(&w, 0);
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
	if (text) /* one plain command without shell syntax */
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
