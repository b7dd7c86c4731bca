/* skip - which records of a rollback are left out, so that somebody else's paths stay as they are.
 */
/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "core/base/path.h"
#include "core/journal/priv.h"

/*
 * The records are gone through as the rollback will, newest first, and a set of names that nobody
 * may change follows them back in time: a directory that is renamed takes the names below it along.
 * A record about such a name is left out. What hangs together with it is left out as well: the
 * other name of a file that was renamed, a directory that would go and still holds something.
 *
 * What comes to that other name only to go on from there (a file that was written beside another
 * and then took its place) would be left there: it is not brought either, and all is gone through
 * once more.
 */

#define PASSES_MAX 64 /* then something may be left where it was on its way */

struct mine { /* a name, as of the record that is looked at */
	char *key;
	bool named;    /* itself, not only what lies below */
	bool tree;     /* and all that was below */
	bool exists;   /* the directories above it must stay */
	size_t held;   /* names below it that exist */
	size_t passes; /* of those that pass */
	UT_hash_handle hh;
};

struct passing { /* a tree that nobody may change up to this record */
	char *key;
	uint64_t last;
};

struct bringing { /* something comes to a name */
	uint64_t seq;
	bool second;   /* of the record's names */
	size_t before; /* number of that which brought it to where it came from, or NO_BRINGING */
};

#define NO_BRINGING SIZE_MAX

struct stray { /* what one record would bring, and another one, left out, would have taken on */
	uint64_t first, last;
	bool to_second, from_second; /* of the first one's names, of the last one's */
};

struct skipper {
	const struct wal *logs;
	size_t n_logs;
	size_t *tails; /* where each log is read next, from its end */
	const struct moves *moves;
	struct mine *mine; /* hash */
	struct passing *passing;
	size_t n_passing;
	struct numbers files; /* that lie at those names now */
	struct numbers *ret;
	struct names *left;
	struct names brought; /* names of now; of number i, the last that came is newest[i] */
	size_t *newest;
	struct bringing *bringings;
	size_t n_bringings;
	struct stray *strays;
	size_t n_strays;
};

static struct mine *mine_find(const struct skipper *s, const char *key, size_t len)
{
	struct mine *m;

	HASH_FIND(hh, s->mine, key, len, m);
	return m;
}

static struct mine *mine_get(struct skipper *s, const char *key, size_t len)
{
	struct mine *m = mine_find(s, key, len);

	if (m)
		return m;
	m = xcalloc(1, sizeof(*m));
	m->key = xstrndup(key, len);
	HASH_ADD_KEYPTR(hh, s->mine, m->key, len, m);
	return m;
}

/* Of the directory above; 0: there is none below the root. */
static size_t above(const char *key, size_t len)
{
	size_t root = (size_t)(strchr(key, '/') - key);

	while (len > root && key[len - 1] != '/')
		len--;
	return len > root + 1 ? len - 1 : 0;
}

static void mine_add_key(struct skipper *s, const char *key, bool tree, bool exists)
{
	size_t len = strlen(key);
	struct mine *m = mine_get(s, key, len);
	bool more = exists && !m->exists;

	m->named = true;
	m->tree |= tree;
	m->exists |= exists;
	while (more && (len = above(key, len)))
		mine_get(s, key, len)->held++;
}

static void mine_add(struct skipper *s, int root, const char *path, bool tree, bool exists)
{
	AUTO_FREE char *key = key_make(root, path);

	mine_add_key(s, key, tree, exists);
}

static void mine_free(struct skipper *s)
{
	struct mine *m, *next;

	HASH_ITER (hh, s->mine, m, next) {
		HASH_DEL(s->mine, m);
		free(m->key);
		free(m);
	}
	while (s->n_passing)
		free(s->passing[--s->n_passing].key);
	free(take_ptr(&s->passing));
}

static bool covered(const struct skipper *s, int root, const char *path, bool trees_only)
{
	AUTO_FREE char *key = key_make(root, path);
	size_t len = strlen(key);
	const struct mine *m = mine_find(s, key, len);

	if (m && m->named && !trees_only)
		return true;
	for (; len; len = above(key, len)) {
		m = mine_find(s, key, len);
		if (m && (m->tree || m->passes))
			return true;
	}
	return false;
}

