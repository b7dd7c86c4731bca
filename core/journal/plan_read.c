/* plan_read - what a plan is made from: the steps' logs, what they did, how they left it. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/journal/planner.h"

static bool in_group(const struct planner *p, int64_t id)
{
	for (size_t i = 0; i < p->dirs->n; i++)
		if (atoll(strchr(p->dirs->dirs[i], '/') + 1) == id)
			return true;
	return false;
}

/* Of a step that is neither kept nor one of these: it came and went. */
bool plan_is_passing(const struct planner *p, const struct post *post)
{
	return !post->kept && !in_group(p, post->id) && post->obj.mode != OBJ_UNSEEN;
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

/* A path that the step changed and has no record of stays as it is. So does, to say the least, the
 * one that was the first not to be captured. */
static void find_lost(struct planner *p, const struct change *c)
{
	if (!names_has(&p->places, c->root, c->path))
		names_add(&p->lost, c->root, c->path);
	if (c->old_path && !names_has(&p->places, c->root, c->old_path))
		names_add(&p->lost, c->root, c->old_path);
}

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
		p->passed = plan_is_passing(p, &post);
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

int plan_read(struct planner *p)
{
	int r = load_all(p);

	if (r == 0)
		r = load_fates(p);
	if (r == 0)
		r = load_posts(p);
	return r;
}

void plan_forget(struct planner *p)
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
