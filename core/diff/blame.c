/* blame - finds the step that wrote each line of a file. */
/* SPDX-License-Identifier: MIT */
#include "core/diff/blame.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "core/base/path.h"
#include "core/diff/blame_priv.h"

#define ORIGINS_MAX 32	  /* files compared to find the one that a step renamed */
#define TICK_US	    20000 /* how late the clock of files may be */

/* The changes of one step. */
struct changes {
	struct change *list;
	size_t n;
};

/* ---- the file's change in a step ------------------------------------------------------------- */

static bool is_same_file(const struct change_side *a, const struct change_side *b)
{
	return a->exists && b->exists && a->ino == b->ino && a->size == b->size &&
	       a->mtime_ns == b->mtime_ns;
}

/* Gives the file its name before the step: `from`, or another if the step renamed directories above
 * `after`, the name after the step. */
static void rename_back(struct walk *w, const struct changes *of, const char *after,
			const char *from)
{
	char *name = xstrdup(from);

	/* The list is sorted by path: a directory comes before its entries. If a renamed directory
	 * is in another renamed one, its name has the new name of that one. */
	for (size_t i = of->n; i-- > 0;) {
		const struct change *c = &of->list[i];

		if (!c->base && c->old_path && path_is_inside(after, c->path) &&
		    path_is_inside(name, c->path))
			path_carry(&name, c->path, c->old_path);
	}
	free(w->path);
	w->path = name;
}

/* ---- doubt ----------------------------------------------------------------------------------- */

static void doubt(struct walk *w, int64_t step, int64_t began_us)
{
	w->in_doubt = true;
	w->doubtful = step;
	w->doubt_us = began_us;
}

/* Returns whether the state's file was modified at this time or later. */
static bool is_newer(const struct walk *w, int64_t us)
{
	return w->side.mtime_ns / 1000 + TICK_US >= us;
}

/* Returns whether the doubtful step may have written to the state's file. */
static bool is_doubtful(const struct walk *w)
{
	return w->in_doubt && is_newer(w, w->doubt_us);
}

/* Marks steps as doubtful that still run or were interrupted: they may have written to the file. */
static int doubt_open_step(struct walk *w, struct err *err)
{
	struct step_info *list = NULL;
	size_t n = 0;
	int r = journal_open_steps(w->j, &list, &n, err);

	for (size_t i = 0; r == 0 && i < n; i++) /* newest first */
		doubt(w, list[i].id, list[i].began_us);
	step_info_free(list, n);
	return r;
}

/* ---- the walk -------------------------------------------------------------------------------- */

/* Goes from what a newer step found, or from the present, back to what this step left. */
static int go_over_edits(struct walk *w, int64_t step, const struct change *c, struct err *err)
{
	const struct pair p = pair_of(step, c);
	const struct writer by = {is_doubtful(w) ? BLAME_STEP : BLAME_OUTSIDE,
				  is_doubtful(w) ? w->doubtful : step, is_doubtful(w)};
	AUTO_CONTENT struct content left = {0};
	int r;

	if (is_same_file(&c->after, &w->side))
		return 1;
	r = content_load(&left, w->j, &p, true, err);
	if (r < 0 || !left.data)
		return r;
	r = blame_go_back(w, &left, &by, err);
	return r < 0 ? r : 1;
}

/* Returns whether the step left this inode under another name, with half of the lines. The user
 * then renamed it, and perhaps changed it. */
static bool is_renamed_since(const struct walk *w, int64_t step, const struct change *c)
{
	const struct pair p = pair_of(step, c);
	AUTO_CONTENT struct content left = {0};
	struct err ignored = {0};
	size_t common = 0;

	if (is_same_file(&c->after, &w->side))
		return true;
	return w->side.exists && c->after.ino == w->side.ino &&
	       content_load(&left, w->j, &p, true, &ignored) == 0 && left.data &&
	       blame_count_common(w, &left, &common, &ignored) == 0 && common > w->at.n / 2;
}

/* Returns the step's change of the file, or NULL. */
static const struct change *find_change(const struct walk *w, int64_t step,
					const struct changes *of)
{
	const struct change *moved = NULL;

	for (size_t i = 0; i < of->n; i++) {
		const struct change *c = &of->list[i];

		if (c->base || !S_ISREG(c->after.mode))
			continue;
		if (str_eq(c->path, w->path))
			return c;
		if (!moved && is_renamed_since(w, step, c))
			moved = c;
	}
	return moved;
}

/* Finds the file that the step renamed to this one if it rewrote it (sed -i f; mv f g) or copied
 * and deleted it: a file that it deleted, with half of the lines in common. NULL: there is none. */
