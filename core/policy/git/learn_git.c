/* learn_git - finds a repository's settings and hooks as git does, and the files that they name. */
/* SPDX-License-Identifier: MIT */
#include <ctype.h>
#include <fcntl.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/io.h"
#include "core/base/path.h"
#include "core/os/text.h"
#include "core/policy/git/git_programs.h"
#include "core/policy/git/git_settings.h"
#include "core/policy/learn.h"

/*
 * git itself is never run here, because the agent writes the folder. Its settings are read as git
 * reads them: those of the system, of $XDG_CONFIG_HOME and of $HOME, of the repository and of the
 * worktree, and the files that they include, whatever the condition.
 */
#define INCLUDES_MAX 10
#define TEXT_MAX     (256u << 10)

static const char is_hook[] = "core.hooksPath names it: git on the host runs it";
static const char is_included[] =
	"git's configuration includes it, and it can name programs to run";
static const char is_copied[] = "git's configuration names it: git copies hooks from there";
static const char is_way[] = "the way to git's directory leads over it";
static const char is_program[] = "git's configuration names it: git on the host runs it";

struct reading {
	struct policy *p;
	const char *worktree; /* base of relative paths */
	const char *git_dir;
	const char *dir; /* of the file being read */
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

	policy_learn_place(r->p, path, is_included);
	read_config(r, path);
}

static void take_hooks(const struct reading *r, const char *value)
{
	AUTO_FREE char *path = resolved(r, r->worktree, value);

	policy_learn_place(r->p, path, is_hook);
	learn_links(r->p, path);
}

static void take_dir(const struct reading *r, const char *value)
{
	AUTO_FREE char *path = resolved(r, r->worktree, value);

	policy_learn_place(r->p, path, is_copied);
}

/* ---- words that may be paths ----------------------------------------------------------------- */

struct word_reading {
	const struct reading *r;
	bool by_hand; /* run by the user, possibly with "src" as an argument: no directories */
	bool of_git;  /* passed to git: only "-c core.pager=tools/x" */
	enum git_word kind;
	const char *dir; /* base of relative paths */
};

static void take_path(const struct word_reading *w, const char *text);

/* Protects a path after an unknown prefix: a variable of git's or the user's, or output of git. */
static void take_beneath(const struct word_reading *w, const char *rest)
{
	const char *const dirs[] = {w->r->worktree, w->r->git_dir, w->r->p->home};

	for (size_t i = 0; i < ARRAY_LEN(dirs); i++) {
		AUTO_FREE char *path = path_join(dirs[i], rest);

		take_path(w, path);
	}
}

/* Returns whether a word without a slash may be a file: it exists, is an interpreter's script, or
 * has an extension. */
static bool may_be_file(const struct word_reading *w, const char *text, bool there)
{
	const char *dot = strrchr(text, '.');

	if (w->kind == WORD_FIRST || *text == '-')
		return false;
	return there || w->kind == WORD_SCRIPT || (dot && isalpha((unsigned char)dot[1]));
}

static void take_path(const struct word_reading *w, const char *text)
{
	const size_t plain = strcspn(text, "*?[%\1\n;|&<>`");
	const bool whole = !text[plain];
	const char *slash = memrchr(text, '/', plain);
	AUTO_FREE char *name = NULL, *path = NULL;
	bool there, dir;
	struct stat st;

	if (text[0] == GIT_WORD_UNKNOWN && strchr(text, '/')) { /* "$X/a", "$(show-cdup)a/b" */
		take_beneath(w, text + 1 + (text[1] == '/'));
		return;
	}
	if (!whole && !slash)
		return;
	name = xstrndup(text, plain);
	if (!whole && slash) /* any file in that directory */
		name[slash - text] = '\0';
	path = resolved(w->r, w->dir, name);
	there = stat(path, &st) == 0;
	dir = !whole || (there && S_ISDIR(st.st_mode));
	if (path_is_beneath(w->r->worktree, path) || path_is_beneath(w->r->git_dir, path))
		return;
	if (dir ? !slash || w->by_hand : !strchr(name, '/') && !may_be_file(w, name, there))
		return;
	policy_learn_place(w->r->p, path, is_program);
}

