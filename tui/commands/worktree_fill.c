/* worktree_fill - copies files into a new worktree: uncommitted ones, ignored ones, a step's. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/external.h"
#include "core/base/path.h"
#include "tui/commands/git.h"
#include "tui/commands/show.h"
#include "tui/commands/standing.h"
#include "tui/commands/worktree_fill_priv.h"

#define NAMES_MAX ((size_t)64 << 20)
#define LEFT_MAX  20
#define DEPTH_MAX 64 /* depth of directories that worktree.copy names */

/* ---- hard links to secrets ------------------------------------------------------------------- */

static void add_secrets(struct fill *f, const char *const *paths, size_t n)
{
	f->secrets = xrealloc(f->secrets, (f->n_secrets + n + 1) * sizeof(*f->secrets));
	for (size_t i = 0; i < n; i++) {
		struct stat st;

		if (lstat(paths[i], &st) == 0 && S_ISREG(st.st_mode))
			f->secrets[f->n_secrets++] = (struct inode){st.st_dev, st.st_ino};
	}
}

/* Returns whether the file is a hard link to one that a session in the source may not read. The
 * search for those covers the whole source, so it waits for the first file with several names. */
static bool is_other_name(void *data, const struct stat *st)
{
	struct fill *f = data;
	const char *const *paths;
	size_t n;

	if (!f->searched) {
		f->searched = true;
		standing_learn(&f->rules);
		n = policy_secret_paths(f->rules.policy, &paths);
		add_secrets(f, paths, n);
		n = policy_hidden(f->rules.policy, &paths);
		add_secrets(f, paths, n);
	}
	for (size_t i = 0; i < f->n_secrets; i++)
		if (f->secrets[i].dev == st->st_dev && f->secrets[i].ino == st->st_ino)
			return true;
	return false;
}

/* ---- life ------------------------------------------------------------------------------------ */

