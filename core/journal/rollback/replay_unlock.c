/* replay_unlock - adds permissions that the agent removed from directories, during a rollback. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "core/base/path.h"
#include "core/journal/fs/object.h"
#include "core/journal/history/rename_list.h"
#include "core/journal/log/capture.h"
#include "core/journal/log/undo_log.h"
#include "core/journal/rollback/replay.h"
#include "core/journal/rollback/txn.h"
#include "core/journal/store/borrowed_dirs.h"
#include "core/journal/store/roots.h"
#include "core/journal/store/store.h"

/*
 * A directory without search or write permission blocks the rollback of the paths in it. Its owner,
 * this user, adds the permission. That is a record like any other, so in either direction the mode
 * is restored when the record's turn comes. If the rollback ends before that, and no record of it
 * has set the mode, the mode is restored at the end.
 */

static int lend_one(struct record_replay *p, int root, const char *path)
{
	AUTO_CLOSE int fd = -1;
	struct spot at;
	struct object o;
	int e = replay_locate(p, root, path, &at, &o);

	if (e < 0 || !S_ISDIR(o.mode) || (o.mode & 0700) == 0700 || o.uid != geteuid())
		return e;
	fd = object_open(at.fd, at.name);
	e = fd < 0 ? fd : capture_keep_meta(p->to, root, path, fd, 0);
	if (e == 0)
		e = object_chmod(fd, o.mode | 0700);
	if (e == 0)
		borrowed_add(p->j, &o);
	return e < 0 ? e : 1;
}

static int unlock_path(struct record_replay *p, int root, const char *path)
{
	AUTO_FREE char *prefix = xstrdup(path);
	unsigned flags = p->to->flags;
	int e, n;

	store_forget_near(p->j);
	p->to->flags |= REC_BORROWED;
	/* The folder, the directories above, and the object itself: a directory that moves must be
	 * writable. */
	e = n = lend_one(p, root, "");
	for (char *slash = *prefix ? prefix : NULL; e >= 0 && slash;) {
		slash = strchr(slash + 1, '/');
		if (slash)
			*slash = '\0';
		e = lend_one(p, root, prefix);
		n += e > 0;
		if (slash)
			*slash = '/';
	}
	p->to->flags = flags;
	return e < 0 ? e : n;
}

int unlock_paths(struct record_replay *p)
{
	int n = unlock_path(p, p->r->root, p->r->path), m = 0;

	if (n >= 0 && p->r->path2[0])
		m = unlock_path(p, p->r->root2, p->r->path2);
	return m < 0 ? m : n + m;
}

struct loan {
	uint64_t seq;
	int root;
	char *path; /* present path */
	mode_t mode;
};

struct loans {
	struct txn *t;
	struct renames moves;
	struct loan *list; /* the deepest directory first */
	size_t n;
};

/* Returns the present path of the record's directory; heap. */
static char *place_now(const struct loans *l, const struct rec *r, int *ret_root)
{
	char *path = xasprintf("%s/", r->path);

	*ret_root = r->root;
	renames_follow(&l->moves, r->seq, ret_root, &path); /* itself, too: see the slash */
	path[strlen(path) - 1] = '\0';
	return path;
}

/* Ends the loan of a directory whose mode was set by a later record. */
static void end_loan(struct loans *l, int root, const char *path, uint64_t seq)
{
	for (size_t i = 0; i < l->n; i++)
		if (l->list[i].seq < seq && l->list[i].root == root &&
		    str_eq(l->list[i].path, path))
			l->list[i].mode = 0;
}

static void each_mode(struct loans *l, void (*fn)(struct loans *l, const struct rec *r))
{
	for (size_t i = 0; i < l->t->n; i++) {
		struct rec r;
		size_t at = 0;

		if (l->t->list[i].arrived)
			continue;
		while (undo_log_next(&txn_to(l->t, &l->t->list[i])->log, &at, &r))
			if ((r.type == REC_META || r.type == REC_DIR_NEW) &&
			    !(r.flags & (REC_SKIPPED | REC_ASIDE)) && r.seq > l->t->roll.number)
				fn(l, &r);
	}
}

static void note_loan(struct loans *l, const struct rec *r)
{
	struct loan *one;

	if (!(r->flags & REC_BORROWED))
		return;
	if (l->n % 16 == 0)
		l->list = xrealloc(l->list, (l->n + 16) * sizeof(*l->list));
	one = &l->list[l->n++];
	*one = (struct loan){.seq = r->seq, .mode = attributes_mode(r->meta)};
	one->path = place_now(l, r, &one->root);
}

static void note_end(struct loans *l, const struct rec *r)
{
	int root;
	AUTO_FREE char *path = place_now(l, r, &root);

	end_loan(l, root, path, r->seq);
}

/* Sorts the deepest path first: loans were made in any order. */
static int by_depth(const void *a, const void *b)
{
	const struct loan *x = a, *y = b;

	return path_deeper(x->path, y->path);
}

static int give_back(struct journal *j, const struct loan *one)
{
	struct spot at;
	struct object o;
	int r;

	if (!one->mode)
		return 0;
	r = root_look(j, one->root, one->path, &at, &o);
	if (r < 0 || !S_ISDIR(o.mode) || o.mode == OBJECT_UNSEEN || o.mode != (one->mode | 0700))
		return r;
	return object_chmod_at(at.fd, at.name, one->mode);
}

static int recall(struct journal *j, const struct loan *one)
{
	struct spot at;
	struct object o;
	int r = one->mode ? root_look(j, one->root, one->path, &at, &o) : 0;

	if (one->mode && r == 0 && S_ISDIR(o.mode) && o.mode == (one->mode | 0700)) {
		o.mode = one->mode;
		borrowed_add(j, &o);
	}
	return r;
}

static int each_loan(struct txn *t, int (*fn)(struct journal *j, const struct loan *one))
{
	struct loans l = {.t = t};
	int r = 0;

	for (size_t i = 0; i < t->n; i++)
		if (!t->list[i].arrived)
			renames_add_made(&l.moves, &txn_to(t, &t->list[i])->log);
	renames_sort(&l.moves);
	each_mode(&l, note_loan);
	if (l.n) {
		qsort(l.list, l.n, sizeof(*l.list), by_depth);
		each_mode(&l, note_end);
	}
	for (size_t i = 0; r == 0 && i < l.n; i++) {
		store_forget_near(t->j);
		r = fn(t->j, &l.list[i]);
	}
	store_forget_near(t->j);
	for (size_t i = 0; i < l.n; i++)
		free(l.list[i].path);
	free(l.list);
	renames_done(&l.moves);
	return r;
}

int unlock_give_back(struct txn *t)
{
	int r = each_loan(t, give_back);

	borrowed_clear(t->j);
	return r;
}

int unlock_recall(struct txn *t)
{
	return each_loan(t, recall);
}