static int find_origin(const struct walk *w, int64_t step, const struct changes *of,
		       const struct change **ret, struct err *err)
{
	size_t best = MAX(w->at.n / 2, (size_t)1), tries = 0;
	int r = 0;

	*ret = NULL;
	for (size_t i = 0; r == 0 && i < of->n && tries < ORIGINS_MAX; i++) {
		const struct change *c = &of->list[i];
		const struct pair p = pair_of(step, c);
		AUTO_CONTENT struct content text = {0};
		size_t common = 0;

		if (c->base || c->after.exists || !S_ISREG(c->before.mode))
			continue;
		tries++;
		r = content_load(&text, w->j, &p, false, err);
		if (r == 0 && text.data && blame_count_lines(&text) / 2 <= w->at.n)
			r = blame_count_common(w, &text, &common, err);
		if (common < best)
			continue;
		best = common + 1;
		*ret = c;
	}
	return r;
}

/* Goes to the content before the step, from the same change or that of the file's old name. */
static int go_to_found(struct walk *w, const struct change *c, const struct writer *by,
		       struct err *err)
{
	const struct pair p = pair_of(by->step, c);
	AUTO_CONTENT struct content found = {0};
	int r = content_load(&found, w->j, &p, false, err);

	w->side = c->before;
	if (r < 0)
		return r;
	if (found.data)
		return blame_go_back(w, &found, by, err);
	if (found.binary) {
		blame_settle_all(w, by);
	} else { /* not kept: the newer state stays */
		doubt(w, by->step, INT64_MIN);
		w->side = (struct change_side){0};
	}
	return 0;
}

/* Goes from a file's content after the step back to its content before it. */
static int go_over_step(struct walk *w, const struct step_info *s, const struct changes *of,
			const struct change *c, struct err *err)
{
	struct writer by = {.by = BLAME_STEP, .step = s->id};
	const struct change *from = c;
	int r = go_over_edits(w, s->id, c, err);

	if (r < 0)
		return r;
	/* The content after the step is not kept: an external edit may have made a line. */
	by.unsure = r == 0;
	w->in_doubt = false;
	w->newer = s->id;
	r = 0;
	if (!S_ISREG(c->before.mode))
		r = find_origin(w, s->id, of, &from, err);
	if (r == 0 && from)
		r = go_to_found(w, from, &by, err);
	else if (r == 0)
		blame_settle_all(w, &by);
	if (from)
		rename_back(w, of, from->path, from->old_path ? from->old_path : from->path);
	return r;
}

static int visit(struct walk *w, const struct step_info *s, struct err *err)
{
	struct changes of = {0};
	const struct change *c;
	struct err why = {0};
	int r = journal_changes(w->j, s->id, &of.list, &of.n, &why);

	if (r == -ENOENT) /* removed after it was listed */
		return 0;
	if (r < 0 && r != -EBADMSG)
		return err_say(err, r, "%s", why.text);
	if (r == -EBADMSG || s->incomplete)
		doubt(w, s->id, s->began_us);
	r = 0;
	c = find_change(w, s->id, &of);
	if (c)
		r = go_over_step(w, s, &of, c, err);
	else
		rename_back(w, &of, w->path, w->path);
	change_free(of.list, of.n);
	return r;
}

/* Returns the writer of the lines that no step explains. */
static struct writer writer_before(const struct walk *w, const struct step_info *list, size_t n)
{
	struct journal_pruned p;

	if (is_doubtful(w))
		return (struct writer){BLAME_STEP, w->doubtful, true};
	return (struct writer){BLAME_BEFORE, w->newer,
			       journal_pruned(w->j, &p) ||
				       (n && is_newer(w, list[n - 1].began_us))};
}

/* Asks the journal for a file of this step. */
static void ask_content(struct walk *w, int64_t step)
{
	struct changes of = {0};
	struct err ignored = {0};
	AUTO_CLOSE int fd = -1;
	bool asked = false;

	if (journal_changes(w->j, step, &of.list, &of.n, &ignored) < 0)
		return;
	for (size_t i = 0; i < of.n && !asked; i++) {
		const struct change *c = &of.list[i];
		const bool after = S_ISREG(c->after.mode);

		asked = !c->base && (after || S_ISREG(c->before.mode));
		if (asked && journal_content(w->j, step, c, after, &fd, &ignored) < 0)
			break;
	}
	change_free(of.list, of.n);
}

/* Asks about the oldest step first, so that the journal makes its index of contents, which covers
 * all newer steps, only once. */
