/* plan - what an undo or redo would change, and where somebody else was there since. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "core/journal/priv.h"

/*
 * The newest post-image of a path, whichever step left it, is what the path should look like now;
 * another look is somebody else's work. So is a path whose newest image was left by a step that
 * stays: commands that ran at the same time. A directory that was renamed after the image was taken
 * takes the paths below it along; and a directory that would go must hold nothing but what goes
 * with it.
 */

struct planner {
	struct journal *j;
	const struct group *dirs;
	bool redo;
	struct names made;     /* where records say that nothing was */
	struct post *posts;    /* hash by key: the newest image of every path */
	struct post *left;     /* hash by key: what the steps left, where that matters */
	struct post *inodes;   /* hash by inode: the newest of each file, whatever its name */
	struct names places;   /* where the paths that the steps know lie now */
	struct names idle;     /* of records that an earlier rollback left out */
	struct names overlaps; /* paths that a step has also touched that stays */
	struct moves moves;
	struct wal *logs;  /* of the steps, the side that will be emptied */
	struct names lost; /* changed while a step was unprotected, by no record */
	struct undo_plan *plan;
};

static void entry_free(struct undo_entry *e)
{
	free(e->path);
	free(e->other);
	free(e->why);
	free(e->base);
}

void undo_plan_free(struct undo_plan *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->n_entries; i++)
		entry_free(&p->entries[i]);
	free(p->entries);
	barrier_free(p->barriers, p->n_barriers);
	free(p->ids);
	free(p);
}

/* ---- post-images ------------------------------------------------------------------------------
 */

static bool in_group(const struct planner *p, int64_t id)
{
	for (size_t i = 0; i < p->dirs->n; i++)
		if (atoll(strchr(p->dirs->dirs[i], '/') + 1) == id)
			return true;
	return false;
}

/* Not one of the steps, and begun after them. */
static bool is_newer(const struct planner *p, int64_t id)
{
	for (size_t i = 0; i < p->dirs->n; i++)
		if (llabs(atoll(strchr(p->dirs->dirs[i], '/') + 1)) >= llabs(id))
			return false;
	return true;
}

static void keep_inode(struct planner *p, const struct post *post)
{
	struct post *have;

	if (!post->obj.mode || post->obj.mode == OBJ_UNSEEN || S_ISDIR(post->obj.mode))
		return;
	HASH_FIND(by_ino, p->inodes, &post->obj.ino, sizeof(post->obj.ino), have);
	if (have && have->seq >= post->seq)
		return;
	if (!have) {
		have = xcalloc(1, sizeof(*have));
		have->obj.ino = post->obj.ino;
		HASH_ADD(by_ino, p->inodes, obj.ino, sizeof(have->obj.ino), have);
	}
	have->obj = post->obj;
	have->hash = post->hash;
	have->seq = post->seq;
}

static int load_log(struct planner *p, const char *dir, struct wal *log)
{
	AUTO_CLOSE int fd = store_open_dir(p->j, dir);
	int r;

	if (fd < 0)
		return fd;
	r = wal_open(log, fd, p->redo ? "redo" : "undo", false, false);
	if (r == 0)
		moves_add(&p->moves, log);
	return r;
}

/* ---- entries ----------------------------------------------------------------------------------
 */

static struct undo_entry *add_entry(struct planner *p, int root, const char *path, char what,
				    const char *other, bool conflict)
{
	struct undo_plan *plan = p->plan;
	struct undo_entry *e;

	if (plan->n_entries % 64 == 0)
		plan->entries =
			xrealloc(plan->entries, (plan->n_entries + 64) * sizeof(*plan->entries));
	e = &plan->entries[plan->n_entries++];
	*e = (struct undo_entry){.root = root, .what = what};
	e->lost = names_has(&p->lost, root, path);
	e->conflict = conflict = conflict || e->lost;
	e->path = xstrdup(path);
	e->other = xstrdup(other);
	if (conflict)
		plan->n_conflicts++;
	return e;
}

/* A path that the step changed and has no record of stays as it is. So does, to say the least, the
 * one that was the first not to be captured. */
static void find_lost(struct planner *p, const struct summary *s)
{
	if (!s->info.unprotected || p->redo) /* redo has all that was there when it was undone */
		return;
	names_add(&p->lost, 0, s->info.unprotected);
	for (size_t i = 0; i < s->n; i++) {
		const struct change *c = &s->changes[i];

		if (!names_has(&p->places, c->root, c->path))
			names_add(&p->lost, c->root, c->path);
		if (c->old_path && !names_has(&p->places, c->root, c->old_path))
			names_add(&p->lost, c->root, c->old_path);
	}
}

