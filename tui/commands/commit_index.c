/* commit_index - a git index with the files of HEAD and the files to commit. */
/* SPDX-License-Identifier: MIT */
#include "tui/commands/commit_index.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/external.h"
#include "core/base/io.h"
#include "core/base/path.h"
#include "tui/commands/git.h"

#define NAMES_MAX ((size_t)64 << 20)

/* ---- open and close -------------------------------------------------------------------------- */

static int make_dir(struct commit_index *x, const char *state_dir, struct err *err)
{
	x->dir = git_scratch(state_dir, err);
	if (!x->dir)
		return err->code;
	x->tree = path_join(x->dir, "tree");
	return mkdir(x->tree, 0700) < 0 ? err_set(err, -errno, "mkdir '%s'", x->tree) : 0;
}

/* Copies the index with git's data about file times: else git would read all files again. */
static int copy_index(const struct commit_index *x, const char *to, struct err *err)
{
	AUTO_FREE char *from = git_text(
		x->folder, GIT("rev-parse", "--path-format=absolute", "--git-path", "index"));
	AUTO_CLOSE int in = from ? open(from, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK) : -1;
	AUTO_CLOSE int out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	AUTO_FREE char *text = NULL;
	size_t len = 0;
	int r;

	if (out < 0)
		return err_set(err, -errno, "write '%s'", to);
	r = in < 0 ? -ENOENT : io_read_all(in, (size_t)1 << 30, &text, &len);
	if (r == 0 && len)
		r = io_write_all(out, text, len);
	if (r < 0 || !len)
		unlink(to);
	return r == -ENOENT ? 0 : MIN(r, 0);
}

static int check_state(struct commit_index *x, struct err *err)
{
	static const char *const under_way[] = {"MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD"};
	AUTO_FREE char *branch = NULL;

	x->prefix = git_text(x->folder, GIT("rev-parse", "--show-prefix"));
	if (!x->prefix)
		return err_say(err, -ENOENT, "commit: %s is in no git repository", x->folder);
	for (size_t i = 0; i < ARRAY_LEN(under_way); i++) {
		AUTO_FREE char *id =
			git_text(x->folder, GIT("rev-parse", "--verify", "-q", under_way[i]));

		if (id)
			return err_say(err, -EBUSY,
				       "commit: a merge, cherry-pick or revert is under way: "
				       "finish it with git first");
	}
	x->git_dir = git_text(x->folder, GIT("rev-parse", "--absolute-git-dir"));
	x->head = git_text(x->folder, GIT("rev-parse", "--verify", "-q", "HEAD^{commit}"));
	if (!x->head)
		branch = git_text(x->folder, GIT("symbolic-ref", "-q", "HEAD"));
	return x->git_dir && (x->head || branch)
		       ? 0
		       : err_say(err, -EIO, "commit: git does not tell its HEAD");
}

/* Runs git in a worktree that has the index's attributes, and no other file. */
static char *git_filtered(const struct commit_index *x, const char *const *words, int in,
			  size_t *len)
{
	AUTO_FREE char *git_dir = xasprintf("--git-dir=%s", x->git_dir);
	AUTO_FREE char *tree = xasprintf("--work-tree=%s", x->tree);
	const char *argv[GIT_WORDS_MAX + 1] = {git_dir, tree};
	size_t n = 2;

	for (; *words && n < GIT_WORDS_MAX; words++)
		argv[n++] = *words;
	return git_output(x->tree, argv, in, KEPT_FILE_MAX, len);
}

/* Writes the .gitattributes of the index there: for single files git reads none from an index. */
static int lay_attributes(const struct commit_index *x, struct err *err)
{
	AUTO_CLOSE int in = -1;
	AUTO_FREE char *names = NULL, *said = NULL;
	size_t len = 0, n;

	names = git_output(x->folder,
			   GIT("ls-files", "-z", "--full-name", "--", ":(top).gitattributes",
			       ":(top,glob)**/.gitattributes"),
			   EXTERNAL_NULL, NAMES_MAX, &len);
	in = names ? git_input(names, len) : -EIO;
	if (in >= 0)
		said = git_filtered(x, GIT("checkout-index", "-f", "-z", "--stdin"), in, &n);
	return said ? 0 : err_say(err, -EIO, "commit: git does not tell its attributes");
}

/* Fills the index with the files of HEAD. */
static int read_head(struct commit_index *x, struct err *err)
{
	AUTO_FREE char *index = path_join(x->dir, "index"), *said = NULL;
	int r = copy_index(x, index, err);

	if (r < 0)
		return r;
	setenv(GIT_INDEX, index, 1);
	said = x->head ? git_text(x->folder, GIT("read-tree", "--reset", x->head))
		       : git_text(x->folder, GIT("read-tree", "--empty"));
	if (!said)
		return err_say(err, -EIO, "commit: git cannot read the commit %s",
			       x->head ? x->head : "");
	if (x->head)
		r = git_check_index(x->folder, x->head, x->dir, err);
	return r < 0 ? r : lay_attributes(x, err);
}

