/* git_programs - finds settings of git that name programs, and words in them that may be paths. */
/* SPDX-License-Identifier: MIT */
#include "core/policy/git/git_programs.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "core/base/buf.h"
#include "core/base/path.h"
#include "core/base/util.h"
#include "core/os/text.h"

/* From git-config(1), gitattributes(5), githooks(5), git-svn(1) and git-lfs-config(5). A section
 * that ends in a dot has subsections. */
static const struct key {
	const char *section;
	enum git_names kind;
	const char *names; /* each between blanks; NULL: every name */
} keys[] = {
	{"alias", GIT_NAMES_ALIAS, NULL},
	{"alias.", GIT_NAMES_ALIAS, " command "},
	{"browser.", GIT_NAMES_PROGRAM, " cmd path "},
	{"core", GIT_NAMES_PROGRAM,
	 " alternaterefscommand askpass editor fsmonitor gitproxy pager sshcommand "},
	{"credential", GIT_NAMES_PROGRAM, " helper "},
	{"credential.", GIT_NAMES_PROGRAM, " helper "},
	{"diff", GIT_NAMES_PROGRAM, " external "},
	{"diff.", GIT_NAMES_PROGRAM, " command textconv "},
	{"difftool.", GIT_NAMES_PROGRAM, " cmd path "},
	{"filter.", GIT_NAMES_PROGRAM, " clean process smudge "},
	{"gc", GIT_NAMES_PROGRAM, " recentobjectshook "},
	{"gpg", GIT_NAMES_PROGRAM, " program "},
	{"gpg.", GIT_NAMES_PROGRAM, " defaultkeycommand program "},
	{"guitool.", GIT_NAMES_ALIAS, " cmd "},
	{"help", GIT_NAMES_PROGRAM, " browser "},
	{"hook.", GIT_NAMES_PROGRAM, " command "},
	{"imap", GIT_NAMES_PROGRAM, " tunnel "},
	{"imap.", GIT_NAMES_PROGRAM, " tunnel "},
	{"init", GIT_NAMES_DIR, " templatedir "},
	{"instaweb", GIT_NAMES_PROGRAM, " browser httpd modulepath "},
	{"interactive", GIT_NAMES_PROGRAM, " difffilter "},
	{"lfs.", GIT_NAMES_PROGRAM, " args clean path smudge "},
	{"man.", GIT_NAMES_PROGRAM, " cmd path "},
	{"merge.", GIT_NAMES_PROGRAM, " driver "},
	{"mergetool.", GIT_NAMES_PROGRAM, " cmd path "},
	{"pager", GIT_NAMES_PROGRAM, NULL},
	{"remote.", GIT_NAMES_PROGRAM, " receivepack uploadpack vcs "},
	{"remote.", GIT_NAMES_ADDRESS, " pushurl url "},
	{"sendemail", GIT_NAMES_PROGRAM, " cccmd headercmd sendmailcmd smtpserver tocmd "},
	{"sendemail.", GIT_NAMES_PROGRAM, " cccmd headercmd sendmailcmd smtpserver tocmd "},
	{"sequence", GIT_NAMES_PROGRAM, " editor "},
	{"submodule.", GIT_NAMES_PROGRAM, " update "},
	{"svn", GIT_NAMES_PROGRAM, " authors-prog authorsprog "},
	{"svn-remote.", GIT_NAMES_PROGRAM, " authors-prog authorsprog "},
	{"tar.", GIT_NAMES_PROGRAM, " command "},
	{"trailer.", GIT_NAMES_PROGRAM, " cmd command "},
	{"uploadpack", GIT_NAMES_PROGRAM, " packobjectshook "},
	{"url.", GIT_NAMES_ADDRESS, " insteadof pushinsteadof "},
	{"web", GIT_NAMES_PROGRAM, " browser "},
};

static bool section_is(const char *section, const char *want)
{
	size_t n = strlen(want);

	return strncasecmp(section, want, n) == 0 && (want[n - 1] == '.' || !section[n]);
}

enum git_names git_setting_names(const char *section, const char *name)
{
	AUTO_FREE char *want = xasprintf(" %s ", name);

