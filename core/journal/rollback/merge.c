/* merge - three-way merge of one file: current content, after-state, before-state. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "core/base/git_text.h"
#include "core/base/io.h"
#include "core/base/path.h"
#include "core/journal/fs/borrow.h"
#include "core/journal/fs/object.h"
#include "core/journal/history.h"
#include "core/journal/history/after_image.h"
#include "core/journal/history/net_changes.h"
#include "core/journal/history/step_summary.h"
#include "core/journal/rollback.h"
#include "core/journal/rollback/undo.h"
#include "core/journal/store/reach.h"
#include "core/journal/store/roots.h"
#include "core/journal/store/store.h"
#include "core/journal/util/names.h"
#include "core/journal/util/path_set.h"

/*
 * Ours is the present file, with the external edit. The base is the steps' after-state: stored at
 * their end for small text files (after_image.c), or found in a later step. Theirs is the state
 * that the rollback would restore. libgit2 merges the buffers: no drivers, attributes or
 * configuration are read.
 */

#define MERGE_MAX ((size_t)1 << 20)
#define NO_FILE	  "it was no file before and after"

void merge_file_done(struct merged *m)
{
	free(m->now);
	free(m->path);
	buf_done(&m->external);
	buf_done(&m->text);
}

/* ---- the steps' changes of a file -------------------------------------------------------------
 */

void merge_story_done(struct story *s)
{
	for (size_t i = 0; i < s->n; i++)
		summary_done(&s->sums[i]);
	after_images_done(&s->left);
	free(s->sums);
	*s = (struct story){0};
}

int merge_story_load(struct journal *j, const struct undo_plan *p, const struct names *dirs,
		     struct story *ret)
{
	int r = original_images_load(j, dirs, &ret->left);

	ret->redo = p->kind == UNDO_REDO;
	ret->sums = xcalloc(p->n_ids + 1, sizeof(*ret->sums));
	for (size_t i = 0; r == 0 && i < p->n_ids; i++) {
		size_t at = ret->redo ? p->n_ids - 1 - i : i; /* ids are newest first */
		AUTO_FREE char *dir =
			xasprintf("%s/%" PRId64, ret->redo ? "redo" : "steps", p->ids[at]);
		AUTO_CLOSE int fd = store_open_dir(j, dir);

		r = fd < 0 ? fd : summary_load(fd, true, &ret->sums[i]);
		ret->n += r == 0;
	}
	return r;
}

static const char *near_name(const struct story *s, const struct change *c)
{
	return s->redo && c->old_path ? c->old_path : c->path;
}

static const char *far_name(const struct story *s, const struct change *c)
{
	return !s->redo && c->old_path ? c->old_path : c->path;
}

/* Returns the step's change of *path, a name on the near side, and sets *path to the name on the
 * far side. Returns NULL if there is none; a renamed directory above still changes *path. */
static const struct change *follow(const struct story *s, const struct summary *sum, int root,
				   char **path)
{
	for (size_t i = 0; i < sum->n; i++) {
		const struct change *c = &sum->changes[i];

		if (c->root != root || !str_eq(near_name(s, c), *path))
			continue;
		free(*path);
		*path = xstrdup(far_name(s, c));
		return c;
	}
	for (size_t i = 0; i < sum->n; i++) {
		const struct change *c = &sum->changes[i];

		if (c->root == root && c->kind == CHANGE_RENAMED && S_ISDIR(c->after.mode) &&
		    path_carry(path, near_name(s, c), far_name(s, c)))
			break;
	}
	return NULL;
}

/* ---- the three sides --------------------------------------------------------------------------
 */

static int read_text(int fd, struct buf *ret, const char **why)
{
	AUTO_FREE char *text = NULL;
	size_t len = 0;
	int r = io_read_all(fd, MERGE_MAX, &text, &len);

	if (r == -EFBIG)
		*why = "it is larger than 1 MiB";
	else if (r == 0 && memchr(text, '\0', len))
		*why = "it is not text";
	if (r == -EFBIG || (r == 0 && *why))
		return 1;
	if (r == 0)
		buf_add(ret, text, len);
	return r;
}

/* Reads the file's content before or after a step. Returns 1 and *why if it cannot be merged. */
static int read_then(struct journal *j, int64_t id, const struct change *c, bool after,
		     struct buf *ret, const char **why, struct err *err)
{
	AUTO_CLOSE int fd = -1;
	struct err words = {0};
	int r = journal_content(j, id, c, after, &fd, &words);

	if (r == 0)
		return read_text(fd, ret, why);
	if (r == -ESTALE)
		*why = "its content after the step was not kept";
	else if (r == -EINVAL)
		*why = NO_FILE;
	else if (r == -EACCES || r == -EPERM)
		*why = "it belongs to another user and cannot be read";
	if (!*why && err)
		*err = words;
	return *why ? 1 : r;
}

static int read_now(struct journal *j, int root, const char *path, struct object *o,
		    struct buf *ret, const char **why)
{
	AUTO_CLOSE int fd = -1;
	struct reach reach = {0};
	struct spot at;
	int r = reach_look(j, &reach, root, path, &at, o);

	if (r == 0 && S_ISREG(o->mode))
		fd = borrow_open_file(j, at.fd, at.name);
	reach_close(j, &reach);
	if (r < 0)
		return r;
	if (!S_ISREG(o->mode)) {
		*why = o->mode ? "it is no file now" : "it was deleted";
		return 1;
	}
	return fd < 0 ? fd : read_text(fd, ret, why);
}

/* Merges into ret->text, where markers show the conflicts. Returns 0 also with conflicts. */
static int merge_sides(const struct buf *base, const struct buf *theirs, struct merged *ret,
		       struct err *err)
{
	const struct git_text_sides sides = {base, &ret->external, theirs, "edited since",
					     "before the step"};
	int r = git_text_merge(&sides, &ret->text, err);