int commit_index_open(struct commit_index *x, const char *folder, const char *state_dir,
		      struct err *err)
{
	int r;

	*x = (struct commit_index){
		.folder = xstrdup(folder), .staged = BUF_INIT, .theirs = BUF_INIT};
	r = check_state(x, err);
	if (r == 0)
		r = make_dir(x, state_dir, err);
	return r < 0 ? r : read_head(x, err);
}

void commit_index_close(struct commit_index *x)
{
	unsetenv(GIT_INDEX);
	if (x->dir && io_remove_tree(AT_FDCWD, x->dir) < 0)
		fprintf(stderr, "cordon: %s is left\n", x->dir);
	buf_done(&x->staged);
	buf_done(&x->theirs);
	free(x->folder);
	free(x->prefix);
	free(x->git_dir);
	free(x->head);
	free(x->dir);
	free(x->tree);
}

/* ---- HEAD's files ---------------------------------------------------------------------------- */

static char *full_path(const struct commit_index *x, const char *path)
{
	return xasprintf("%s%s", x->prefix, path);
}

/* Returns whether the path leads into another repository: a submodule, or one made by the agent. */
static bool is_nested(const struct commit_index *x, const char *path)
{
	for (const char *at = path; (at = strchr(at, '/')); at++) {
		AUTO_FREE char *dot = xasprintf("%s/%.*s/.git", x->folder, (int)(at - path), path);

		if (faccessat(AT_FDCWD, dot, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
			return true;
	}
	return false;
}

int commit_index_base(void *data, const char *path, struct kept_side *ret, struct err *err)
{
	const struct commit_index *x = data;
	AUTO_FREE char *full = full_path(x, path);
	AUTO_FREE char *spec = xasprintf(":(top,literal)%s", full);
	AUTO_FREE char *with_path = xasprintf("--path=%s", full);
	AUTO_FREE char *entry = NULL, *text = NULL;
	size_t len = 0;
	unsigned mode;
	char id[80];

	if (is_nested(x, path))
		return -EFBIG;
	entry = git_output(x->folder, GIT("ls-files", "-s", "-z", "--", spec), EXTERNAL_NULL,
			   GIT_OUT_MAX, &len);
	if (!entry)
		return err_say(err, -EIO, "commit: git does not tell of '%s'", path);
	if (!len)
		return 0;
	if (sscanf(entry, "%o %79[0-9a-f] ", &mode, id) != 2 || (!S_ISREG(mode) && !S_ISLNK(mode)))
		return -EFBIG; /* a submodule, or a directory in place of a file */
	text = S_ISLNK(mode) ? git_output(x->folder, GIT("cat-file", "blob", id), EXTERNAL_NULL,
					  KEPT_FILE_MAX, &len)
			     : git_filtered(x, GIT("cat-file", "--filters", with_path, id),
					    EXTERNAL_NULL, &len);
	if (!text)
		return -EFBIG;
	ret->exists = true;
	ret->mode = mode;
	buf_add(&ret->text, text, len);
	return 0;
}

/* ---- staging --------------------------------------------------------------------------------- */

static int update(const struct commit_index *x, const struct buf *lines, struct err *err)
{
	AUTO_CLOSE int in = git_input(lines->data, lines->len);
	AUTO_FREE char *said = NULL;
	size_t len;

	if (in < 0)
		return err_set(err, in, "pass file names to git");
	said = git_output(x->folder, GIT("update-index", "-z", "--index-info"), in, GIT_OUT_MAX,
			  &len);
	return said ? 0 : err_say(err, -EIO, "commit: git cannot write its index");
}

/* Makes an object of the file. Returns its ID; heap. */
static char *make_object(const struct commit_index *x, const struct kept_file *f, const char *full)
{
	AUTO_FREE char *with_path = xasprintf("--path=%s", full);
	AUTO_CLOSE int in = git_input(f->now.text.data, f->now.text.len);
	size_t len = 0;
	char *id = NULL;

	if (in < 0)
		return NULL;
	id = S_ISLNK(f->now.mode)
		     ? git_output(x->folder, GIT("hash-object", "-w", "--no-filters", "--stdin"),
				  in, GIT_OUT_MAX, &len)
		     : git_filtered(x, GIT("hash-object", "-w", with_path, "--stdin"), in, &len);
	if (id)
		id[strcspn(id, "\n")] = '\0';
	return id;
}

static int stage_file(struct commit_index *x, const struct kept_file *f, struct buf *lines,
		      struct err *err)
{
	AUTO_FREE char *full = full_path(x, f->path);
	AUTO_FREE char *id = f->now.exists ? make_object(x, f, full) : NULL;
	unsigned mode = S_ISLNK(f->now.mode) ? 0120000 : f->now.mode & S_IXUSR ? 0100755 : 0100644;

	if (f->now.exists && !id)
		return err_say(err, -EIO, "commit: git does not take '%s'", f->path);
	if (id)
		buf_fmt(lines, "%o %s\t%s", mode, id, full);
	else
		buf_fmt(lines, "0 %0*d\t%s", (int)strlen(x->head), 0, full);
	buf_ch(lines, '\0');
	return 0;
}

static bool is_ignored(const struct commit_index *x, const struct kept_file *f)
{
	struct err ignored = {0};

	return !f->base.exists && f->now.exists &&
	       git_run(x->folder, GIT("check-ignore", "-q", "--", f->path), &ignored) == 0;
}

static void leave_out(struct kept_file *f)
{
	f->now.exists = false;
	buf_clear(&f->now.text);
	f->left_out = f->pieces;
}

/* Stages .gitattributes, or other files: attributes come first, because they choose the filters. */
static int stage_some(struct commit_index *x, struct kept *k, bool attributes, size_t *n,
		      struct err *err)
{
	AUTO_BUF struct buf lines = BUF_INIT;
	int r = 0;

	for (size_t i = 0; r == 0 && i < k->n; i++) {
		struct kept_file *f = &k->list[i];

		if (str_eq(path_base(f->path), ".gitattributes") != attributes || !kept_differs(f))
			continue;
		if (is_ignored(x, f)) {
			leave_out(f);
			continue;
		}
		r = stage_file(x, f, &lines, err);
		++*n;
	}
	if (r == 0 && lines.len)
		r = update(x, &lines, err);
	buf_add(&x->staged, lines.data, lines.len);
	return r;
}

int commit_index_stage(struct commit_index *x, struct kept *k, size_t *n, struct err *err)
{
	int r;

	*n = 0;
	r = stage_some(x, k, true, n, err);
	if (r == 0 && *n)
		r = lay_attributes(x, err);
	return r < 0 ? r : stage_some(x, k, false, n, err);
}

/* ---- the user's index ------------------------------------------------------------------------ */

static bool has_name(const struct buf *names, const char *name)
{
	for (const char *at = names->data; at < names->data + names->len; at += strlen(at) + 1)
		if (str_eq(at, name))
			return true;
	return false;
}

/* Updates the user's index by these lines, except names that are staged there. */
static int share(struct commit_index *x, const struct buf *lines, struct err *err)
{
	AUTO_BUF struct buf mine = BUF_INIT;

	for (const char *at = lines->data; at < lines->data + lines->len; at += strlen(at) + 1) {
		const char *name = strchr(at, '\t');

		if (name && !has_name(&x->theirs, name + 1))
			buf_add(&mine, at, strlen(at) + 1);
	}
	return mine.len ? update(x, &mine, err) : 0;
}

int commit_index_share(struct commit_index *x, struct err *err)
{
	AUTO_FREE char *own = xstrdup(getenv(GIT_INDEX));
	AUTO_FREE char *names = NULL;
	size_t len = 0;
	int r;

	unsetenv(GIT_INDEX);
	names = x->head ? git_output(x->folder,
				     GIT("diff-index", "--cached", "-z", "--name-only", x->head),
				     EXTERNAL_NULL, NAMES_MAX, &len)
			: git_output(x->folder, GIT("ls-files", "-z", "--full-name", ":/"),
				     EXTERNAL_NULL, NAMES_MAX, &len);
	if (names)
		buf_add(&x->theirs, names, len);
	r = names ? share(x, &x->staged, err)
		  : err_say(err, -EIO, "commit: git does not tell what is staged");
	setenv(GIT_INDEX, own, 1);
	return r;
}

/* Converts ":100644 100755 ID ID M", NUL, name, NUL into lines for update-index. */
static void add_changes(struct buf *lines, const char *raw, size_t len)
{
	const char *end = raw + len;

	while (raw < end) {
		const char *name = raw + strlen(raw) + 1;
		char mode[8], id[80];

		if (name >= end || sscanf(raw, ":%*s %7s %*s %79s ", mode, id) != 2)
			return;
		buf_fmt(lines, "%s %s\t%s", mode, id, name);
		buf_ch(lines, '\0');
		raw = name + strlen(name) + 1;
	}
}

int commit_index_renew(struct commit_index *x, struct err *err)
{
	AUTO_FREE char *was = take_ptr(&x->head);
	AUTO_FREE char *raw = NULL;
	AUTO_BUF struct buf lines = BUF_INIT;
	size_t len = 0;

	unsetenv(GIT_INDEX);
	x->head = git_text(x->folder, GIT("rev-parse", "--verify", "-q", "HEAD^{commit}"));
	if (x->head && was)
		raw = git_output(x->folder,
				 GIT("diff-tree", "-r", "-z", "--no-renames", was, x->head),
				 EXTERNAL_NULL, NAMES_MAX, &len);
	else if (x->head)
		raw = git_output(x->folder,
				 GIT("diff-tree", "-r", "-z", "--no-renames", "--root",
				     "--no-commit-id", x->head),
				 EXTERNAL_NULL, NAMES_MAX, &len);
	if (!raw)
		return err_say(err, -EIO, "commit: git does not tell what it committed");
	add_changes(&lines, raw, len);
	return share(x, &lines, err);
}
