/* label - a command as people would type it: wrappers taken off, arguments quoted where needed. */
/* SPDX-License-Identifier: MIT */
#include "core/keeper/steps/label.h"

#include <assert.h>
#include <ctype.h>
#include <string.h>

#include "core/base/path.h"
#include "core/base/text.h"
#include "core/hook/shell.h"
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

/* ---- what agents put around a command: claude, opencode ---------------------------------------
 */

/* With a snapshot that claude made of the human's shell, or one of its files: ~/.bashrc. Any other
 * file may give the words of the command another meaning: the label shows it. */
static bool sets_up(const struct shell_word *words, size_t n)
{
	const char *file = n > 1 ? words[1].text : "";

	if (str_eq(words[0].text, "shopt") || str_eq(words[0].text, "setopt"))
		return true;
	return (str_eq(words[0].text, "source") || str_eq(words[0].text, ".")) &&
	       (strstr(file, "/.claude/shell-snapshots/") || str_starts(file, "~/."));
}

static bool changes_nothing(const char *word)
{
	static const char *const words[] = {"cd", "true", ":", "[[", "[", "pwd", NULL};

	return str_one_of(word, words);
}

/* Its arguments, which eval joins; "< /dev/null" may be among them. */
static void add_evaluated(struct buf *out, const struct shell_word *words, size_t n)
{
	size_t start = out->len, lead;

	if (n > 3 && str_eq(words[n - 2].text, "<") && str_eq(words[n - 1].text, "/dev/null"))
		n -= 2;
	for (size_t i = 1; i < n; i++) {
		buf_str(out, i > 1 ? " " : "");
		buf_str(out, words[i].text);
	}
	while (out->len > start && isspace((unsigned char)out->data[out->len - 1]))
		buf_truncate(out, out->len - 1);
	for (lead = start; lead < out->len && isspace((unsigned char)out->data[lead]); lead++)
		;
	if (lead > start) {
		memmove(out->data + start, out->data + lead, out->len - lead);
		buf_truncate(out, out->len - (lead - start));
	}
}

static bool evaluated(struct buf *out, const char *text)
{
	AUTO_SHELL struct shell_line line = {0};
	const struct shell_command *eval = NULL;
	bool set_up = false;

	if (!strstr(text, "eval ") || shell_parse(&line, text, strlen(text)) < 0)
		return false;
	for (size_t i = 0; i < line.n_commands; i++) {
		const struct shell_command *c = &line.commands[i];
		const struct shell_word *words = &line.words[c->word];

		if (c->n_words == 0)
			return false;
		if (sets_up(words, c->n_words))
			set_up = true;
		else if (!eval && c->n_words > 1 && str_eq(words[0].text, "eval"))
			eval = c;
		else if (!changes_nothing(words[0].text))
			return false;
	}
	if (!eval || !set_up)
		return false;
	add_evaluated(out, line.words + eval->word, eval->n_words);
	return true;
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
	if (text && evaluated(out, text)) {
		; /* that is it */
	} else if (text) {
		if (str_starts(text, "exec ") && text[5] != '-') /* the shell's own business */
			text += 5;
		buf_str(out, text);
	} else {
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