static bool holds(const struct skipper *s, int root, const char *path)
{
	AUTO_FREE char *key = key_make(root, path);
	const struct mine *m = mine_find(s, key, strlen(key));

	return m && m->held;
}

/* What it said of the name. */
static struct mine mine_take(struct skipper *s, struct mine *m)
{
	struct mine was = *m;
	size_t len = strlen(m->key);

	while (m->exists && (len = above(m->key, len)))
		mine_get(s, m->key, len)->held--;
	m->named = m->tree = m->exists = false;
	return was;
}

static void carry_passing(struct skipper *s, const char *from, size_t len, const char *to)
{
	for (size_t i = 0; i < s->n_passing; i++) {
		struct passing *p = &s->passing[i];
		char *key;

		if (!path_is_beneath(p->key, from))
			continue;
		key = xasprintf("%s%s", to, p->key + len);
		mine_get(s, p->key, strlen(p->key))->passes--;
		mine_get(s, key, strlen(key))->passes++;
		free(p->key);
		p->key = key;
	}
}

/* The directory goes back from p2 to p1, what is below it goes along. */
static void carry(struct skipper *s, int root2, const char *p2, int root1, const char *p1)
{
	AUTO_FREE char *from = key_make(root2, p2), *to = key_make(root1, p1);
	size_t len = strlen(from), n = 0;
	AUTO_FREE struct mine *taken = NULL;
	struct mine *m, *next;

	HASH_ITER (hh, s->mine, m, next) {
		if (!m->named || !path_is_beneath(m->key, from))
			continue;
		if (!(n & (n - 1)))
			taken = xrealloc(taken, (n ? 2 * n : 1) * sizeof(*taken));
		taken[n++] = mine_take(s, m);
	}
	for (size_t i = 0; i < n; i++) {
		AUTO_FREE char *key = xasprintf("%s%s", to, taken[i].key + len);

		mine_add_key(s, key, taken[i].tree, taken[i].exists);
	}
	carry_passing(s, from, len, to);
}

/* The exchange of two directories: each one's names go where the other's were. */
static void carry_both(struct skipper *s, const struct rec *r)
{
	const char *aside = "\n"; /* no path below a root begins so */

	carry(s, r->root, r->path, -1, aside);
	carry(s, r->root2, r->path2, r->root, r->path);
	carry(s, -1, aside, r->root2, r->path2);
}

/* Key of the name that a record's path has now. */
static char *key_now(const struct skipper *s, const struct rec *r, int root, const char *path)
{
	AUTO_FREE char *now = xstrdup(path);

	moves_follow(s->moves, r->seq, &root, &now);
	return key_make(root, now);
}

/* ---- what is only on its way ------------------------------------------------------------------
 */

/* The number of the record's name. */
static size_t name_of(struct skipper *s, const struct rec *r, bool second)
{
	AUTO_FREE char *key =
		second ? key_now(s, r, r->root2, r->path2) : key_now(s, r, r->root, r->path);
	bool fresh;
	size_t i = names_put(&s->brought, key, &fresh);

	if (fresh && i % 64 == 0)
		s->newest = xrealloc(s->newest, (i + 64) * sizeof(*s->newest));
	if (fresh)
		s->newest[i] = NO_BRINGING;
	return i;
}

static size_t bring(struct skipper *s, const struct rec *r, bool second, size_t before)
{
	if (s->n_bringings % 64 == 0)
		s->bringings =
			xrealloc(s->bringings, (s->n_bringings + 64) * sizeof(*s->bringings));
	s->bringings[s->n_bringings] =
		(struct bringing){.seq = r->seq, .second = second, .before = before};
	return s->n_bringings++;
}