/* The steps made the name and took it away again: they left nothing there. */
static bool taken_since(const struct planner *p, const struct post *post)
{
	return post->obj.mode && names_has_key(&p->made, post->key);
}

/* Of a step that is neither kept nor one of these: it came and went. */
static bool is_passing(const struct planner *p, const struct post *post)
{
	return !post->kept && !in_group(p, post->id) && post->obj.mode != OBJ_UNSEEN;
}

/* The newest image knows what was there before a step that came and went, which may be somebody
 * else's work. What the steps themselves left is in their own. */
static bool edited_between(const struct planner *p, const struct post *post,
			   const struct post *left, const struct fate *f)
{
	struct change_side now;

	/* Whoever moved a directory has images of all in it. */
	if (moves_touch(&p->moves, post->root, post->path))
		return false;
	if (f && f->broken && !f->tangled && !p->redo) /* a redo brings back what lay between */
		return true;
	if (!is_passing(p, post))
		return false;
	if (left && !(left->flags & POST_SHARED))
		return left_differs(p->j, left, post);
	if (!f)
		return taken_since(p, post);
	change_side_set(&now, &post->obj);
	return !f->tangled && !sides_equal(&now, p->redo ? &f->before : &f->after);
}

static bool is_conflict(struct planner *p, const char *key, const struct fate *f)
{
	struct post *post, *left;

	if (names_has_key(&p->overlaps, key))
		return true;
	HASH_FIND_STR(p->posts, key, post);
	HASH_FIND_STR(p->left, key, left);
	if (!post)
		return false;
	/* A command that ran at the same time and stays was there later. */
	if (post->kept && is_newer(p, post->id))
		return true;
	return (left && left->flags & POST_FOREIGN) || post_differs(p->j, post, p->inodes) ||
	       edited_between(p, post, left, f);
}

static void net_entries(struct planner *p, struct fate *set)
{
	for (struct fate *n = set; n; n = n->hh.next) {
		bool exists_now = p->redo ? n->before.exists : n->after.exists;
		bool exists_then = p->redo ? n->after.exists : n->before.exists;
		bool conflict = is_conflict(p, n->key, n);
		const char *path;
		int root = key_root(n->key, &path);

		if (names_has(&p->idle, root, path) && !names_has(&p->places, root, path))
			continue;
		if (exists_now && exists_then)
			add_entry(p, root, path, 'M', NULL, conflict);
		else if (exists_then)
			add_entry(p, root, path, 'A', NULL, conflict);
		else if (exists_now)
			add_entry(p, root, path, 'D', NULL, conflict);
		else if (conflict || names_has(&p->lost, root, path))
			add_entry(p, root, path, 'M', NULL, true);
	}
	/* What lies elsewhere now, or was changed and changed back. */
	for (struct name *e = p->places.set; e; e = e->hh.next) {
		const char *path;
		int root = key_root(e->key, &path);
		struct fate *n;

		HASH_FIND_STR(set, e->key, n);
		if (!n && is_conflict(p, e->key, NULL))
			add_entry(p, root, path, 'M', NULL, true);
	}
	for (struct name *e = p->lost.set; e; e = e->hh.next) {
		const char *path;
		int root = key_root(e->key, &path);
		struct fate *n;

		HASH_FIND_STR(set, e->key, n);
		if (!n)
			add_entry(p, root, path, 'M', NULL, true);
	}
	for (struct name *e = p->overlaps.set; e; e = e->hh.next) {
		const char *path;
		int root = key_root(e->key, &path);
		struct fate *n;

		HASH_FIND_STR(set, e->key, n);
		if (!n && !names_has_key(&p->places, e->key) && !names_has_key(&p->lost, e->key))
			add_entry(p, root, path, 'M', NULL, true);
	}
}

/* A and D of one rename become R, when only one step had a hand in it. */
static void join_renames(struct planner *p, struct fate *set)
{
	for (struct fate *n = set; n; n = n->hh.next) {
		struct undo_entry *a = NULL, *d = NULL;
		const char *to;
		int root = key_root(n->key, &to);

		if (!n->renamed_from || p->dirs->n > 1)
			continue;
		for (size_t i = 0; i < p->plan->n_entries && !(a && d); i++) {
			struct undo_entry *e = &p->plan->entries[i];

			if (e->root != root || e->conflict)
				continue;
			if (str_eq(e->path, to))
				(e->what == 'D' ? (d = e) : (a = e));
			else if (str_eq(e->path, n->renamed_from))
				(e->what == 'D' ? (d = e) : (a = e));
		}
		if (!a || !d || a->what != 'A' || d->what != 'D')
			continue;
		d->what = 'R';
		d->other = xstrdup(a->path);
		entry_free(a);
		*a = p->plan->entries[--p->plan->n_entries];
	}
}

