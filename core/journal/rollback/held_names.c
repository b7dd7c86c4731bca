/* held_names - checks whether processes hold files of an open step that a rollback would
 * replace. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>

#include "core/base/text.h"
#include "core/journal/fs/object.h"
#include "core/journal/log/undo_log.h"
#include "core/journal/step/guarded.h"
#include "core/journal/step/step.h"
#include "core/journal/steps.h"
#include "core/journal/store/roots.h"

/*
 * A rollback by the user puts new files at guarded names and says so (replay_guarded.c). A process
 * inside that asks for a rollback is told what to close instead, before anything is changed. That
 * is a courtesy: a file that is missed here, because another step moved it on, is handled in the
 * rollback.
 */

struct search {
	struct step *s;
	struct span list;
	const char *path; /* where the object is now */
	struct err *err;
};

static int say(const struct search *h, const char *path, const char *rel, const char *words)
{
	AUTO_BUF struct buf shown = BUF_INIT;
	AUTO_FREE char *whole = xasprintf("%s%s%s", path, *rel ? "/" : "", rel);

	text_escape(&shown, whole, strlen(whole));
	return err_say(h->err, -EBUSY, "'%.300s' %s", shown.data, words);
}

static int check(const struct search *h, const char *path, const char *rel, int dirfd,
		 const char *name, const struct object *o)
{
	if (!guarded_is_held(h->s->j, dirfd, name, o))
		return 0;
	if (o->nlink > 1)
		return say(h, path, rel, "has another name: remove that, then abort");
	return say(h, path, rel, "is still open for writing: close it, then abort");
}

static int check_listed(void *data, const char *rel, int dirfd, const char *name,
			const struct object *o)
{
	const struct search *h = data;
	struct listed was;

	if (!guarded_list_find(h->list, rel, &was) && !guarded_list_overflows(h->list))
		return say(h, h->path, rel, "came there by another step: move it away, then abort");
	return check(h, h->path, rel, dirfd, name, o);
}

/* Follows an object, which a rename took to (*root, *path), through the later records. */
static void follow(const struct undo_log *log, size_t at, int *root, char **path)
{
	struct rec r;

	while (undo_log_next(log, &at, &r))
		rec_carry(&r, root, path);
}

/* Checks the object that a rename took from the guarded name `from` to `to`. */
static int check_moved(struct search *h, const char *from, int root, const char *to, size_t at)
{
	AUTO_FREE char *path = xstrdup(to);
	struct guarded_walk walk = {
		.j = h->s->j, .root = root, .path = from, .on = check_listed, .data = h};
	struct spot spot;
	int r;

	if (!h->list.len)
		return 0;
	follow(&h->s->side.log, at, &root, &path);
	h->path = path;
	r = root_find(h->s->j, root, path, &spot);
	if (r == 0)
		r = guarded_each(&walk, spot.fd, spot.name);
	return r == -ENOENT || r == -ENOTDIR || r == -ELOOP ? 0 : r;
}

/* Checks a file that was changed in place, if a file is still at its path. */
static int check_in_place(struct search *h, const struct rec *r)
{
	struct spot at;
	struct object o;
	int e = root_look(h->s->j, r->root, r->path, &at, &o);

	return e < 0 || !S_ISREG(o.mode) ? 0 : check(h, r->path, "", at.fd, at.name, &o);
}

static int check_part(struct step *s, struct err *err)
{
	struct search h = {.s = s, .err = err};
	size_t at = 0;
	struct rec r;
	int e = 0;

	while (e == 0 && undo_log_next(&s->side.log, &at, &r)) {
		if (r.type == REC_CONTENT && r.flags & REC_FRESH)
			e = check_in_place(&h, &r);
		if ((r.type != REC_RENAME && r.type != REC_XCHG) || !r.meta.len)
			continue;
		h.list = guarded_list_get(r.meta, 0);
		e = check_moved(&h, r.path, r.root2, r.path2, at);
		h.list = guarded_list_get(r.meta, 1);
		if (e == 0)
			e = check_moved(&h, r.path2, r.root, r.path, at);
	}
	return e;
}

int journal_check_held(struct step *s, struct err *err)
{
	struct step *p = s;
	int r = 0;

	do {
		store_forget_near(p->j);
		r = p->made && p->j->guards ? check_part(p, err) : 0;
		if (r == 0 && step_prune_writers(p))
			r = err_say(
				err, -EBUSY,
				"a file that it opened is still open for writing: close it, then "
				"abort");
	} while (r == 0 && (p = p->part) != s);
	return r == 0 || r == -EBUSY ? r : err_set(err, r, "look at what the step has moved");
}
