/* worktree_merge - brings the commits of a worktree into the main one. */
/* SPDX-License-Identifier: MIT */
#include "tui/commands/worktree_merge.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/base/buf.h"
#include "core/base/external.h"
#include "core/base/util.h"
#include "tui/commands/commands.h"
#include "tui/commands/git.h"
#include "tui/commands/guarded.h"
#include "tui/commands/show.h"
#include "tui/commands/worktree_left.h"

/* What the user was shown, and the merge begins with. */
struct merge {
	const struct worktree_flags *flags;
	struct worktree_target target;
	char *tip;
	char *index; /* the main worktree's, a NUL-terminated line for each file */
	size_t index_len;
	struct buf guarded; /* lines that were shown */
};

static void merge_done(struct merge *m)
{
	worktree_target_done(&m->target);
	free(m->tip);
	free(m->index);
	buf_done(&m->guarded);
}

/* ---- guarded names --------------------------------------------------------------------------- */

/* Asks about guarded names, which only the user may allow, at a terminal. */
static int check_names(struct merge *m, const char *range, struct err *err)
{
	size_t len = 0;
	AUTO_FREE char *names = git_output(
		m->target.main,
		GIT("diff", "--name-only", "--no-renames", "--ignore-submodules=none", "-z", range),
		EXTERNAL_NULL, GIT_OUT_MAX, &len);
	int r = names ? guarded_names(&m->guarded, m->target.main, names, len, err)
		      : err_say(err, -EIO, "git does not tell which files differ");

	if (r < 0 || !m->guarded.len)
		return r;
	printf("An agent may change these only if you allow it:\n%s", m->guarded.data);
	if (m->flags->yes)
		return err_say(err, -EPERM,
			       "%s changes files that are guarded (above): look at them, then "
			       "merge without --yes",
			       m->target.branch);
	return 0;
}

static char *read_index(const struct merge *m, size_t *len)
{
	return git_output(m->target.main, GIT("ls-files", "-s", "-z"), EXTERNAL_NULL, GIT_INDEX_MAX,
			  len);
}

/* Appends the names of lines that only the second of two sorted lists has, each with its NUL. */
static void add_new(struct buf *names, const char *was, size_t was_len, const char *is,
		    size_t is_len)
{
	const char *was_end = was + was_len;

	for (const char *end = is + is_len; is < end; is += strlen(is) + 1) {
		const char *name = strchr(is, '\t');

		while (name && was < was_end && strchr(was, '\t') &&
		       strcmp(strchr(was, '\t'), name) < 0)
			was += strlen(was) + 1;
		if (name && !(was < was_end && str_eq(was, is)))
			buf_add(names, name + 1, strlen(name + 1) + 1);
	}
}

/* Returns whether the text has this line, which ends with a line feed. */
static bool has_line(const char *text, const char *line)
{
	for (const char *at = strstr(text, line); at; at = strstr(at + 1, line))
		if (at == text || at[-1] == '\n')
			return true;
	return false;
}

/* Checks the merged files: a running agent may have changed git's objects after they were shown.
 * Names guarded files that were merged without having been shown. */
static int check_merged(struct merge *m, struct err *err)
{
	AUTO_BUF struct buf names = BUF_INIT, guarded = BUF_INIT;
	size_t len = 0, unseen = 0;
	AUTO_FREE char *index = read_index(m, &len);
	int r = 0;

	if (index)
		add_new(&names, m->index, m->index_len, index, len);
	else
		r = err_say(err, -EIO, "git does not list the files after the merge");
	if (r == 0)
		r = guarded_names(&guarded, m->target.main, names.data, names.len, err);
	for (char *line = guarded.data, *end; r == 0 && *line; line = end) {
		AUTO_FREE char *one = NULL;

		end = line + strcspn(line, "\n") + 1;
		one = xstrndup(line, (size_t)(end - line));
		if (has_line(m->guarded.data, one))
			continue;
		fputs(one, stdout);
		unseen++;
	}
	if (!unseen)
		return r;
	return err_say(err, -EPERM,
		       "the merge brought guarded files that were not shown (above): an agent "
		       "changed git's objects meanwhile: look at them; git -C %s reset --merge "
		       "ORIG_HEAD takes the merge back",
		       m->target.main);
}

/* ---- the merge ------------------------------------------------------------------------------- */

/* Merges the commit that was shown, by its ID: a tag may have the branch's name. */
static int merge_tip(struct merge *m, struct err *err)
{
	AUTO_FREE char *words = xasprintf("Merge branch '%s'", m->target.branch);
	const char *main = m->target.main;
	int r, checked;

	r = m->flags->squash
		    ? git_shown(main, GIT("-c", "color.ui=false", "merge", "--squash", m->tip), err)
		    : git_shown(main,
				GIT("-c", "color.ui=false", "merge", "--no-edit", "-m", words,
				    m->tip),
				err);
	if (r > 0)
		fprintf(stderr,
			"cordon: git did not finish the merge in %s: resolve the files that it "
			"names and commit, or git merge --abort; if they are changes of yours, "
			"commit them and merge again\n",
			main);
	checked = r < 0 ? 0 : check_merged(m, err);
	return checked < 0 ? checked : r;
}

/* Shows what the merge brings, and asks. */
static int show(struct merge *m, const char *ahead, struct err *err)
{
	const struct worktree_target *t = &m->target;
	AUTO_FREE char *into = git_text(t->main, GIT("rev-parse", "--abbrev-ref", "HEAD"));
	AUTO_FREE char *range = xasprintf("HEAD...%s", m->tip);
	AUTO_FREE char *question =
		xasprintf("Merge %s into %s of %s?", t->branch, into ? into : "HEAD", t->main);
	int r;

	printf("Commits: %zu\n", worktree_lines(ahead));
	worktree_show_lines(ahead);
	r = git_shown(t->main,
		      GIT("diff", "--stat", "--no-color", "--no-ext-diff", "--no-textconv",
			  "--ignore-submodules=none", range),
		      err);
	if (r > 0)
		return err_say(err, -EIO, "git does not show what %s changes", t->branch);
	if (r == 0)
		r = check_names(m, range, err);
	if (r == 0 && !m->flags->yes)
		r = confirm_yes(question, err);
	return r;
}

int worktree_merge(const struct worktree_flags *f, const char *name, struct err *err)
{
	CLEANUP(merge_done) struct merge m = {.flags = f, .guarded = BUF_INIT};
	const struct worktree_target *t = &m.target;
	AUTO_FREE char *ahead = NULL, *left = NULL;
	int r = worktree_find(&m.target, name, err);

	if (r < 0)
		return r;
	m.tip = worktree_tip(t);
	r = worktree_read_left(t, m.tip, &left, &ahead, err);
	if (r < 0)
		return r;
	if (left && *left)
		return err_say(err, -EBUSY,
			       "worktree '%s': %zu change%s not committed: commit first "
			       "(git -C %s commit), or drop the worktree",
			       name, worktree_lines(left),
			       worktree_lines(left) == 1 ? " there is" : "s there are", t->place);
	if (!ahead || !*ahead) {
		printf("Nothing to merge: the main worktree has all of %s.\n", t->branch);
		return 0;
	}
	m.index = read_index(&m, &m.index_len);
	if (!m.index)
		return err_say(err, -EIO, "git does not list the files of %s", t->main);
	r = git_check_commit(t->main, m.tip, err);
	if (r == 0)
		r = show(&m, ahead, err);
	return r == 0 ? merge_tip(&m, err) : r;
}