/* Is the directory here because it was moved here? Then it goes away with all that is in it. */
static bool came_by_move(const struct planner *p, int root, const char *path)
{
	for (size_t i = 0; i < p->moves.n; i++) {
		const struct move *m = &p->moves.list[i];

		for (int end = 0; end < 1 + m->both; end++) {
			AUTO_FREE char *to = xstrdup(end ? m->from : m->to);
			int at = end ? m->root : m->root2;

			moves_follow(&p->moves, m->seq, &at, &to);
			if (at == root && str_eq(to, path))
				return true;
		}
	}
	return false;
}

/* A directory that goes away must hold nothing that does not go with it. */
static int check_dir(struct planner *p, int root, const char *path)
{
	AUTO_CLOSE int fd = -1;
	AUTO_DIR DIR *dir = NULL;
	struct spot at;
	struct dirent *e;

	if (spot_find(p->j, root, path, &at) < 0)
		return 0;
	fd = openat(at.fd, at.name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return 0; /* not there, or no directory: the image's comparison says it */
	dir = fdopendir(fd);
	if (!dir)
		return -errno;
	fd = -1;
	while ((errno = 0, e = readdir(dir))) {
		AUTO_FREE char *child = xasprintf("%s/%s", path, e->d_name);

		if (str_eq(e->d_name, ".") || str_eq(e->d_name, ".."))
			continue;
		if (!names_has(&p->places, root, child))
			add_entry(p, root, child, 'D', NULL, true);
	}
	return -errno;
}

/* A new directory was moved: was it this one, or did another take its name first? */
static bool made_here(struct fate *set, int root, const char *path)
{
	AUTO_FREE char *key = key_make(root, path);
	const struct fate *f;

	HASH_FIND_STR(set, key, f);
	return f && !f->before.exists && S_ISDIR(f->after.mode) && !f->renamed_from;
}

static int check_dirs(struct planner *p, struct fate *set)
{
	struct names done = {0};
	int r = 0;

	for (size_t i = 0; i < p->dirs->n; i++) {
		struct rec rec;
		size_t at = 0;

		while (r == 0 && wal_next(&p->logs[i], &at, &rec)) {
			AUTO_FREE char *now = NULL;
			int root = rec.root;
			bool moved;

			if (rec.type != REC_DIR_NEW || rec.flags & REC_SKIPPED)
				continue;
			/* Itself, not only what lies in it. */
			now = xasprintf("%s/", rec.path);
			moved = moves_follow(&p->moves, rec.seq, &root, &now);
			now[strlen(now) - 1] = '\0';
			if (names_add(&done, root, now) &&
			    (moved ? made_here(set, root, now) : !came_by_move(p, root, now)))
				r = check_dir(p, root, now);
		}
	}
	names_done(&done);
	return r;
}

static int entry_by_path(const void *a, const void *b)
{
	const struct undo_entry *x = a, *y = b;

	return x->root != y->root ? x->root - y->root : strcmp(x->path, y->path);
}

/* ---- the plan ---------------------------------------------------------------------------------
 */

static void add_place(struct planner *p, struct names *to, uint64_t seq, int root, const char *path)
{
	AUTO_FREE char *now = xstrdup(path);

	moves_follow(&p->moves, seq, &root, &now);
	names_add(to, root, now);
}

static void find_places(struct planner *p)
{
	for (size_t i = 0; i < p->dirs->n; i++) {
		struct rec rec;
		size_t at = 0;

		while (wal_next(&p->logs[i], &at, &rec)) {
			struct names *to = rec.flags & REC_SKIPPED ? &p->idle : &p->places;

			if (rec_is_quiet(rec.type))
				continue;
			if (!p->redo && (rec.type == REC_NEW || rec.type == REC_DIR_NEW))
				names_add(&p->made, rec.root, rec.path);
			add_place(p, to, rec.seq, rec.root, rec.path);
			if (rec.path2[0])
				add_place(p, to, rec.seq, rec.root2, rec.path2);
		}
	}
}

static int load_all(struct planner *p)
{
	bool passed = false;
	int r = post_load_all(p->j, &p->posts);

	for (size_t i = 0; r == 0 && i < p->dirs->n; i++)
		r = load_log(p, p->dirs->dirs[i], &p->logs[i]);
	if (r < 0)
		return r;
	for (struct post *post = p->posts; post; post = post->hh.next) {
		keep_inode(p, post);
		passed |= is_passing(p, post);
	}
	if ((passed || p->dirs->n > 1) && (r = left_load(p->j, p->dirs, &p->left)) < 0)
		return r;
	moves_sort(&p->moves);
	find_places(p);
	return p->redo ? 0 : overlap_find(p->j, p->dirs, p->logs, &p->overlaps);
}

struct span_of { /* of a step, in numbers of the store */
	uint64_t began, ended;
};

static int load_span(const struct planner *p, size_t i, struct span_of *ret)
{
	AUTO_CLOSE int fd = store_open_dir(p->j, p->dirs->dirs[i]);
	struct wal log = WAL_NONE;
	int r = fd < 0 ? fd : summary_seq(fd, &ret->ended);

	if (r == 0 && p->redo)
		r = wal_open(&log, fd, "undo", false, false);
	if (r == 0)
		ret->began = overlap_began(p->redo ? &log : &p->logs[i]);
	wal_close(&log);
	return r;
}

/* Did another of the steps run at the same time? Newer ones come first; a number is taken before
 * the first change is made. */
static bool is_tangled(const struct planner *p, const struct span_of *spans, size_t i)
{
	for (size_t k = 0; k < p->dirs->n; k++)
		if (k != i &&
		    (k < i ? spans[k].began < spans[i].ended : spans[i].began < spans[k].ended))
			return true;
	return false;
}

static int load_fates(struct planner *p, struct fate **set)
{
	struct undo_plan *plan = p->plan;
	AUTO_FREE struct span_of *spans = xcalloc(p->dirs->n, sizeof(*spans));
	int r = 0;

	for (size_t i = 0; r == 0 && i < p->dirs->n; i++)
		r = load_span(p, i, &spans[i]);
	plan->ids = xcalloc(p->dirs->n, sizeof(*plan->ids));
	for (size_t i = 0; r == 0 && i < p->dirs->n; i++) {
		AUTO_CLOSE int fd = store_open_dir(p->j, p->dirs->dirs[i]);
		struct summary s = {0};

		r = fd < 0 ? fd : summary_load(fd, true, &s);
		if (r < 0)
			break;
		plan->ids[plan->n_ids++] = s.info.id;
		fate_add(set, &s, is_tangled(p, spans, i));
		find_lost(p, &s);
		summary_done(&s);
	}
	return r;
}

static int build(struct planner *p)
{
	struct undo_plan *plan = p->plan;
	struct fate *set = NULL;
	int r = load_all(p);

	if (r == 0)
		r = load_fates(p, &set);
	store_forget_near(p->j);
	if (r == 0) {
		net_entries(p, set);
		join_renames(p, set);
		r = check_dirs(p, set);
	}
	if (r == 0 && plan->n_entries)
		qsort(plan->entries, plan->n_entries, sizeof(*plan->entries), entry_by_path);
	fate_free(set);
	return r;
}

static void planner_done(struct planner *p)
{
	struct post *post, *next;

	post_free_all(p->posts);
	post_free_all(p->left);
	names_done(&p->made);
	names_done(&p->places);
	names_done(&p->lost);
	names_done(&p->idle);
	names_done(&p->overlaps);
	HASH_ITER (by_ino, p->inodes, post, next) {
		HASH_DELETE(by_ino, p->inodes, post);
		free(post);
	}
	for (size_t i = 0; i < p->dirs->n; i++)
		wal_close(&p->logs[i]);
	free(p->logs);
	moves_done(&p->moves);
}

int plan_store(struct journal *j, const struct group *dirs, const struct undo_plan *like,
	       struct undo_plan **ret, struct remedy *remedy, struct err *err)
{
	struct planner p = {.j = j, .dirs = dirs, .redo = like->kind == UNDO_REDO};
	int r;

	store_forget_near(j);
	p.plan = xcalloc(1, sizeof(*p.plan));
	p.plan->kind = like->kind;
	p.plan->n = like->n;
	p.plan->flags = like->flags;
	p.logs = xcalloc(dirs->n, sizeof(*p.logs));
	for (size_t i = 0; i < dirs->n; i++)
		p.logs[i] = (struct wal)WAL_NONE;
	r = build(&p);
	if (r == 0)
		r = barriers_crossed(j, p.plan);
	if (r < 0)
		err_set(err, r, "read the steps to be %s%s", p.redo ? "redone" : "undone",
			r == -EBADMSG ? " (the store is damaged: `cordon log --discard` throws the "
					"history away)"
				      : "");
	else
		r = remedy_find(j, p.plan, p.logs, &p.moves, remedy, err);
	if (r < 0)
		undo_plan_free(p.plan);
	else
		*ret = p.plan;
	planner_done(&p);
	return r;
}