static int make_index(struct walk *w, const struct step_info *list, size_t n, struct err *err)
{
	AUTO_FREE bool *touched = xcalloc(n + 1, sizeof(*touched));
	const char *const path = w->path;
	int r = journal_touched(w->j, list, n, &path, 1, touched, err);

	while (n && !touched[n - 1])
		n--;
	if (r == 0 && n > 1)
		ask_content(w, list[n - 1].id);
	return r;
}

static int walk_back(struct walk *w, const struct step_info *list, size_t n, struct err *err)
{
	struct writer first;
	int r = make_index(w, list, n, err);

	for (size_t i = 0; r == 0 && w->open && i < n; i++)
		if (!list[i].elsewhere)
			r = visit(w, &list[i], err);
	first = writer_before(w, list, n);
	if (r == 0)
		blame_settle_all(w, &first);
	return r;
}

/* ---- the present ----------------------------------------------------------------------------- */

/* Returns whether the step deleted the path, or renamed it or a directory above it. */
static bool took_away(const struct change *c, const char *path)
{
	if (c->base)
		return false;
	return c->old_path ? path_is_beneath(path, c->old_path)
			   : !c->after.exists && str_eq(c->path, path);
}

/* Returns true and sets *err if this step removed the file. */
static bool explain_step(struct journal *j, int64_t step, const char *path, struct err *err)
{
	struct changes of = {0};
	bool found = false;

	if (journal_changes(j, step, &of.list, &of.n, NULL) < 0)
		return false;
	for (size_t i = 0; i < of.n && !found; i++) {
		const struct change *c = &of.list[i];

		found = took_away(c, path);
		if (found && c->old_path)
			err_say(err, -ENOENT, "'%s': step %" PRId64 " renamed it to '%s%s'", path,
				step, c->path, path + strlen(c->old_path));
		else if (found)
			err_say(err, -ENOENT,
				"'%s': step %" PRId64 " deleted it: `cordon diff %" PRId64
				"` shows its lines",
				path, step, step);
	}
	change_free(of.list, of.n);
	return found;
}

static void explain_absence(struct journal *j, const char *path, const struct step_info *list,
			    size_t n, struct err *err)
{
	for (size_t i = 0; i < n; i++)
		if (explain_step(j, list[i].id, path, err))
			return;
	err_say(err, -ENOENT, "'%s': no such file", path);
}

static int refuse(const char *path, const char *why, struct err *err)
{
	err_say(err, -EINVAL, "'%s': %s", path, why);
	return -EINVAL;
}

static int load_present(struct walk *w, struct err *err)
{
	struct pair p = {.old_path = w->path, .new_path = w->path, .between = true};
	const struct content *text = &w->at.text;
	int fd = -1;
	int r = journal_present(w->j, w->path, &p.after, &fd, err);

	util_close_fd(&fd);
	if (r < 0)
		return r;
	if (!p.after.exists)
		return -ENOENT;
	if (!S_ISREG(p.after.mode))
		return refuse(w->path, "not a regular file", err);
	w->side = p.after;
	r = content_load(&w->at.text, w->j, &p, true, err);
	if (r < 0 || text->data)
		return r;
	return refuse(w->path,
		      text->size > DIFF_MAX_BYTES ? "larger than 8 MiB"
		      : text->binary		  ? "a binary file has no lines"
						  : "it changes at this moment",
		      err);
}

static void begin(struct walk *w)
{
	struct blame *b = w->blame;
	struct state *s = &w->at;
	const char *p;

	b->text = xmalloc(s->text.len + 1);
	memcpy(b->text, s->text.data, s->text.len);
	s->n = b->n = w->open = blame_count_lines(&s->text);
	b->lines = xcalloc(b->n + 1, sizeof(*b->lines));
	s->present = xcalloc(b->n + 1, sizeof(*s->present));
	p = b->text;
	for (size_t i = 0; i < b->n; i++) {
		size_t rest = s->text.len - (size_t)(p - b->text);
		const char *end = memchr(p, '\n', rest);

		b->lines[i].text = (struct span){p, end ? (size_t)(end - p) : rest};
		s->present[i] = i;
		p += b->lines[i].text.len + 1;
	}
}

int blame_file(struct journal *j, const char *path, const struct step_info *list, size_t n,
	       struct blame *ret, struct err *err)
{
	struct walk w = {.j = j, .blame = ret, .path = xstrdup(path)};
	int r = load_present(&w, err);

	if (r == -ENOENT) {
		explain_absence(j, path, list, n, err);
	} else if (r == 0) {
		begin(&w);
		r = doubt_open_step(&w, err);
		if (r == 0)
			r = walk_back(&w, list, n, err);
	}
	blame_state_done(&w.at);
	free(w.path);
	return r;
}

void blame_done(struct blame *b)
{
	free(b->lines);
	free(b->text);
	*b = (struct blame){0};
}
