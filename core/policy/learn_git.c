/* learn_git - where git finds a repository's settings and hooks, and what these name. */
/* SPDX-License-Identifier: MIT */
#include <ctype.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/io.h"
#include "core/base/log.h"
#include "core/base/path.h"
#include "core/config/config.h"
#include "core/policy/learn.h"

/*
 * git is never run here: the folder is the agent's. Its settings are read as git reads them: the
 * system's, those of $XDG_CONFIG_HOME and of $HOME, the repository's and the worktree's own, and
 * what they include, whatever the condition. libgit2 parses what is not one plain setting a line.
 */
#define INCLUDES_MAX 10
#define TEXT_MAX     (256u << 10)

static const char is_hook[] = "core.hooksPath names it: git on the host runs it";
static const char is_included[] =
	"git's configuration includes it, and it can name programs to run";
static const char is_way[] = "the way to git's directory leads over it";
static const char is_program[] = "git's configuration names it: git on the host runs it";

struct reading {
	struct policy *p;
	const char *worktree; /* relative paths begin there */
	const char *dir;      /* of the file that is read */
	int depth;
};

static void read_config(const struct reading *from, const char *path);

/* ---- one setting ----------------------------------------------------------------------------- */

static char *resolved(const struct reading *r, const char *dir, const char *value)
{
	AUTO_FREE char *whole = path_expand_home(value, r->p->home);
	AUTO_FREE char *joined = path_join(dir, whole);

	return path_clean(joined);
}

static void take_include(const struct reading *r, const char *value)
{
	AUTO_FREE char *path = resolved(r, r->dir, value);

	learn_place(r->p, path, is_included);
	read_config(r, path);
}

static void take_hooks(const struct reading *r, const char *value)
{
	AUTO_FREE char *path = resolved(r, r->worktree, value);

	learn_place(r->p, path, is_hook);
	learn_links(r->p, path);
}

/* "tools/clean %f": a program by its path, if there is one. */
static void take_program(const struct reading *r, const char *value)
{
	AUTO_FREE char *word = NULL;
	AUTO_FREE char *path = NULL;
	struct stat st;

	value += strspn(value, "! \t'\"");
	word = xstrndup(value, strcspn(value, " \t'\"|&;<>()"));
	if (!strchr(word, '/'))
		return;
	path = resolved(r, r->worktree, word);
	if (lstat(path, &st) == 0 && !S_ISDIR(st.st_mode))
		learn_place(r->p, path, is_program);
}

/* Settings that name programs, which git runs without having been asked for just that. */
static bool names_program(const char *section, const char *name)
{
	static const struct {
		const char *section, *names;
	} table[] = {
		{"core", " fsmonitor pager editor sshcommand askpass gitproxy "},
		{"filter.", " clean smudge process "},
		{"diff.", " textconv command "},
		{"diff", " external "},
		{"merge.", " driver "},
		{"gpg", " program "},
		{"gpg.", " program "},
		{"credential", " helper "},
		{"credential.", " helper "},
		{"sequence", " editor "},
		{"interactive", " difffilter "},
		{"pager", NULL},
		{"gc", " recentobjectshook "},
		{"uploadpack", " packobjectshook "},
	};
	AUTO_FREE char *want = xasprintf(" %s ", name);

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		size_t n = strlen(table[i].section);

		if (strncasecmp(section, table[i].section, n) == 0 &&
		    (table[i].section[n - 1] == '.' || !section[n]) &&
		    (!table[i].names || strstr(table[i].names, want)))
			return true;
	}
	return false;
}

static bool is_include(const char *section)
{
	return strcasecmp(section, "include") == 0 || strncasecmp(section, "includeif", 9) == 0;
}

static bool matters(const char *section, const char *name)
{
	return (is_include(section) && str_eq(name, "path")) ||
	       (strcasecmp(section, "core") == 0 && str_eq(name, "hookspath")) ||
	       names_program(section, name);
}

static int take(void *data, const char *section, const char *name, const char *value)
{
	const struct reading *r = data;

	if (!value || !*value || !matters(section, name))
		return 0;
	if (is_include(section))
		take_include(r, value);
	else if (str_eq(name, "hookspath"))
		take_hooks(r, value);
	else
		take_program(r, value);
	return 0;
}

/* ---- one file -------------------------------------------------------------------------------- */

/* One setting a line, and what matters without quotes, escapes and comments: false is for libgit2,
 * which costs ten milliseconds. */
static bool take_line(struct reading *r, const struct vet_reader *at)
{
	AUTO_FREE char *section = xasprintf("%s%s%s", at->section, *at->sub ? "." : "", at->sub);
	AUTO_FREE char *name = xstrndup(at->line.data, at->line.len);
	AUTO_FREE char *value = NULL;
	struct span v;

	name[strcspn(name, " \t=")] = '\0';
	for (char *c = name; *c; c++)
		*c = (char)tolower((unsigned char)*c);
	if (!matters(section, name))
		return true;
	v = vet_value(at, name);
	value = xstrndup(v.data, v.len);
	if (strpbrk(value, "\"\\#;"))
		return false;
	take(r, section, name, value);
	return true;
}

