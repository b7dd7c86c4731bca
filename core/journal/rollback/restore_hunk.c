/* restore_hunk - reverts one hunk of a step's diff of a file, as a step of its own. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "core/base/git_text.h"
#include "core/base/io.h"
#include "core/journal/fs/borrow.h"
#include "core/journal/fs/object.h"
#include "core/journal/history.h"
#include "core/journal/rollback.h"
#include "core/journal/rollback/restore.h"
#include "core/journal/store/reach.h"
#include "core/journal/store/roots.h"
#include "core/journal/store/store.h"

/*
 * The hunk is counted in the diff that libgit2 makes of the file before and after the step, as
 * core/diff shows it. A three-way merge reverts it in the present file: the base is the step's
 * after-state, ours is the present file, theirs is the after-state without the hunk. If the same
 * lines were edited since, nothing is written; nor if the file was edited from outside while the
 * step ran, because the after-state has that edit, which then looks like a part of a hunk. Hunk 0
 * is the file's mode and owner, which are reverted if they are as the step left them.
 */
#define HUNK_FILE_MAX ((size_t)8 << 20) /* as core/diff */

struct sides {
	struct buf before, after, without, now, merged;
};

static void sides_done(struct sides *s)
{
	buf_done(&s->before);
	buf_done(&s->after);
	buf_done(&s->without);
	buf_done(&s->now);
	buf_done(&s->merged);
}

static int read_side(struct journal *j, int64_t id, const struct change *c, bool after,
		     struct buf *ret, struct err *err)
{
	AUTO_CLOSE int fd = -1;
	AUTO_FREE char *text = NULL;
	size_t len = 0;
	int r = journal_content(j, id, c, after, &fd, err);

	if (r < 0)
		return r;
	r = io_read_all(fd, HUNK_FILE_MAX, &text, &len);
	if (r < 0)
		return err_set(err, r, "read '%s'", c->path);
	buf_add(ret, text, len);
	return 0;
}

static int read_now(struct restore *list, size_t i, struct buf *ret, struct err *err)
{
	const struct change *c = &list->list[i];
	struct journal *j = list->j;
	AUTO_CLOSE int fd = -1;
	AUTO_FREE char *text = NULL;
	struct reach reach = {0};
	struct spot at;
	struct object o = {0};
	size_t len = 0;
	int r = reach_look(j, &reach, c->root, c->path, &at, &o);

	if (r == 0 && S_ISREG(o.mode))
		fd = borrow_open_file(j, at.fd, at.name);
	reach_close(j, &reach);
	if (r == 0 && !S_ISREG(o.mode))
		return err_say(err, -ESTALE, "'%s' is no file any more", c->path);
	r = r < 0 ? r : fd < 0 ? fd : io_read_all(fd, HUNK_FILE_MAX, &text, &len);
	restore_expect(&list->pieces[i], &o); /* the state before it was read */
	if (r < 0)
		return err_set(err, r, "read '%s'", c->path);
	buf_add(ret, text, len);
	return 0;
}

/* ---- without the hunk ----------------------------------------------------------------------- */

static bool is_other(const void *hunk, unsigned number)
{
	return number != *(const unsigned *)hunk;
}

static int leave_out(struct sides *s, const char *path, unsigned hunk, struct err *err)
{
	int n = git_text_hunks(&s->before, &s->after, err);

	if (n < 0)
		return n;
	if (hunk > (unsigned)n)
		return err_say(err, -ENOENT, "'%s' has no hunk %u", path, hunk);
	return git_text_compose(&s->before, &s->after, is_other, &hunk, &s->without, err);
}

static int merge(struct sides *s, const char *path, struct err *err)
{
	const struct git_text_sides sides = {&s->after, &s->now, &s->without, NULL, NULL};
	int r = git_text_merge(&sides, &s->merged, err);

	if (r == -ESTALE)
		return err_say(err, r, "'%s' was edited in these lines since: edit it instead",
			       path);
	if (r == 0 && git_text_same(&s->now, &s->merged))
		return err_say(err, -EALREADY, "'%s' has this hunk as it was before", path);
	return r;
}

/* ---- the step ------------------------------------------------------------------------------- */

/* text NULL: only mode and owner. */
static int bring_piece(struct restore *r, size_t i, const struct buf *text, struct err *err)
{
	int e = text ? restore_text(r, i, (struct span){text->data, text->len})
		     : restore_owner_mode(r, i);

	if (e == -RESTORE_EDITED)
		return restore_say_edited(r->list[i].path, err);
	return e < 0 ? err_set(err, e, "write '%s'", r->list[i].path) : 0;
}