/* The record is not left out. */
static void note_bringing(struct skipper *s, const struct rec *r)
{
	size_t to, from, was;

	if (r->type == REC_META || r->type == REC_CONTENT || r->type == REC_XINODE ||
	    rec_is_quiet(r->type))
		return;
	to = name_of(s, r, false);
	was = s->newest[to];
	if (r->type == REC_RENAME || r->type == REC_XCHG) {
		from = name_of(s, r, true);
		s->newest[to] = bring(s, r, false, s->newest[from]);
		s->newest[from] = r->type == REC_XCHG ? bring(s, r, true, was) : NO_BRINGING;
	} else if (r->type == REC_GONE || r->type == REC_DIR_GONE) {
		s->newest[to] = bring(s, r, false, NO_BRINGING);
	} else {
		s->newest[to] = NO_BRINGING;
	}
}

/* Would the record have taken on what does not come to that name of its? */
static bool has_missed(const struct skipper *s, const struct rec *r, bool second)
{
	for (size_t i = 0; i < s->n_strays; i++)
		if (s->strays[i].last == r->seq && s->strays[i].from_second == second)
			return true;
	return false;
}

/* The record that would take it on is left out: so is what brings it, back to where it is now.
 * False: it lies there now. */
static bool note_strays(struct skipper *s, const struct rec *r, bool second)
{
	size_t name = name_of(s, r, second), i = s->newest[name];
	uint64_t last = r->seq;
	bool found = i != NO_BRINGING;

	for (; i != NO_BRINGING; i = s->bringings[i].before) {
		const struct bringing *one = &s->bringings[i];

		if (s->n_strays % 16 == 0)
			s->strays = xrealloc(s->strays, (s->n_strays + 16) * sizeof(*s->strays));
		s->strays[s->n_strays++] = (struct stray){.first = one->seq,
							  .last = last,
							  .to_second = one->second,
							  .from_second = second};
		last = one->seq;
		second = !one->second;
	}
	return found;
}

static void pass_begin(struct skipper *s, int root, const char *path, uint64_t last)
{
	struct passing *p;

	if (s->n_passing % 16 == 0)
		s->passing = xrealloc(s->passing, (s->n_passing + 16) * sizeof(*s->passing));
	p = &s->passing[s->n_passing++];
	*p = (struct passing){.key = key_make(root, path), .last = last};
	mine_get(s, p->key, strlen(p->key))->passes++;
}

static void strays_begin(struct skipper *s, const struct rec *r)
{
	for (size_t i = 0; i < s->n_strays; i++) {
		const struct stray *one = &s->strays[i];

		if (one->first != r->seq)
			continue;
		pass_begin(s, one->to_second ? r->root2 : r->root,
			   one->to_second ? r->path2 : r->path, one->last);
	}
}

static bool is_stray(const struct skipper *s, int root, const char *path)
{
	AUTO_FREE char *key = s->n_passing ? key_make(root, path) : NULL;

	for (size_t len = key ? strlen(key) : 0; len; len = above(key, len)) {
		const struct mine *m = mine_find(s, key, len);

		if (m && m->passes)
			return true;
	}
	return false;
}

static void strays_end(struct skipper *s, uint64_t seq)
{
	size_t kept = 0;

	for (size_t i = 0; i < s->n_passing; i++) {
		struct passing *p = &s->passing[i];

		if (p->last != seq) {
			s->passing[kept++] = *p;
			continue;
		}
		mine_get(s, p->key, strlen(p->key))->passes--;
		free(p->key);
	}
	s->n_passing = kept;
}

/* ---- records ----------------------------------------------------------------------------------
 */

static void leave(struct skipper *s, const struct rec *r, bool second, bool tree)
{
	int root = second ? r->root2 : r->root;
	const char *path = second ? r->path2 : r->path;
	bool takes = r->type == REC_XCHG || (r->type == REC_RENAME && second);
	AUTO_FREE char *key = key_now(s, r, root, path);

	names_add_key(s->left, key);
	/* Nothing comes there. */
	if (has_missed(s, r, second) || is_stray(s, root, path) ||
	    (takes && note_strays(s, r, second)))
		return;
	mine_add(s, root, path, tree, true);
}

static void skip_record(struct skipper *s, const struct rec *r, bool tree)
{
	numbers_add(s->ret, r->seq);
	leave(s, r, false, tree);
	if (r->type == REC_RENAME || r->type == REC_XCHG)
		leave(s, r, true, tree);
}

