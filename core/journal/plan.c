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
	struct names made;	    /* where records say that nothing was */
	struct fates fates;	    /* what the steps did to each path */
	struct posts posts;	    /* the newest images, of these and of `places` */
	struct posts left;	    /* what the steps left, where that matters */
	struct inode_image *inodes; /* the newest of each file; once some path differs */
	bool has_inodes, passed;    /* passed: some of the posts are of steps that came and went */
	struct names places;	    /* where the paths that the steps know lie now */
	struct names idle;	    /* of records that an earlier rollback left out */
	struct names overlaps;	    /* paths that a step has also touched that stays */
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

static int keep_inode(void *data, const struct post *post)
{
	inodes_take(data, post);
	return 0;
}

/* Most look as they were left. All inodes of the history take long to load and are many. */
static bool differs(struct planner *p, const struct post *post)
{
	if (!post_differs(p->j, post, NULL))
		return false;
	if (!p->has_inodes && post_each(p->j, keep_inode, &p->inodes) < 0)
		return true;
	p->has_inodes = true;
	return post_differs(p->j, post, p->inodes);
}

static int load_log(struct planner *p, const char *dir, struct wal *log)
{
	AUTO_CLOSE int fd = store_open_dir(p->j, dir);
	int r;

	if (fd < 0)
		return fd;
	r = log_look(p->j, log, fd, p->redo ? "redo" : "undo");
	if (r == 0)
		moves_add(&p->moves, log);
	return r;
}

/* ---- entries ----------------------------------------------------------------------------------
 */

static void add_entry(struct planner *p, int root, const char *path, char what, bool conflict)
{
	struct undo_plan *plan = p->plan;
	struct undo_entry *e;
	bool lost = names_has(&p->lost, root, path);

	if (plan->brief && !conflict && !lost)
		return;
	if (plan->n_entries % 64 == 0)
		plan->entries =
			xrealloc(plan->entries, (plan->n_entries + 64) * sizeof(*plan->entries));
	e = &plan->entries[plan->n_entries++];
	*e = (struct undo_entry){.root = root, .what = what};
	e->lost = lost;
	e->conflict = conflict = conflict || e->lost;
	e->path = xstrdup(path);
	if (conflict)
		plan->n_conflicts++;
}

/* A path that the step changed and has no record of stays as it is. So does, to say the least, the
 * one that was the first not to be captured. */
static void find_lost(struct planner *p, const struct change *c)
{
	if (!names_has(&p->places, c->root, c->path))
		names_add(&p->lost, c->root, c->path);
	if (c->old_path && !names_has(&p->places, c->root, c->old_path))
		names_add(&p->lost, c->root, c->old_path);
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
	struct post post, left;
	bool has_left;

	if (names_has_key(&p->overlaps, key))
		return true;
	if (!posts_find(&p->posts, key, &post))
		return false;
	/* A command that ran at the same time and stays was there later. */
	if (post.kept && is_newer(p, post.id))
		return true;
	has_left = posts_find(&p->left, key, &left);
	return (has_left && left.flags & POST_FOREIGN) || differs(p, &post) ||
	       edited_between(p, &post, has_left ? &left : NULL, f);
}

static void net_entries(struct planner *p)
{
	for (size_t k = 0; k < names_count(&p->fates.keys); k++) {
		const struct fate *n = &p->fates.list[k];
		bool exists_now = p->redo ? n->before.exists : n->after.exists;
		bool exists_then = p->redo ? n->after.exists : n->before.exists;
		const char *path, *key = names_key(&p->fates.keys, k);
		bool conflict = is_conflict(p, key, n);
		int root = key_root(key, &path);

		if (names_has(&p->idle, root, path) && !names_has(&p->places, root, path))
			continue;
		if (exists_now && exists_then)
			add_entry(p, root, path, 'M', conflict);
		else if (exists_then)
			add_entry(p, root, path, 'A', conflict);
		else if (exists_now)
			add_entry(p, root, path, 'D', conflict);
		else if (conflict || names_has(&p->lost, root, path))
			add_entry(p, root, path, 'M', true);
	}
	/* What lies elsewhere now, or was changed and changed back. */
	for (size_t k = 0; k < names_count(&p->places); k++) {
		const char *path, *key = names_key(&p->places, k);
		int root = key_root(key, &path);

		if (!fates_find(&p->fates, key) && is_conflict(p, key, NULL))
			add_entry(p, root, path, 'M', true);
	}
	for (size_t k = 0; k < names_count(&p->lost); k++) {
		const char *path, *key = names_key(&p->lost, k);
		int root = key_root(key, &path);

		if (!fates_find(&p->fates, key))
			add_entry(p, root, path, 'M', true);
	}
	for (size_t k = 0; k < names_count(&p->overlaps); k++) {
		const char *path, *key = names_key(&p->overlaps, k);
		int root = key_root(key, &path);

		if (!fates_find(&p->fates, key) && !names_has_key(&p->places, key) &&
		    !names_has_key(&p->lost, key))
			add_entry(p, root, path, 'M', true);
	}
}