static bool take_lines(struct reading *r, const char *text, size_t len)
{
	struct vet_reader at = vet_reader_of(text, len);
	bool whole = true;
	enum line_kind k;

	while ((k = vet_next(&at)) != LINE_NONE) {
		if (k == LINE_BLANK || k == LINE_HEADER)
			continue;
		whole = k != LINE_BAD && *at.line.data != '[' && take_line(r, &at) && whole;
	}
	return whole;
}

/* Nearly no configuration says anything that matters here. */
static bool is_of_interest(const char *text)
{
	static const char *const words[] = {
		"hookspath", "include",	 "fsmonitor", "clean",	"smudge", "process",
		"textconv",  "external", "driver",    "pager",	"editor", "command",
		"askpass",   "proxy",	 "program",   "helper", "filter", "hook"};

	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (strcasestr(text, words[i]))
			return true;
	return false;
}

/* Plain files only, by whatever links: a FIFO would hold us up. libgit2 would follow an include by
 * itself, whatever that is. */
static void read_config(const struct reading *from, const char *path)
{
	AUTO_FREE char *dir = answer_dir(path);
	AUTO_FREE char *real = NULL;
	AUTO_FREE char *text = NULL;
	struct reading r = *from;
	struct err err = {0};
	bool inside;
	size_t len;

	if (r.depth++ >= INCLUDES_MAX || links_follow(path, NULL, &real, &inside) < 0 ||
	    io_read_file(AT_FDCWD, real, TEXT_MAX, &text, &len) < 0 || !is_of_interest(text))
		return;
	r.dir = dir;
	if (take_lines(&r, text, len))
		return;
	if (strcasestr(text, "include") || config_each_setting(text, len, take, &r, &err) < 0)
		log_warn("policy", "%s: not all that it names is protected %s", path, err.text);
}

static void read_everybodys(const struct reading *r)
{
	const char *xdg = getenv("XDG_CONFIG_HOME");
	AUTO_FREE char *config =
		xdg && *xdg == '/' ? xstrdup(xdg) : path_join(r->p->home, ".config");
	AUTO_FREE char *second = path_join(config, "git/config");
	AUTO_FREE char *own = path_join(r->p->home, ".gitconfig");

	read_config(r, "/etc/gitconfig");
	read_config(r, second);
	read_config(r, own);
}

/* ---- repositories ---------------------------------------------------------------------------- */

static bool is_named_git(const char *path)
{
	const char *at = strstr(path, ".git");

	return at && (at[4] == '/' || at[4] == '\0');
}

/* Text behind "gitdir: ", or the whole of the file, as a path from dir on, `..` and all: behind a
 * link that is no text. Heap; NULL. */
static char *pointed_to(const char *file, const char *dir, const char *head)
{
	AUTO_FREE char *text = NULL;
	size_t len, n = strlen(head);

	if (io_read_file(AT_FDCWD, file, PATH_MAX, &text, &len) < 0 || strncmp(text, head, n) != 0)
		return NULL;
	text[strcspn(text, "\r\n")] = '\0';
	return path_join(dir, text + n + strspn(text + n, " "));
}

static void add_git_dir(struct policy *p, const char *path)
{
	AUTO_FREE char *real = NULL;
	bool inside;

	learn_way(p, path, is_way);
	if (links_follow(path, NULL, &real, &inside) == 0 && !is_named_git(real))
		git_dirs_add(p, take_ptr(&real));
}

static void learn_git_dir(struct policy *p, const char *git_dir, const char *worktree)
{
	AUTO_FREE char *pointer = path_join(git_dir, "commondir");
	AUTO_FREE char *common = pointed_to(pointer, git_dir, "");
	AUTO_FREE char *config = path_join(common ? common : git_dir, "config");
	AUTO_FREE char *hooks = path_join(common ? common : git_dir, "hooks");
	AUTO_FREE char *own = path_join(git_dir, "config.worktree");
	struct reading r = {.p = p, .worktree = worktree};

	add_git_dir(p, git_dir);
	if (common)
		add_git_dir(p, common);
	learn_links(p, git_dir);
	learn_links(p, hooks);
	read_everybodys(&r);
	read_config(&r, config);
	read_config(&r, own);
}

void learn_repository(struct policy *p, const char *worktree)
{
	AUTO_FREE char *dot = path_join(worktree, ".git");
	AUTO_FREE char *to = NULL;
	bool inside;
	struct stat st;

	if (lstat(dot, &st) < 0)
		return;
	if (S_ISREG(st.st_mode))
		to = pointed_to(dot, worktree, "gitdir:");
	else if (S_ISLNK(st.st_mode) && links_follow(dot, NULL, &to, &inside) < 0)
		to = NULL;
	learn_git_dir(p, to ? to : dot, worktree);
}

void learn_worktree(struct policy *p, const char *worktree, const char *git_dir)
{
	learn_git_dir(p, git_dir, worktree);
}

void learn_bare(struct policy *p, const char *git_dir)
{
	learn_git_dir(p, git_dir, git_dir);
}