	for (size_t i = 0; i < ARRAY_LEN(keys); i++)
		if (section_is(section, keys[i].section) &&
		    (!keys[i].names || strstr(keys[i].names, want)))
			return keys[i].kind;
	return GIT_NAMES_NOTHING;
}

/* ---- words ----------------------------------------------------------------------------------- */

#define QUOTES_MAX 4 /* levels of quoted programs in quoted programs */

struct words {
	void (*on)(void *arg, const struct git_word_at *at);
	void *arg;
	enum git_word next;
	bool module;	/* the last word was python's -m */
	bool takes_dir; /* it was cd, or an option like make's -C */
	char *dir;	/* directory of these; NULL: none yet */
	int depth;
};

static bool is_one_of(const char *name, size_t len, const char *const *list)
{
	for (; *list; list++)
		if (strlen(*list) == len && strncmp(name, *list, len) == 0)
			return true;
	return false;
}

/* Returns whether it is an interpreter, possibly with a version: python3.12. */
static bool is_interpreter(const char *word)
{
	static const char *const names[] = {
		".",	   "ash",    "awk",    "bash",	"bun", "busybox", "dash",   "deno",
		"fish",	   "gawk",   "guile",  "java",	"ksh", "lua",	  "luajit", "mawk",
		"mksh",	   "node",   "nodejs", "perl",	"php", "pypy",	  "python", "ruby",
		"Rscript", "source", "sh",     "tclsh", "tsx", "zsh",	  NULL};
	const char *slash = strrchr(word, '/'), *name = slash ? slash + 1 : word;
	const size_t len = strlen(name), version = strcspn(name, "0123456789");

	return is_one_of(name, len, names) ||
	       (strspn(name + version, "0123456789.") == len - version &&
		is_one_of(name, version, names));
}

/* Returns whether the next word is a program, too: after env, sudo, or a shell's "then". */
static bool runs_next(const char *word)
{
	static const char *const names[] = {"env",  "exec",   "command", "nohup", "nice", "time",
					    "sudo", "setsid", "xargs",	 "then",  "do",	  "else",
					    "if",   "while",  "eval",	 NULL};
	const char *slash = strrchr(word, '/');

	const char *name = slash ? slash + 1 : word;

	return is_one_of(name, strlen(name), names) || (strchr(word, '=') && *word != '-');
}

static void say(const struct words *w, const char *word, enum git_word kind)
{
	w->on(w->arg, &(struct git_word_at){.word = word, .kind = kind, .dir = w->dir});
}

/* Reports the files of a module: python -m a.b runs a/b.py, or a/b/__main__.py. */
static void say_module(const struct words *w, const char *word)
{
	AUTO_FREE char *dir = xstrdup(word);
	AUTO_FREE char *file = NULL;
	AUTO_FREE char *whole = NULL;

	for (char *c = dir; *c; c++)
		if (*c == '.')
			*c = '/';
	file = xasprintf("%s.py", dir);
	whole = xasprintf("%s/__main__.py", dir);
	say(w, file, WORD_SCRIPT);
	say(w, whole, WORD_SCRIPT);
}

/* ---- directories ----------------------------------------------------------------------------- */

/* Enters a directory. An absolute one, or one that begins with a value unknown here, replaces the
 * earlier one. */
static void enter(struct words *w, const char *dir)
{
	AUTO_FREE char *from = take_ptr(&w->dir);

	w->dir = from && *dir != '/' && *dir != '~' && *dir != GIT_WORD_UNKNOWN
			 ? path_join(from, dir)
			 : xstrdup(dir);
}

/* Returns DIR of "--chdir=DIR" or "-CDIR"; NULL: other word. */
static const char *dir_of_option(const char *word)
{
	static const char *const names[] = {"--chdir=", "--directory=", "--prefix=", "-C"};

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (str_starts(word, names[i]) && word[strlen(names[i])])
			return word + strlen(names[i]);
	return NULL;
}

/* Returns whether the word is the directory that cd or an option names. */
static bool take_dir(struct words *w, const char *word)
{
	static const char *const options[] = {"-C", "--chdir", "--directory", "--prefix", NULL};
	const char *dir = dir_of_option(word);
	const bool is_dir = w->takes_dir && *word != '-';

	if (is_dir || dir)
		enter(w, is_dir ? word : dir);
	if (is_dir)
		w->takes_dir = false;
	else if (!w->takes_dir) /* an option: "cd -P DIR" */
		w->takes_dir =
			str_one_of(word, options) ||
			(w->next == WORD_FIRST && (str_eq(word, "cd") || str_eq(word, "pushd")));
	return is_dir;
}

