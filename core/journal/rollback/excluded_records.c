/* excluded_records - finds the records to skip so that paths with external edits stay unchanged. */
/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "core/journal/fs/object.h"
#include "core/journal/history/rename_list.h"
#include "core/journal/log/undo_log.h"
#include "core/journal/rollback/protected_names.h"
#include "core/journal/rollback/undo.h"
#include "core/journal/store/reach.h"
#include "core/journal/store/roots.h"
#include "core/journal/store/store.h"
#include "core/journal/util/path_set.h"
#include "core/journal/util/u64_set.h"

/*
 * The records are read in the order of the rollback, newest first. A set of protected names follows
 * them back in time: a renamed directory takes the names below it along. A record about a protected
 * name is skipped, and so are the records that depend on it: the other name of a renamed file, a
 * directory that would be removed and is not empty.
 *
 * If a skipped record would have moved a file onwards, the record that brings the file to the
 * intermediate name is skipped, too. Example: f.tmp was renamed to f; f is protected, so f.tmp is
 * not brought back either. This may skip more records, so the pass is repeated.
 *
 * The last hard link of a file with an external edit must not be removed. Example: the user wrote
 * to f, then steps linked it as g and removed f. If f is left out, g is left, too, as if f had been
 * renamed to g; then the pass is repeated.
 */

#define PASSES_MAX 64 /* more passes: an object would stay at an intermediate name; not done */

struct bringing { /* a record that gives an object a name */
	uint64_t seq;
	bool second;   /* the record's second name */
	size_t before; /* index of the bringing that led to its name before, or NO_BRINGING */
};

#define NO_BRINGING SIZE_MAX

struct lying {	       /* an object at a name, as of the current record */
	size_t newest; /* index of the newest bringing, or NO_BRINGING */
	size_t now;    /* number of its present name, or NO_NAME */
	uint64_t ino;  /* of an object from the store, or 0 */
};

#define NO_NAME SIZE_MAX

struct stray { /* `first` brings an object that the skipped `last` would have moved on */
	uint64_t first, last;
	bool to_second, from_second; /* the second name of `first`, of `last` */
};

struct skipper {
	struct journal *j;
	const struct undo_log *logs;
	size_t n_logs;
	const struct renames *moves;
	struct protected_set names;
	struct u64_set files; /* inodes at those names now */
	struct u64_set found; /* inodes that a pass found at newly protected names */
	struct u64_set *ret;
	struct path_set *left;
	struct path_set brought; /* present names; number i: that of lying[i] */
	struct lying *lying;
	struct u64_set lost;  /* inodes that do not get their names back */
	struct u64_set taken; /* numbers of names whose objects will be removed */
	struct bringing *bringings;
	size_t n_bringings;
	struct stray *strays;
	size_t n_strays;
};

/* Key of the name that a record's path has now. */
static char *key_now(const struct skipper *s, const struct rec *r, int root, const char *path)
{
	AUTO_FREE char *now = renames_now(s->moves, r->seq, &root, path);

	return path_key_make(root, now);
}

/* ---- objects at intermediate names ------------------------------------------------------------
 */