/* True: it is left out. */
static bool look_at_rename(struct skipper *s, const struct rec *r)
{
	bool dir = r->flags & REC_DIRECTORY;
	bool both = r->type == REC_XCHG;

	/* A directory may go back although its own mode is somebody's; not from below a place that
	 * stays, and not onto one. */
	if (covered(s, r->root, r->path, dir && both) || covered(s, r->root2, r->path2, dir) ||
	    (!dir && (holds(s, r->root, r->path) || (both && holds(s, r->root2, r->path2)))) ||
	    (dir && !both && holds(s, r->root, r->path))) {
		skip_record(s, r, dir);
		return true;
	}
	if (dir && both)
		carry_both(s, r);
	else if (dir)
		carry(s, r->root2, r->path2, r->root, r->path);
	return false;
}

static bool look_at_other(struct skipper *s, const struct rec *r)
{
	if (covered(s, r->root, r->path, false))
		skip_record(s, r, covered(s, r->root, r->path, true));
	/* By another of its names: that may come and go. */
	else if ((r->type == REC_META || r->type == REC_CONTENT) && numbers_have(&s->files, r->ino))
		numbers_add(s->ret, r->seq);
	else if (r->type != REC_META && r->type != REC_DIR_GONE && holds(s, r->root, r->path))
		skip_record(s, r, r->type == REC_NEW);
	else
		return false;
	return true;
}

static void look_at(struct skipper *s, const struct rec *r)
{
	bool out;

	if (rec_is_idle(r))
		return;
	strays_begin(s, r);
	out = r->type == REC_RENAME || r->type == REC_XCHG ? look_at_rename(s, r)
							   : look_at_other(s, r);
	if (!out)
		note_bringing(s, r);
	strays_end(s, r->seq);
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

/* All of it. True: something would be left where it was on its way that was not known before. */
static bool pass(struct skipper *s, struct journal *j, const struct emptied *e)
{
	size_t strays = s->n_strays;
	struct rec r = {0};

	for (size_t i = 0; i < s->n_logs; i++)
		s->tails[i] = wal_tail(&s->logs[i]);
	for (size_t k = 0; k < names_count(s->left); k++) {
		const char *path;
		int root = key_root(names_key(s->left, k), &path);
		struct spot at;
		struct obj o;
		bool whole;

		if (spot_look(j, root, path, &at, &o) < 0)
			o = (struct obj){.mode = OBJ_UNSEEN};
		/* What was there between two steps may lie elsewhere now, and a directory here. */
		whole = chains_judge(e->chains, names_key(s->left, k)) != CHAIN_WHOLE;
		mine_add(s, root, path, whole || stays_whole(&at, &o), o.mode != 0);
		if (S_ISREG(o.mode))
			numbers_add(&s->files, o.ino);
	}
	numbers_sort(&s->files);
	store_forget_near(j);
	while (newest(s, &r))
		look_at(s, &r);
	mine_free(s);
	numbers_done(&s->files);
	names_done(&s->brought);
	free(take_ptr(&s->newest));
	free(take_ptr(&s->bringings));
	s->n_bringings = 0;
	return s->n_strays > strays;
}

void skip_build(struct journal *j, const struct emptied *e, struct names *left, struct numbers *ret)
{
	struct skipper s = {.logs = e->logs, .n_logs = e->dirs->n, .moves = e->moves, .ret = ret};
	AUTO_FREE size_t *tails = xcalloc(s.n_logs + 1, sizeof(*tails));
	bool more = true;

	s.tails = tails;
	for (int i = 0; more && i < PASSES_MAX; i++) {
		struct names now = {0};

		numbers_done(ret);
		for (size_t k = 0; k < names_count(left); k++)
			names_add_key(&now, names_key(left, k));
		s.left = &now;
		more = pass(&s, j, e);
		if (more && i + 1 < PASSES_MAX) {
			names_done(&now);
			continue;
		}
		names_done(left);
		*left = now;
	}
	free(s.strays);
	numbers_sort(ret);
}