/* Protects the paths of "--config=tools/x", "A=tools/bin:tools/more", "-Ftools/x". */
static void take_word(const struct word_reading *w, const char *word)
{
	const char *value = strchr(word, '=');
	AUTO_FREE char *parts = xstrdup(value ? value + 1 : word);
	char *at = parts, *part;

	take_path(w, value ? value + 1 : word);
	if (value)
		take_path(w, word);
	if (word[0] == '-' && word[1] && strchr(word, '/'))
		take_path(w, word + 2);
	while (strpbrk(parts, ":,") && (part = strsep(&at, ":,")))
		if (strchr(part, '/'))
			take_path(w, part);
}

/* Protects the word's paths relative to a directory that the command enters first. */
static void take_word_in(struct word_reading *w, const struct git_word_at *at)
{
	const char *const known[] = {w->r->worktree, w->r->git_dir, w->r->p->home};
	const bool unknown = *at->dir == GIT_WORD_UNKNOWN;

	/* "$X/tools" is unknown: try these. */
	for (size_t i = 0; i < (unknown ? ARRAY_LEN(known) : 1); i++) {
		const char *rest = at->dir + (unknown ? 1 + (at->dir[1] == '/') : 0);
		AUTO_FREE char *dir = resolved(w->r, known[i], rest);

		w->dir = dir;
		take_word(w, at->word);
	}
}

static void on_word(void *arg, const struct git_word_at *at)
{
	struct word_reading *w = arg;

	w->kind = at->kind;
	if (w->of_git && !strchr(at->word, '='))
		return;
	w->dir = w->r->worktree;
	take_word(w, at->word);
	if (at->dir)
		take_word_in(w, at);
}

static void take_program(const struct reading *r, enum git_names names, const char *value)
{
	struct word_reading w = {.r = r, .by_hand = names == GIT_NAMES_ALIAS};

	if (names == GIT_NAMES_ADDRESS) {
		value = strstr(value, "::");
		if (!value)
			return;
		value += 2;
	}
	w.of_git = w.by_hand && *value != '!';
	git_each_word(value, on_word, &w);
}

static bool is_include(const char *section)
{
	return strcasecmp(section, "include") == 0 || strncasecmp(section, "includeif", 9) == 0;
}

static void take(void *data, const char *section, const char *name, const char *value)
{
	const struct reading *r = data;
	enum git_names names;

	if (str_starts(section, "url."))
		value = section + 4;
	if (!value || !*value)
		return;
	names = git_setting_names(section, name);
	if (is_include(section) && str_eq(name, "path"))
		take_include(r, value);
	else if (str_eq(section, "core") && str_eq(name, "hookspath"))
		take_hooks(r, value);
	else if (names == GIT_NAMES_DIR)
		take_dir(r, value);
	else if (names != GIT_NAMES_NOTHING)
		take_program(r, names, value);
}

/* ---- one file -------------------------------------------------------------------------------- */

/* Reads a plain file, through any links. A FIFO would block the keeper. */
static void read_config(const struct reading *from, const char *path)
{
	AUTO_FREE char *dir = path_dir(path);
	AUTO_FREE char *real = NULL;
	AUTO_FREE char *text = NULL;
	struct reading r = *from;
	bool inside;
	size_t len;

	if (r.depth++ >= INCLUDES_MAX || links_follow(path, NULL, &real, &inside) < 0)
		return;
	if (io_read_file(AT_FDCWD, real, TEXT_MAX, &text, &len) < 0)
		return;
	r.dir = dir;
	git_each_setting(text, take, &r);
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

static void add_git_dir(struct policy *p, const char *path)
{
	AUTO_FREE char *real = NULL;
	bool inside;

	learn_way(p, path, is_way);
	if (links_follow(path, NULL, &real, &inside) == 0 && !is_named_git(real))
		git_dirs_add(p, take_ptr(&real));
}

/* Returns the directory that GIT/worktrees/NAME shares; `git worktree add` writes `commondir` last.
 * Heap; NULL: none. */
static char *common_of(const char *git_dir)
{
	AUTO_FREE char *above = path_dir(git_dir);
	char *common = git_pointer(git_dir, "commondir", "");

	return common || !str_eq(path_base(above), "worktrees") ? common : path_dir(above);
}

static void learn_git_dir(struct policy *p, const char *git_dir, const char *worktree)
{
	AUTO_FREE char *common = common_of(git_dir);
	AUTO_FREE char *config = path_join(common ? common : git_dir, "config");
	AUTO_FREE char *hooks = path_join(common ? common : git_dir, "hooks");
	AUTO_FREE char *own = path_join(git_dir, "config.worktree");
	struct reading r = {.p = p, .worktree = worktree, .git_dir = git_dir};

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
		to = git_pointer(worktree, ".git", "gitdir:");
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