static void end_word(struct words *w, struct buf *word)
{
	const char *text = word->data;

	if (!word->len)
		return;
	if (w->module)
		say_module(w, text);
	say(w, text, *text == '-' ? WORD_ARGUMENT : w->next);
	w->module = str_eq(text, "-m");
	if (!take_dir(w, text) && *text != '-' && !(w->next == WORD_FIRST && runs_next(text)))
		w->next = is_interpreter(text) ? WORD_SCRIPT : WORD_ARGUMENT;
	buf_clear(word);
}

/* Skips a variable at s and returns its last byte. The content of "$(...)" is read as commands. */
static const char *skip_variable(struct buf *word, const char *s)
{
	if (s[1] == '(')
		return s;
	buf_ch(word, GIT_WORD_UNKNOWN);
	if (s[1] == '{') {
		const char *end = strchr(s, '}');

		return end ? end : s + strlen(s) - 1;
	}
	if (s[1] && !isalnum((unsigned char)s[1]) && s[1] != '_' && s[1] != '/')
		return s + 1; /* "$@" */
	while (isalnum((unsigned char)s[1]) || s[1] == '_')
		s++;
	return s;
}

/* Returns the last byte of the command substitution that begins at s; s if there is none, or it has
 * no end. */
static const char *substitution_end(const char *s)
{
	const char *tick = *s == '`' ? strchr(s + 1, '`') : NULL;
	int depth = 0;

	if (*s != '$' || s[1] != '(')
		return tick ? tick : s;
	for (const char *at = s + 1; *at; at++) {
		depth += (*at == '(') - (*at == ')');
		if (!depth)
			return at;
	}
	return s;
}

static void read_words(struct words *w, const char *s);

/* Reads a quoted part that begins at s. Returns its end: the closing quote, or the last byte. */
static const char *read_quoted(struct words *w, struct buf *word, const char *s)
{
	const char quote = *s, *from = ++s;
	AUTO_FREE char *inner = NULL;

	for (; *s && *s != quote; s++) {
		const char *end = quote == '"' ? substitution_end(s) : s;

		if (end > s) { /* its commands are read below, with the whole text */
			buf_ch(word, GIT_WORD_UNKNOWN);
			s = end;
			continue;
		}
		if (quote == '"' && *s == '\\' && s[1])
			s++;
		else if (*s == '$') {
			s = skip_variable(word, s);
			continue;
		}
		buf_ch(word, *s);
	}
	inner = xstrndup(from, (size_t)(s - from));
	if (w->depth < QUOTES_MAX && strpbrk(inner, " \t\n;|&<>()`$\\'\"")) {
		struct words in = {.on = w->on,
				   .arg = w->arg,
				   .dir = w->dir ? xstrdup(w->dir) : NULL,
				   .depth = w->depth + 1};

		read_words(&in, inner);
		free(in.dir);
	}
	return *s ? s : s - 1;
}

static void read_words(struct words *w, const char *s)
{
	AUTO_BUF struct buf word = BUF_INIT;

	for (; *s; s++) {
		if (*s == '\\' && s[1]) {
			buf_ch(&word, *++s);
		} else if (*s == '\'' || *s == '"') {
			s = read_quoted(w, &word, s);
		} else if (*s == '$') {
			s = skip_variable(&word, s);
		} else if (isspace((unsigned char)*s) || *s == '<' || *s == '>') {
			end_word(w, &word);
		} else if (strchr("|&;(){}`!", *s)) {
			end_word(w, &word);
			w->next = WORD_FIRST;
			w->takes_dir = false;
			if ((*s == ')' || *s == '`') && s[1] == '/')
				buf_ch(&word, GIT_WORD_UNKNOWN);
		} else {
			buf_ch(&word, *s);
		}
	}
	end_word(w, &word);
}

void git_each_word(const char *value, void (*on)(void *arg, const struct git_word_at *at),
		   void *arg)
{
	struct words w = {.on = on, .arg = arg};

	read_words(&w, value);
	free(w.dir);
}