int fill_open(struct fill **ret, const struct fill_spec *spec, struct err *err)
{
	static const struct standing_run none = {0};
	struct fill *f = xcalloc(1, sizeof(*f));
	int r = here_find(&f->at, err);

	*ret = f;
	f->put = (struct put){.from = -1, .to = -1, .withholds = is_other_name, .data = f};
	if (r < 0)
		return r;
	f->from = xstrdup(spec->from);
	f->to = xstrdup(spec->to);
	f->rules_of =
		(struct here){.home = f->at.home, .state_dir = f->at.state_dir, .folder = f->from};
	r = standing_load(&f->rules, &f->rules_of, spec->run ? spec->run : &none, err);
	if (r < 0)
		return r;
	f->put.from = open(f->from, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	f->put.to = open(f->to, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (f->put.from < 0 || f->put.to < 0)
		return err_set(err, -errno, "open '%s'", f->put.from < 0 ? f->from : f->to);
	return 0;
}

static void say_left(const struct fill *f)
{
	size_t shown = 0;

	if (!f->n_left)
		return;
	fprintf(stderr, "cordon: not copied:");
	for (const char *at = f->left.data, *end = at + f->left.len; at < end;
	     at += strlen(at) + 1) {
		fputs(shown++ ? ", " : " ", stderr);
		show_on(stderr, at, strlen(at));
	}
	if (f->n_left > shown)
		fprintf(stderr, ", and %zu more", f->n_left - shown);
	fputc('\n', stderr);
}

void fill_done(struct fill *f)
{
	if (!f)
		return;
	say_left(f);
	buf_done(&f->left);
	free(f->secrets);
	util_close_fd(&f->put.from);
	util_close_fd(&f->put.to);
	standing_done(&f->rules);
	here_done(&f->at);
	free(f->from);
	free(f->to);
	free(f);
}

void fill_donep(struct fill **f)
{
	fill_done(*f);
}

/* ---- one path -------------------------------------------------------------------------------- */

/* Remembers a path that is not copied. */
static void fill_leave(struct fill *f, const char *path)
{
	if (f->n_left++ < LEFT_MAX)
		buf_add(&f->left, path, strlen(path) + 1);
}

bool fill_may(const struct fill *f, const char *path)
{
	AUTO_FREE char *whole = path_join(f->from, path);
	const char *why;

	return policy_check_read(f->rules.policy, RULE_READ, whole, &why) == POLICY_ALLOW;
}

int fill_result(struct fill *f, const char *path, int r, struct err *err)
{
	AUTO_BUF struct buf shown = BUF_INIT;

	if (r == -ENOSPC || r == -EDQUOT || r == -EIO || r == -EROFS) {
		text_escape(&shown, path, strlen(path));
		return err_set(err, r, "copy '%s'", shown.data);
	}
	if (r)
		fill_leave(f, path);
	return 0;
}

/* Returns whether git lists the directory's files; not for a repository of its own. */
static bool is_listed(const struct fill *f, const char *dir)
{
	AUTO_CLOSE int fd = put_open_dir(f->put.from, dir);

	return fd >= 0 && faccessat(fd, ".git", F_OK, AT_SYMLINK_NOFOLLOW) < 0;
}

static int copy(struct fill *f, const char *path, struct err *err)
{
	int r = fill_may(f, path) ? put_copy(&f->put, path) : -EACCES;

	return r == 1 && is_listed(f, path) ? 0 : fill_result(f, path, r, err);
}

/* ---- uncommitted files ----------------------------------------------------------------------- */

/* Copies each name that git lists, the last one first: a link can replace a directory that is empty
 * by then. */
static int copy_names(struct fill *f, const char *const *words, struct err *err)
{
	size_t len = 0;
	AUTO_FREE char *names = git_output(f->from, words, EXTERNAL_NULL, NAMES_MAX, &len);
	int r = 0;

	if (!names)
		return err_say(err, -EIO, "git does not list the changes in %s", f->from);
	while (r == 0 && len > 0) {
		AUTO_FREE char *path = NULL;
		size_t at = len - 1, n;

		while (at > 0 && names[at - 1])
			at--;
		path = xstrdup(names + at);
		n = strlen(path);
		len = at;
		if (n && path[n - 1] == '/') /* a repository of its own */
			path[n - 1] = '\0';
		r = copy(f, path, err);
	}
	return r;
}

/* Copies changed and untracked files. Neither command writes the index; git status and git diff
 * would. */
int fill_changes(struct fill *f, struct err *err)
{
	int r = copy_names(f,
			   GIT("--no-optional-locks", "diff-index", "--name-only", "--no-renames",
			       "-z", "HEAD"),
			   err);

	return r < 0 ? r
		     : copy_names(f,
				  GIT("--no-optional-locks", "ls-files", "--others",
				      "--exclude-standard", "-z"),
				  err);
}

/* ---- ignored files --------------------------------------------------------------------------- */

static int copy_tree(struct fill *f, const char *path, int depth, struct err *err);

static int copy_entries(struct fill *f, const char *path, int depth, struct err *err)
{
	int fd = put_open_dir(f->put.from, path);
	AUTO_DIR DIR *d = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *e;
	int r = 0;

	if (!d) {
		util_close_fd(&fd);
		fill_leave(f, path);
		return 0;
	}
	while (r == 0 && (e = readdir(d))) {
		AUTO_FREE char *sub = path_join(path, e->d_name);

		if (!str_eq(e->d_name, ".") && !str_eq(e->d_name, ".."))
			r = copy_tree(f, sub, depth + 1, err);
	}
	return r;
}

static int copy_tree(struct fill *f, const char *path, int depth, struct err *err)
{
	int r = depth < DEPTH_MAX && fill_may(f, path) ? put_copy(&f->put, path) : -EACCES;

	if (r <= 0)
		return fill_result(f, path, r, err);
	r = fill_result(f, path, put_dir(&f->put, path), err);
	return r < 0 ? r : copy_entries(f, path, depth, err);
}

/* Matches a pattern without a slash with the last component, one with a slash with the whole path.
 * A slash at the end counts for nothing: lists of ignored directories have it. */
static bool is_wanted(const char *const *patterns, size_t n, const char *path)
{
	for (size_t i = 0; i < n; i++) {
		AUTO_FREE char *pattern = xstrdup(patterns[i]);
		size_t end = strlen(pattern);

		while (end > 0 && pattern[end - 1] == '/')
			pattern[--end] = '\0';
		if (fnmatch(pattern, strchr(pattern, '/') ? path : path_base(path), FNM_PATHNAME) ==
		    0)
			return true;
	}
	return false;
}

int fill_ignored(struct fill *f, struct err *err)
{
	const char *const *patterns = NULL;
	size_t n = config_list(f->rules.config, "worktree.copy", &patterns), len = 0;
	AUTO_FREE char *names = NULL;
	int r = 0;

	if (!n)
		return 0;
	names = git_output(f->from,
			   GIT("--no-optional-locks", "ls-files", "--others", "--ignored",
			       "--exclude-standard", "--directory", "-z"),
			   EXTERNAL_NULL, NAMES_MAX, &len);
	if (!names)
		return err_say(err, -EIO, "git does not list the ignored files in %s", f->from);
	for (const char *at = names; r == 0 && at < names + len; at += strlen(at) + 1) {
		AUTO_FREE char *path = xstrdup(at);
		size_t end = strlen(path);

		if (end && path[end - 1] == '/')
			path[end - 1] = '\0';
		if (is_wanted(patterns, n, path))
			r = copy_tree(f, path, 0, err);
	}
	return r;
}