static int write_step(struct restore *r, size_t i, unsigned hunk, const struct buf *text,
		      struct err *err)
{
	AUTO_FREE char *what = hunk ? xasprintf("hunk %u", hunk) : xstrdup("the mode");
	AUTO_FREE char *command =
		xasprintf("undo %s of step %" PRId64 " -- %s", what, r->id, r->list[i].path);
	int e = restore_begin(r, command, err);

	return e < 0 ? e : restore_end(r, bring_piece(r, i, text, err), err);
}

/* Finds the file, which must have existed before and after the step, at a name that may be
 * written. */
static int find_file(struct restore *list, const char *const *paths, const struct change **ret,
		     struct err *err)
{
	const struct change *c = NULL;
	int r = restore_load(list, paths, err);

	if (r < 0)
		return r;
	for (size_t i = 0; i < list->n && !c; i++)
		if (list->pieces[i].chosen && restore_wants(list->j, &list->list[i], paths))
			c = &list->list[i];
	if (!c || !S_ISREG(c->before.mode) || !S_ISREG(c->after.mode))
		return err_say(err, -EINVAL,
			       "'%s' was no file before and after the step: restore all of it",
			       paths[0]);
	if (root_guards(list->j, c->root, c->path, S_IFREG))
		return err_say(err, -EPERM, "'%s' is protected: restore all of it", paths[0]);
	r = restore_load_later(list);
	if (r < 0)
		return err_set(err, r, "read the steps after step %" PRId64, list->id);
	if (list->pieces[c - list->list].since.within)
		return err_say(err, -ESTALE,
			       "'%s' was edited from outside while the step ran, and its hunks may "
			       "hold that edit: take them back in an editor",
			       paths[0]);
	*ret = c;
	return 0;
}

/* Restores mode and owner from before the step, if they are as the step left them. */
static int restore_mode(struct restore *list, const struct change *c, struct err *err)
{
	const size_t i = (size_t)(c - list->list);
	struct reach reach = {0};
	struct spot at;
	struct object now = {0};
	int r;

	if (!changes_mode(c))
		return err_say(err, -ENOENT, "the step left mode and owner of '%s' alone", c->path);
	r = reach_look(list->j, &reach, c->root, c->path, &at, &now);
	reach_close(list->j, &reach);
	if (r < 0)
		return err_set(err, r, "look at '%s'", c->path);
	if (has_mode_of(&now, &c->before))
		return err_say(err, -EALREADY, "'%s' has its mode and owner of before", c->path);
	if (!has_mode_of(&now, &c->after))
		return err_say(err, -ESTALE, "'%s' has another mode or owner since", c->path);
	restore_expect(&list->pieces[i], &now);
	return write_step(list, i, 0, NULL, err);
}

/* Reverts the hunk in the folder that has the path. */
static int restore_in(struct journal *j, int64_t id, const char *const *paths, unsigned hunk,
		      struct err *err)
{
	CLEANUP(restore_done) struct restore list = {.j = j, .id = id, .strict = true};
	CLEANUP(sides_done) struct sides s = {BUF_INIT, BUF_INIT, BUF_INIT, BUF_INIT, BUF_INIT};
	const struct change *c = NULL;
	int r = find_file(&list, paths, &c, err);

	if (!c)
		return r;
	if (hunk == 0)
		return restore_mode(&list, c, err);
	/* The present file is read first, as the after-state may be read from the same file. */
	r = read_now(&list, (size_t)(c - list.list), &s.now, err);
	if (r == 0)
		r = read_side(j, id, c, false, &s.before, err);
	if (r == 0)
		r = read_side(j, id, c, true, &s.after, err);
	if (r == 0)
		r = leave_out(&s, c->path, hunk, err);
	if (r == 0)
		r = merge(&s, c->path, err);
	return r < 0 ? r : write_step(&list, (size_t)(c - list.list), hunk, &s.merged, err);
}

int journal_restore_hunk(struct journal *j, int64_t id, const char *path, unsigned hunk,
			 struct err *err)
{
	const char *const paths[] = {path, NULL};
	struct journal *k = j;

	if (j->open)
		return err_say(err, -EBUSY, "a step is still running: wait for it to end");
	while (!restore_covers(k, path) && (k = k->sibling) != j)
		continue;
	if (!restore_covers(k, path))
		return err_say(err, -ENOENT, "'%s' lies in none of the session's folders", path);
	return restore_in(k, id, paths, hunk, err);
}
