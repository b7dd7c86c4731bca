/* skip - which records of a rollback are left out, so that somebody else's paths stay as they are.
 */
/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include <utlist.h>

#include "core/journal/priv.h"

/*
 * The records are gone through as the rollback will, newest first, and a set of names that nobody
 * may change follows them back in time: a directory that is renamed takes the names below it along.
 * A record about such a name is left out. What hangs together with it is left out as well: the
 * other name of a file that was renamed, a directory that would go and still holds something.
 */

struct mine { /* a name, as of the record that is looked at */
	int root;
	char *path;
	bool tree;   /* and all that was below */
	bool exists; /* the directories above it must stay */
	struct mine *next;
};

struct skipper {
	const struct wal *logs;
	size_t n_logs;
	size_t *tails; /* where each log is read next, from its end */
	const struct moves *moves;
	struct mine *mine;
	struct numbers files; /* that lie at those names now */
	struct numbers *ret;
	struct names *left;
};

static struct mine *mine_add(struct skipper *s, int root, const char *path, bool tree, bool exists)
{
	struct mine *m = xcalloc(1, sizeof(*m));

	m->root = root;
	m->path = xstrdup(path);
	m->tree = tree;
	m->exists = exists;
	LL_PREPEND(s->mine, m);
	return m;
}

static void mine_free(struct mine *list)
{
	while (list) {
		struct mine *m = list;

		list = m->next;
		free(m->path);
		free(m);
	}
}

static bool is_below(const char *path, const char *dir)
{
	size_t len = strlen(dir);

	return strncmp(path, dir, len) == 0 && path[len] == '/';
}

static bool covered(const struct skipper *s, int root, const char *path, bool trees_only)
{
	for (const struct mine *m = s->mine; m; m = m->next) {
		if (m->root != root)
			continue;
		if (str_eq(m->path, path) && (m->tree || !trees_only))
			return true;
		if (m->tree && is_below(path, m->path))
			return true;
	}
	return false;
}

static bool holds(const struct skipper *s, int root, const char *path)
{
	for (const struct mine *m = s->mine; m; m = m->next)
		if (m->root == root && m->exists && is_below(m->path, path))
			return true;
	return false;
}

/* The directory goes back from p2 to p1, what is below it goes along. */
static void carry(struct skipper *s, int root2, const char *p2, int root1, const char *p1)
{
	size_t len = strlen(p2);

	for (struct mine *m = s->mine; m; m = m->next) {
		char *path;

		if (m->root != root2 || (!str_eq(m->path, p2) && !is_below(m->path, p2)))
			continue;
		path = xasprintf("%s%s", p1, m->path + len);
		free(m->path);
		m->path = path;
		m->root = root1;
	}
}

/* The exchange of two directories: each one's names go where the other's were. */
static void carry_both(struct skipper *s, const struct rec *r)
{
	const char *aside = "\n"; /* no path below a root begins so */

	carry(s, r->root, r->path, -1, aside);
	carry(s, r->root2, r->path2, r->root, r->path);
	carry(s, -1, aside, r->root2, r->path2);
}

static void leave(struct skipper *s, const struct rec *r, int root, const char *path, bool tree)
{
	AUTO_FREE char *now = xstrdup(path);
	int at = root;

	mine_add(s, root, path, tree, true);
	moves_follow(s->moves, r->seq, &at, &now);
	names_add(s->left, at, now);
}

static void skip_record(struct skipper *s, const struct rec *r, bool tree)
{
	numbers_add(s->ret, r->seq);
	leave(s, r, r->root, r->path, tree);
	if (r->type == REC_RENAME || r->type == REC_XCHG)
		leave(s, r, r->root2, r->path2, tree);
}

static void look_at_rename(struct skipper *s, const struct rec *r)
{
	bool dir = r->flags & REC_DIRECTORY;
	bool both = r->type == REC_XCHG;

	/* A directory may go back although its own mode is somebody's; not from below a place that
	 * stays, and not onto one. */
	if (covered(s, r->root, r->path, dir && both) || covered(s, r->root2, r->path2, dir) ||
	    (!dir && (holds(s, r->root, r->path) || (both && holds(s, r->root2, r->path2)))) ||
	    (dir && !both && holds(s, r->root, r->path)))
		skip_record(s, r, dir);
	else if (dir && both)
		carry_both(s, r);
	else if (dir)
		carry(s, r->root2, r->path2, r->root, r->path);
}

static void look_at(struct skipper *s, const struct rec *r)
{
	if (rec_is_idle(r))
		return;
	if (r->type == REC_RENAME || r->type == REC_XCHG)
		look_at_rename(s, r);
	else if (covered(s, r->root, r->path, false))
		skip_record(s, r, covered(s, r->root, r->path, true));
	/* By another of its names: that may come and go. */
	else if ((r->type == REC_META || r->type == REC_CONTENT) && numbers_have(&s->files, r->ino))
		numbers_add(s->ret, r->seq);
	else if (r->type != REC_META && r->type != REC_DIR_GONE && holds(s, r->root, r->path))
		skip_record(s, r, r->type == REC_NEW);
}

static bool newest(struct skipper *s, struct rec *ret)
{
	size_t best = s->n_logs, best_start = 0;

	for (size_t i = 0; i < s->n_logs; i++) {
		struct rec r;
		size_t start;

		if (!wal_last(&s->logs[i], s->tails[i], &r, &start) || r.type == REC_STEP)
			continue;
		if (best < s->n_logs && r.seq < ret->seq)
			continue;
		*ret = r;
		best = i;
		best_start = start;
	}
	if (best == s->n_logs)
		return false;
	s->tails[best] = best_start;
	return true;
}

/* All that was below stays with it: of a directory that may not be searched nobody knows whose work
 * lies in it. */
static bool stays_whole(const struct spot *at, const struct obj *o)
{
	if (!S_ISDIR(o->mode))
		return true;
	return faccessat(at->fd, *at->name ? at->name : ".", X_OK, AT_EACCESS) < 0;
}

void skip_build(struct journal *j, const struct emptied *e, struct names *left, struct numbers *ret)
{
	struct skipper s = {
		.logs = e->logs, .n_logs = e->dirs->n, .moves = e->moves, .ret = ret, .left = left};
	AUTO_FREE size_t *tails = xcalloc(s.n_logs + 1, sizeof(*tails));
	struct rec r = {0};

	s.tails = tails;
	for (size_t i = 0; i < s.n_logs; i++)
		tails[i] = wal_tail(&s.logs[i]);
	for (size_t k = 0; k < names_count(left); k++) {
		const char *path;
		int root = key_root(names_key(left, k), &path);
		struct spot at;
		struct obj o;
		bool whole;

		if (spot_look(j, root, path, &at, &o) < 0)
			o = (struct obj){.mode = OBJ_UNSEEN};
		/* What was there between two steps may lie elsewhere now, and a directory here. */
		whole = chains_judge(e->chains, names_key(left, k)) != CHAIN_WHOLE;
		mine_add(&s, root, path, whole || stays_whole(&at, &o), o.mode != 0);
		if (S_ISREG(o.mode))
			numbers_add(&s.files, o.ino);
	}
	numbers_sort(&s.files);
	store_forget_near(j);
	while (newest(&s, &r))
		look_at(&s, &r);
	mine_free(s.mine);
	numbers_done(&s.files);
	numbers_sort(ret);
}