	ret->clean = r == 0;
	return r == -ESTALE ? 0 : r;
}

/* Returns whether `base` may not be the last state of concurrent steps: their numbers do not tell
 * the order, but the after-image of the path has the last state. */
static bool is_out_of_order(const struct story *s, int root, const char *path,
			    const struct change_side *base)
{
	AUTO_FREE char *key = path_key_make(root, path);
	struct after_image p;

	if (!after_images_find(&s->left, key, &p) || p.obj.mode == OBJECT_UNSEEN ||
	    p.flags & (IMAGE_FOREIGN | IMAGE_SHARED | IMAGE_PASSING))
		return false;
	return (p.obj.mode & S_IFMT) != (base->mode & S_IFMT) || p.obj.size != base->size;
}

static const struct change_side *near_side(const struct story *s, const struct change *c)
{
	return s->redo ? &c->before : &c->after;
}

static const struct change_side *far_side(const struct story *s, const struct change *c)
{
	return s->redo ? &c->after : &c->before;
}

/* Returns whether the file exists on both sides between two adjacent changes, or on neither. */
static bool joins(const struct story *s, const struct change *near, const struct change *far)
{
	return far_side(s, near)->exists == near_side(s, far)->exists;
}

struct ends { /* the steps' changes of a file that are nearest to the present state, and farthest */
	const struct change *near, *far;
	int64_t near_id, far_id;
};

/* Finds both ends, and the name on the far side. Returns 1 and *why if a merge is impossible. */
static int find_ends(const struct story *s, int root, char **name, struct ends *ret,
		     const char **why)
{
	*ret = (struct ends){0};
	for (size_t i = 0; i < s->n; i++) {
		const struct change *c = follow(s, &s->sums[i], root, name);

		if (!c)
			continue;
		if (ret->far && !joins(s, ret->far, c)) {
			*why = "you or another program removed or made it between the steps";
			return 1;
		}
		ret->far = c;
		ret->far_id = s->sums[i].info.id;
		if (!ret->near) {
			ret->near = c;
			ret->near_id = ret->far_id;
		}
	}
	if (!ret->near)
		*why = "no step changed its content";
	else if (!S_ISREG(near_side(s, ret->near)->mode) || !S_ISREG(far_side(s, ret->far)->mode))
		*why = NO_FILE;
	return *why ? 1 : 0;
}

int merge_make(struct journal *j, const struct story *s, int root, const char *path,
	       struct merged *ret, const char **why, struct err *err)
{
	AUTO_BUF struct buf base = BUF_INIT, theirs = BUF_INIT;
	AUTO_FREE char *name = xstrdup(path);
	const struct change_side *left;
	struct ends ends;
	struct object now;
	int r;

	*why = NULL;
	r = find_ends(s, root, &name, &ends, why);
	if (r != 0)
		return r;
	left = near_side(s, ends.near);
	if (is_out_of_order(s, root, path, left)) {
		*why = "steps that ran at the same time changed it";
		return 1;
	}
	*ret = (struct merged){.root = root, .external = BUF_INIT, .text = BUF_INIT};
	r = read_now(j, root, path, &now, &ret->external, why);
	if (r == 0)
		r = read_then(j, ends.near_id, ends.near, !s->redo, &base, why, err);
	if (r == 0)
		r = read_then(j, ends.far_id, ends.far, s->redo, &theirs, why, err);
	if (r == 0)
		r = merge_sides(&base, &theirs, ret, err);
	/* The markers would put the agent's bytes into a protected file. */
	if (r == 0 && !ret->clean && root_guards(j, root, name, S_IFREG)) {
		*why = "both sides changed the same lines of a protected file";
		r = 1;
	}
	if (r == 0) {
		ret->now = xstrdup(path);
		ret->path = take_ptr(&name);
		ret->mode = now.mode != left->mode ? now.mode : 0;
		if (git_text_same(&ret->text, &ret->external))
			ret->mtime_ns = now.mtime_ns;
		return 0;
	}
	merge_file_done(ret);
	return r;
}

/* ---- files that are already restored ----------------------------------------------------------
 */

static bool has_same_bytes(int a, int b)
{
	char x[16384], y[sizeof(x)];
	off_t at = 0;
	ssize_t n;

	do {
		n = io_pread_full(a, x, sizeof(x), at);
		if (n < 0 || io_pread_full(b, y, sizeof(y), at) != n ||
		    memcmp(x, y, (size_t)n) != 0)
			return false;
		at += n;
	} while (n > 0);
	return true;
}

bool merge_is_there(struct journal *j, const struct story *s, int root, const char *path)
{
	AUTO_FREE char *name = xstrdup(path);
	AUTO_CLOSE int now = -1;
	AUTO_CLOSE int then = -1;
	const struct change_side *far;
	struct err ignored = {0};
	struct reach reach = {0};
	const char *why = NULL;
	struct ends ends;
	struct spot at;
	struct object o;
	int r;

	if (find_ends(s, root, &name, &ends, &why) != 0 || !str_eq(name, path))
		return false;
	far = far_side(s, ends.far);
	/* The steps changed attributes alone, which are not compared here. */
	if (change_sides_equal(near_side(s, ends.near), far))
		return false;
	r = reach_look(j, &reach, root, path, &at, &o);
	if (r == 0 && o.mode == far->mode && o.uid == far->uid && o.gid == far->gid &&
	    o.size == far->size && o.nlink == 1)
		now = borrow_open_file(j, at.fd, at.name);
	reach_close(j, &reach);
	return now >= 0 &&
	       journal_content(j, ends.far_id, ends.far, s->redo, &then, &ignored) == 0 &&
	       has_same_bytes(now, then);
}
