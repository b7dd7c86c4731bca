/* worktree_fork - restores a new worktree's files to their state after a step in the source
 * folder. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/path.h"
#include "core/journal/history.h"
#include "core/journal/journal.h"
#include "tui/commands/worktree_fill_priv.h"

static bool is_moved_dir(const struct change *c)
{
	return c->old_path && S_ISDIR(c->before.mode);
}

/* Returns whether a session asks before it writes this path, such as .envrc or a task of an editor.
 * Such content is not restored from the history, because here is no question. Git's own files never
 * are. */
static bool is_guarded(const struct fill *f, const char *path, mode_t mode)
{
	AUTO_FREE char *whole = path_join(f->from, path);

	return put_takes(path) && policy_guards(f->rules.policy, whole, mode & S_IFMT);
}

/* Removes what the step made. A directory with other entries stays. */
static int take_away(struct fill *f, const struct change *c)
{
	int r;

	if (!c->after.exists)
		return 0;
	if (is_moved_dir(c)) /* moved back with its content */
		return is_guarded(f, c->old_path, c->before.mode)
			       ? -EACCES
			       : put_rename(&f->put, c->path, c->old_path);
	if (c->before.exists && !c->old_path && S_ISDIR(c->after.mode) == S_ISDIR(c->before.mode))
		return 0;
	r = put_nothing(&f->put, c->path);
	return r == -ENOTEMPTY ? 0 : r;
}

struct step_changes {
	int64_t id;
	struct change *list; /* sorted by path */
	size_t n;
};

/* Returns the path's name before the step, which may have renamed a directory above it. Heap. */
static char *name_before(const struct step_changes *s, const struct change *c)
{
	char *name = xstrdup(c->old_path ? c->old_path : c->path);

	for (size_t i = s->n; i-- > 0;) {
		const struct change *dir = &s->list[i];
		char *was;

		if (dir == c || dir->base || !is_moved_dir(dir) || !path_is_inside(name, dir->path))
			continue;
		was = xasprintf("%s%s", dir->old_path, name + strlen(dir->path));
		free(name);
		name = was;
	}
	return name;
}

/* Restores the content before the step from the history, whatever was edited later. */
static int put_before(struct fill *f, struct journal *j, const struct step_changes *s,
		      const struct change *c)
{
	AUTO_FREE char *path = name_before(s, c);
	AUTO_CLOSE int fd = -1;
	struct err why = {0};
	int r;

	if (!c->before.exists || is_moved_dir(c))
		return 0;
	if (!fill_may(f, path) || is_guarded(f, path, c->before.mode))
		return -EACCES;
	if (S_ISDIR(c->before.mode))
		return put_dir(&f->put, path);
	if (!S_ISREG(c->before.mode) && !S_ISLNK(c->before.mode))
		return -EOPNOTSUPP;
	r = journal_content(j, s->id, c, false, &fd, &why);
	return r < 0 ? r : put_bytes(&f->put, path, fd, c->before.mode);
}

/* Reverts a step: removes everything first, because the step may have exchanged two names. From the
 * end of the sorted list, a directory is empty before it is removed. Git's own files are the new
 * worktree's. */
static int take_step_back(struct fill *f, struct journal *j, int64_t id, struct err *err)
{
	struct step_changes s = {.id = id};
	int r = journal_changes(j, id, &s.list, &s.n, err);

	for (size_t k = 2 * s.n; r == 0 && k > 0; k--) {
		const struct change *c = &s.list[(k - 1) % s.n];
		int done = c->base ? 0 : k > s.n ? take_away(f, c) : put_before(f, j, &s, c);

		if (done != -EINVAL)
			r = fill_result(f, c->path, done, err);
	}
	change_free(s.list, s.n);
	return r;
}

static int check_rests(struct journal *j, struct err *err)
{
	struct step_info *open = NULL;
	size_t n = 0;
	int r = journal_open_steps(j, &open, &n, err);

	if (r == 0 && n)
		r = err_say(err, -EBUSY, "step %lld still runs: fork when it has ended",
			    (long long)open[0].id);
	step_info_free(open, n);
	return r;
}

static int take_back_after(struct fill *f, struct journal *j, int64_t step, bool check,
			   struct err *err)
{
	AUTO_FREE int64_t *list = NULL;
	size_t n = 0, newer = 0;
	int r = journal_ids(j, false, &list, &n, err);

	while (newer < n && list[newer] != step)
		newer++;
	if (r == 0 && newer == n)
		r = step_unknown(j, step, false, err);
	if (r == 0)
		r = check_rests(j, err);
	for (size_t i = 0; r == 0 && !check && i < newer; i++)
		r = take_step_back(f, j, list[i], err);
	return r;
}

int fill_as_of(struct fill *f, int64_t step, bool check, struct err *err)
{
	const struct journal_spec spec = {
		.folder = f->from, .state_dir = f->at.state_dir, .read_only = true};
	struct journal *j = NULL;
	int r = journal_open(&j, &spec, NULL, err);

	if (r == -ENOENT)
		return err_say(err, r, "no session has worked in %s: it has no steps", f->from);
	if (r == 0)
		r = take_back_after(f, j, step, check, err);
	journal_close(j);
	return r;
}