/* A and D of one rename become R, when only one step had a hand in it. */
static void join_renames(struct planner *p)
{
	for (size_t k = 0; k < names_count(&p->fates.keys); k++) {
		const struct fate *n = &p->fates.list[k];
		struct undo_entry *a = NULL, *d = NULL;
		const char *to;
		int root = key_root(names_key(&p->fates.keys, k), &to);

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
			add_entry(p, root, child, 'D', true);
	}
	return -errno;
}

/* A redo gives it another name. */
static bool moves_on(const struct planner *p, const char *path)
{
	for (size_t k = 0; k < names_count(&p->fates.keys); k++) {
		const char *from = p->fates.list[k].renamed_from;

		if (from && str_eq(from, path))
			return true;
	}
	return false;
}

/* A new directory was moved: was it this one, or did another take its name first? */
static bool made_here(const struct planner *p, int root, const char *path)
{
	AUTO_FREE char *key = key_make(root, path);
	const struct fate *f = fates_find(&p->fates, key);
	const struct change_side *now, *then;

	if (!f)
		return false;
	now = p->redo ? &f->before : &f->after;
	then = p->redo ? &f->after : &f->before;
	return S_ISDIR(now->mode) && !(then->exists && then->ino == now->ino) &&
	       !(p->redo ? moves_on(p, path) : f->renamed_from != NULL);
}

static int check_dirs(struct planner *p)
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
			    (moved ? made_here(p, root, now) : !came_by_move(p, root, now)))
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
	int r = 0;

	for (size_t i = 0; r == 0 && i < p->dirs->n; i++)
		r = load_log(p, p->dirs->dirs[i], &p->logs[i]);
	if (r < 0)
		return r;
	moves_sort(&p->moves);
	find_places(p);
	return p->redo ? 0 : overlap_find(p->j, p->dirs, p->logs, &p->overlaps);
}

/* Of the whole history what is asked for later. */
static int take_post(void *data, const struct post *post)
{
	struct planner *p = data;

	if (!names_has_key(&p->fates.keys, post->key) && !names_has_key(&p->places, post->key))
		return 0;
	posts_take(&p->posts, post);
	return 0;
}

static int load_posts(struct planner *p)
{
	int r = post_each(p->j, take_post, p);

	for (size_t i = 0; r == 0 && i < posts_count(&p->posts) && !p->passed; i++) {
		struct post post;

		posts_get(&p->posts, i, &post);
		p->passed = is_passing(p, &post);
	}
	if (r == 0 && (p->passed || p->dirs->n > 1))
		r = left_load(p->j, p->dirs, &p->left);
	return r;
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
		r = log_look(p->j, &log, fd, "undo");
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

struct reading { /* of a summary */
	struct planner *p;
	bool tangled;
};

static void take_change(void *data, const struct summary *s, const struct change *c)
{
	const struct reading *r = data;

	fates_add(&r->p->fates, c, r->tangled || s->partial);
	if (s->info.unprotected && !r->p->redo) /* redo has all that was there at the undo */
		find_lost(r->p, c);
}

static int load_fates(struct planner *p)
{
	struct undo_plan *plan = p->plan;
	AUTO_FREE struct span_of *spans = xcalloc(p->dirs->n, sizeof(*spans));
	int r = 0;

	for (size_t i = 0; r == 0 && i < p->dirs->n; i++)
		r = load_span(p, i, &spans[i]);
	plan->ids = xcalloc(p->dirs->n, sizeof(*plan->ids));
	for (size_t i = 0; r == 0 && i < p->dirs->n; i++) {
		AUTO_CLOSE int fd = store_open_dir(p->j, p->dirs->dirs[i]);
		struct reading reading = {.p = p, .tangled = is_tangled(p, spans, i)};
		struct summary s = {0};

		r = fd < 0 ? fd : summary_read(fd, &s, take_change, &reading);
		if (r < 0)
			break;
		plan->ids[plan->n_ids++] = s.info.id;
		if (s.partial) /* what it did to the others' paths it may not say */
			fates_tangle(&p->fates);
		if (s.info.unprotected && !p->redo)
			names_add(&p->lost, 0, s.info.unprotected);
		summary_done(&s);
	}
	return r;
}

static int build(struct planner *p)
{
	struct undo_plan *plan = p->plan;
	int r = load_all(p);

	if (r == 0)
		r = load_fates(p);
	if (r == 0)
		r = load_posts(p);
	store_forget_near(p->j);
	if (r == 0) {
		net_entries(p);
		join_renames(p);
		r = check_dirs(p);
	}
	if (r == 0 && plan->n_entries)
		qsort(plan->entries, plan->n_entries, sizeof(*plan->entries), entry_by_path);
	return r;
}

static void planner_done(struct planner *p)
{
	fates_done(&p->fates);
	posts_done(&p->posts);
	posts_done(&p->left);
	inodes_done(p->inodes);
	names_done(&p->made);
	names_done(&p->places);
	names_done(&p->lost);
	names_done(&p->idle);
	names_done(&p->overlaps);
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
	p.plan->brief = like->brief;
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
		r = remedy_find(j, p.plan, &(struct emptied){dirs, p.logs, &p.moves}, remedy, err);
	if (r < 0)
		undo_plan_free(p.plan);
	else
		*ret = p.plan;
	planner_done(&p);
	return r;
}