/* Returns the number in s->brought of the first or second name of the record. */
static size_t name_of(struct skipper *s, const struct rec *r, bool second)
{
	AUTO_FREE char *key =
		second ? key_now(s, r, r->root2, r->path2) : key_now(s, r, r->root, r->path);
	bool fresh;
	size_t i = path_set_put(&s->brought, key, &fresh);

	if (fresh && i % 64 == 0)
		s->lying = xrealloc(s->lying, (i + 64) * sizeof(*s->lying));
	if (fresh)
		s->lying[i] = (struct lying){.newest = NO_BRINGING, .now = i};
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

static struct lying brought_by(struct skipper *s, const struct rec *r, bool second,
			       struct lying what)
{
	what.newest = bring(s, r, second, what.newest);
	return what;
}

/* Returns whether the name is free as of the record, so that restored content creates a file. */
static bool is_empty(const struct skipper *s, size_t name)
{
	const struct lying *l = &s->lying[name];
	struct object o = {0};
	const char *path;
	int root;

	if (l->newest != NO_BRINGING || l->now == NO_NAME)
		return l->newest == NO_BRINGING;
	root = path_key_root(path_set_key(&s->brought, l->now), &path);
	return reach_see(s->j, root, path, &o) == 0 && !o.mode;
}

/* Notes which objects come to, or leave, the names of a record that is not skipped. */
static void note_bringing(struct skipper *s, const struct rec *r)
{
	static const struct lying nothing = {.newest = NO_BRINGING, .now = NO_NAME};
	struct lying was, stored = nothing;
	size_t to, from;

	if (rec_is_quiet(r->type))
		return;
	to = name_of(s, r, false);
	if ((r->type == REC_CONTENT || r->type == REC_XINODE) && is_empty(s, to))
		s->lying[to] = brought_by(s, r, false, stored);
	if (rec_is_in_place(r))
		return;
	was = s->lying[to];
	if (r->type == REC_RENAME || r->type == REC_XCHG) {
		from = name_of(s, r, true);
		s->lying[to] = brought_by(s, r, false, s->lying[from]);
		s->lying[from] = r->type == REC_XCHG ? brought_by(s, r, true, was) : nothing;
	} else if (r->type == REC_GONE || r->type == REC_DIR_GONE) {
		stored.ino = r->type == REC_GONE ? r->ino : 0;
		s->lying[to] = brought_by(s, r, false, stored);
	} else {
		if (r->type == REC_NEW && was.now != NO_NAME)
			u64_set_add(&s->taken, was.now);
		s->lying[to] = nothing;
	}
}

/* Returns whether the record would have moved an object on from this name, but the record that
 * would have brought the object is skipped. */
static bool has_missed(const struct skipper *s, const struct rec *r, bool second)
{
	for (size_t i = 0; i < s->n_strays; i++)
		if (s->strays[i].last == r->seq && s->strays[i].from_second == second)
			return true;
	return false;
}

/* Called when a record that would move an object on from this name is skipped. Notes as strays the
 * records that bring the object from its present name. Returns false if it has this name. */
static bool note_strays(struct skipper *s, const struct rec *r, bool second)
{
	size_t name = name_of(s, r, second), i = s->lying[name].newest;
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

static void strays_begin(struct skipper *s, const struct rec *r)
{
	for (size_t i = 0; i < s->n_strays; i++) {
		const struct stray *one = &s->strays[i];

		if (one->first != r->seq)
			continue;
		protected_pass(&s->names, one->to_second ? r->root2 : r->root,
			       one->to_second ? r->path2 : r->path, one->last);
	}
}

/* ---- records ----------------------------------------------------------------------------------
 */

static void leave(struct skipper *s, const struct rec *r, bool second, bool tree)
{
	int root = second ? r->root2 : r->root;
	const char *path = second ? r->path2 : r->path;
	bool both = r->type == REC_XCHG, takes = both || (r->type == REC_RENAME && second);
	AUTO_FREE char *key = key_now(s, r, root, path);

	path_set_add_key(s->left, key);
	/* No object comes to the name, so it needs no protection. In an exchange the name has one:
	 * the object that would have been taken away. */
	if (has_missed(s, r, second) || (!both && protected_passes(&s->names, root, path)) ||
	    (takes && note_strays(s, r, second)))
		return;
	protected_add(&s->names, root, path, tree, true);
}

static void skip_record(struct skipper *s, const struct rec *r, bool tree)
{
	u64_set_add(s->ret, r->seq);
	if (r->type == REC_GONE)
		u64_set_add(&s->lost, r->ino);
	leave(s, r, false, tree);
	if (r->type == REC_RENAME || r->type == REC_XCHG)
		leave(s, r, true, tree);
}

/* Returns whether the rename is skipped. */
static bool look_at_rename(struct skipper *s, const struct rec *r)
{
	bool dir = r->flags & REC_DIRECTORY;
	bool both = r->type == REC_XCHG;

	/* A directory may be renamed back although its own mode was edited from outside, but
	 * neither from below a protected name nor onto one. */
	if (protected_covers(&s->names, r->root, r->path, dir && both) ||
	    protected_covers(&s->names, r->root2, r->path2, dir) ||
	    (!dir && (protected_holds(&s->names, r->root, r->path) ||
		      (both && protected_holds(&s->names, r->root2, r->path2)))) ||
	    (dir && !both && protected_holds(&s->names, r->root, r->path))) {
		skip_record(s, r, dir);
		return true;
	}
	if (dir && both)
		protected_carry_both(&s->names, r);
	else if (dir)
		protected_carry(&s->names, r->root2, r->path2, r->root, r->path);
	return false;
}

static bool look_at_other(struct skipper *s, const struct rec *r)
{
	if (protected_covers(&s->names, r->root, r->path, false))
		skip_record(s, r, protected_covers(&s->names, r->root, r->path, true));
	/* Changed through another hard link of a protected file: this name may come and go. */
	else if ((r->type == REC_META || r->type == REC_CONTENT) && u64_set_have(&s->files, r->ino))
		u64_set_add(s->ret, r->seq);
	else if (r->type != REC_META && r->type != REC_DIR_GONE &&
		 protected_holds(&s->names, r->root, r->path))
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
	protected_passed(&s->names, r->seq);
}

/* Returns whether all below the object stays as well: in a directory without search permission
 * external edits cannot be found. */
static bool stays_whole(const struct spot *at, const struct object *o)
{
	if (!S_ISDIR(o->mode))
		return true;
	return faccessat(at->fd, *at->name ? at->name : ".", X_OK, AT_EACCESS) < 0;
}

/* ---- files that would have no name ------------------------------------------------------------
 */

/* Returns the inode number of the file at the key's path, or 0 if no file is there. */
static uint64_t file_at(struct journal *j, const char *key)
{
	const char *path;
	int root = path_key_root(key, &path);
	struct object o;

	if (reach_see(j, root, path, &o) < 0 || o.mode == OBJECT_UNSEEN || S_ISDIR(o.mode))
		return 0;
	return o.ino;
}

/* Finds the inodes that have a name after the rollback, from the store or at present names. */
static void find_staying(const struct skipper *s, struct journal *j, struct u64_set *ret)
{
	for (size_t i = 0; i < path_set_count(&s->brought); i++) {
		const struct lying *l = &s->lying[i];

		u64_set_add(ret, l->now == NO_NAME ? l->ino
						   : file_at(j, path_set_key(&s->brought, l->now)));
	}
	/* A skipped name keeps its file, unless a record has removed the file before. */
	for (size_t k = 0; k < path_set_count(s->left); k++)
		if (!u64_set_have(&s->taken, path_set_find(&s->brought, path_set_key(s->left, k))))
			u64_set_add(ret, file_at(j, path_set_key(s->left, k)));
	u64_set_sort(ret);
}

/* Finds files with several hard links at newly skipped names: writes through other links are
 * skipped, too, and may be newer than the records of this name. Returns whether it found one. */
static bool find_linked(struct skipper *s, struct journal *j, size_t from)
{
	size_t n = s->found.n;

	for (size_t k = from; k < path_set_count(s->left); k++) {
		const char *path;
		int root = path_key_root(path_set_key(s->left, k), &path);
		struct object o;

		if (reach_see(j, root, path, &o) == 0 && S_ISREG(o.mode) && o.nlink > 1 &&
		    !u64_set_have(&s->files, o.ino))
			u64_set_add(&s->found, o.ino);
	}
	return s->found.n > n;
}

/* Adds to *left a name of each file that would lose its last name. Returns whether it added one. */
static bool keep_last_names(struct skipper *s, struct journal *j, struct path_set *left)
{
	struct u64_set staying = {0};
	bool found = false, more = false;

	u64_set_sort(&s->lost);
	u64_set_sort(&s->taken);
	for (size_t i = 0; s->lost.n && i < s->taken.n; i++) {
		const char *key = path_set_key(&s->brought, s->taken.list[i]);
		uint64_t ino = file_at(j, key);

		if (!ino || !u64_set_have(&s->lost, ino))
			continue;
		if (!found)
			find_staying(s, j, &staying);
		found = true;
		if (!u64_set_have(&staying, ino))
			more |= path_set_add_key(left, key);
	}
	u64_set_done(&staying);
	return more;
}

/* ---- passes -----------------------------------------------------------------------------------
 */

/* Reads all records once; adds paths to *left. Returns whether another pass is needed. */
static bool pass(struct skipper *s, struct journal *j, const struct emptied *e,
		 struct path_set *left)
{
	struct undo_log_back walk = undo_log_back_begin(s->logs, s->n_logs);
	size_t strays = s->n_strays, n_left = path_set_count(s->left);
	struct rec r = {0};
	bool more;

	for (size_t i = 0; i < s->found.n; i++)
		u64_set_add(&s->files, s->found.list[i]);
	for (size_t k = 0; k < path_set_count(s->left); k++) {
		const char *path;
		int root = path_key_root(path_set_key(s->left, k), &path);
		struct spot at;
		struct object o;
		bool whole;

		if (root_look(j, root, path, &at, &o) < 0)
			o = (struct object){.mode = OBJECT_UNSEEN};
		/* If an external edit came between two steps, its object may be elsewhere now, and
		 * a directory here. */
		whole = e->moved_edits &&
			path_set_has_key(e->moved_edits, path_set_key(s->left, k));
		protected_add(&s->names, root, path, whole || stays_whole(&at, &o), o.mode != 0);
		if (S_ISREG(o.mode))
			u64_set_add(&s->files, o.ino);
	}
	u64_set_sort(&s->files);
	store_forget_near(j);
	while (undo_log_back(&walk, &r))
		look_at(s, &r);
	undo_log_back_end(&walk);
	more = keep_last_names(s, j, left);
	more |= find_linked(s, j, n_left);
	store_forget_near(j);
	protected_done(&s->names);
	u64_set_done(&s->files);
	u64_set_done(&s->lost);
	u64_set_done(&s->taken);
	path_set_done(&s->brought);
	free(take_ptr(&s->lying));
	free(take_ptr(&s->bringings));
	s->n_bringings = 0;
	return more || s->n_strays > strays;
}

bool excluded_build(struct journal *j, const struct emptied *e, struct path_set *left,
		    struct u64_set *ret)
{
	struct skipper s = {
		.j = j, .logs = e->logs, .n_logs = e->dirs->n, .moves = e->moves, .ret = ret};
	bool more = true;

	for (int i = 0; more && i < PASSES_MAX; i++) {
		struct path_set now = {0};

		u64_set_done(ret);
		for (size_t k = 0; k < path_set_count(left); k++)
			path_set_add_key(&now, path_set_key(left, k));
		s.left = &now;
		more = pass(&s, j, e, left);
		if (more && i + 1 < PASSES_MAX) {
			path_set_done(&now);
			continue;
		}
		path_set_done(left);
		*left = now;
	}
	free(s.strays);
	u64_set_done(&s.found);
	u64_set_sort(ret);
	return !more;
}
