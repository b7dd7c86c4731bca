/* plan_load - loads what a plan is made from: logs, net effects, after-images. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/journal/fs/object.h"
#include "core/journal/fs/reach.h"
#include "core/journal/history/after_image.h"
#include "core/journal/history/net_effect.h"
#include "core/journal/history/rename_list.h"
#include "core/journal/history/step_summary.h"
#include "core/journal/history/version_chain.h"
#include "core/journal/journal.h"
#include "core/journal/log/capture.h"
#include "core/journal/log/undo_log.h"
#include "core/journal/rollback/plan_priv.h"
#include "core/journal/rollback/txn.h"
#include "core/journal/rollback/undo.h"
#include "core/journal/step/step.h"
#include "core/journal/store/store.h"
#include "core/journal/util/path_set.h"
#include "core/journal/util/u64_set.h"

#define JUDGED_FOREIGN UINT64_MAX /* no number of a file */

size_t plan_place_of(const struct planner *p, int64_t id)
{
	size_t i = 0;

	while (i < p->dirs->n && atoll(strchr(p->dirs->dirs[i], '/') + 1) != id)
		i++;
	return i;
}

bool plan_has_step(const struct planner *p, int64_t id)
{
	return plan_place_of(p, id) < p->dirs->n;
}

/* Of a step that is neither kept nor one of these: it came and went. Or of one that came back
 * before these do, and looked at what lies in a directory that it moved. */
bool plan_is_passing(const struct planner *p, const struct post *post)
{
	return (!post->kept || (p->redo && post->flags & POST_PASSING)) &&
	       !plan_has_step(p, post->id) && post->obj.mode != OBJ_UNSEEN;
}

static int load_log(struct planner *p, const char *dir, struct wal *log)
{
	AUTO_CLOSE int fd = store_open_dir(p->j, dir);
	int r;

	if (fd < 0)
		return fd;
	r = log_look(p->j, log, fd, p->redo ? "redo" : "undo");
	if (r == 0 && !txn_knows_roots(p->j, log))
		r = -EBADMSG;
	if (r == 0)
		moves_add(&p->moves, log);
	return r < 0 ? step_unread(p->err, r, strchr(dir, '/') + 1) : 0;
}

void plan_add_place(const struct planner *p, struct names *to, uint64_t seq, int root,
		    const char *path)
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
			plan_add_place(p, to, rec.seq, rec.root, rec.path);
			if (rec.path2[0])
				plan_add_place(p, to, rec.seq, rec.root2, rec.path2);
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
	moves_turn(&p->moves);
	find_places(p);
	return p->redo ? 0 : overlap_find(p->j, p->dirs, p->logs, &p->overlaps, p->err);
}

/* Only asked for where a step came and went. */
static void find_made(struct planner *p)
{
	for (size_t i = 0; i < p->dirs->n; i++) {
		struct rec rec;
		size_t at = 0;

		while (wal_next(&p->logs[i], &at, &rec))
			if (rec.type == REC_NEW || rec.type == REC_DIR_NEW)
				names_add(&p->made, rec.root, rec.path);
	}
}

static void find_written(struct planner *p)
{
	p->written = xcalloc(p->dirs->n, sizeof(*p->written));
	for (size_t i = 0; i < p->dirs->n; i++) {
		struct rec rec;
		size_t at = 0;

		while (wal_next(&p->logs[i], &at, &rec))
			if (rec_is_in_place(&rec))
				numbers_add(&p->written[i], rec.ino);
		numbers_sort(&p->written[i]);
	}
}

bool plan_has_written(struct planner *p, uint64_t ino)
{
	bool written = false;

	if (!p->written)
		find_written(p);
	for (size_t i = 0; i < p->dirs->n && !written; i++)
		written = numbers_have(&p->written[i], ino);
	return written;
}

bool plan_only_found(struct planner *p, const struct post *post)
{
	size_t i = plan_place_of(p, post->id);

	if (!p->written)
		find_written(p);
	return i < p->dirs->n && !numbers_have(&p->written[i], post->obj.ino);
}

/*
 * The whole history's images are read twice: which is the newest of each path that is asked for;
 * then each of those is looked at when it comes by. None is kept.
 */
static size_t number_of(const struct planner *p, const char *key)
{
	size_t i = names_find(&p->fates.keys, key);

	if (i != NAMES_NONE)
		return i;
	i = names_find(&p->places, key);
	return i == NAMES_NONE ? i : names_count(&p->fates.keys) + i;
}

static int find_newest(void *data, const struct post *post)
{
	struct planner *p = data;
	size_t i = number_of(p, post->key);

	if (i != NAMES_NONE && post->seq > p->newest[i] >> 1)
		p->newest[i] = post->seq << 1 | plan_is_passing(p, post);
	return 0;
}

static int judge_newest(void *data, const struct post *post)
{
	struct planner *p = data;
	size_t i = number_of(p, post->key);
	const struct fate *f = i < names_count(&p->fates.keys) ? &p->fates.list[i] : NULL;

	if (i == NAMES_NONE || post->seq != p->newest[i] >> 1)
		return 0;
	if (S_ISDIR(post->obj.mode))
		names_add_key(&p->there, post->key);
	p->newest[i] = plan_is_foreign(p, post, f) ? JUDGED_FOREIGN : 0;
	return 0;
}

/* A list of numbers, newest first, that ends with 0. */
static void add_file(uint64_t **list, size_t *n, uint64_t seq)
{
	size_t at = 0;

	while (at < *n && (*list)[at] > seq)
		at++;
	if (!seq || (at < *n && (*list)[at] == seq))
		return;
	*list = xrealloc(*list, (*n + 2) * sizeof(**list));
	memmove(*list + at + 1, *list + at, (*n - at) * sizeof(**list));
	(*list)[at] = seq;
	(*list)[++*n] = 0;
}

/* Steps that ran at the same time moved it on: none has seen it where it lies now. */
static void judge_unseen(struct planner *p, size_t number, const char *key)
{
	const char *path;
	int root = key_root(key, &path);
	struct change_side last, now;
	struct obj o;

	if (p->newest[number] || !chains_last(&p->chains, key, &last))
		return;
	if (reach_see(p->j, root, path, &o) < 0 || o.mode == OBJ_UNSEEN)
		return;
	change_side_set(&now, &o);
	if (!sides_equal(&now, &last) || chains_judge(&p->chains, key) == CHAIN_BROKEN)
		p->newest[number] = JUDGED_FOREIGN;
}

/* The first of them whose images are damaged. */
static int name_damaged(struct planner *p)
{
	for (size_t i = 0; i < p->dirs->n; i++) {
		const struct group one = {.dirs = &p->dirs->dirs[i], .n = 1};
		struct posts images = {0};
		int r = left_load(p->j, &one, &images);

		posts_done(&images);
		if (r < 0)
			return step_unread(p->err, r, strchr(one.dirs[0], '/') + 1);
	}
	return -EBADMSG;
}

static int load_posts(struct planner *p)
{
	size_t n = names_count(&p->fates.keys) + names_count(&p->places), n_files = 0;
	AUTO_FREE uint64_t *files = xcalloc(1, sizeof(*files));
	bool passed = false;
	int r;

	p->newest = xcalloc(n + 1, sizeof(*p->newest));
	r = post_each(p->j, p->dirs, NULL, find_newest, p);
	for (size_t i = 0; r == 0 && i < n; i++) {
		passed |= p->newest[i] & 1;
		add_file(&files, &n_files, p->newest[i] >> 1);
	}
	if (r == 0 && passed && !p->redo)
		find_made(p);
	if (r == 0 && (passed || p->dirs->n > 1))
		r = left_load(p->j, p->dirs, &p->left);
	store_forget_near(p->j);
	for (size_t k = 0; k < names_count(&p->places); k++)
		judge_unseen(p, names_count(&p->fates.keys) + k, names_key(&p->places, k));
	if (r == 0)
		r = post_each(p->j, p->dirs, files, judge_newest, p);
	if (r == 0)
		r = plan_load_links(p);
	for (size_t k = 0; r == 0 && k < names_count(&p->linked); k++) {
		size_t i = number_of(p, names_key(&p->linked, k));

		if (i != NAMES_NONE)
			p->newest[i] = JUDGED_FOREIGN;
	}
	return r;
}

int plan_read_open(struct planner *p)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < p->dirs->n; i++)
		r = load_log(p, p->dirs->dirs[i], &p->logs[i]);
	if (r < 0)
		return r;
	moves_sort(&p->moves);
	moves_turn(&p->moves);
	find_places(p);
	for (size_t i = 0; i < names_count(&p->places); i++) {
		const char *path, *key = names_key(&p->places, i);
		int root = key_root(key, &path);
		struct obj o;

		if (reach_see(p->j, root, path, &o) == 0 && S_ISDIR(o.mode))
			names_add_key(&p->there, key);
	}
	return 0;
}

int plan_read(struct planner *p)
{
	int r = load_all(p);

	if (r == 0)
		r = plan_load_fates(p);
	if (r == 0)
		r = load_posts(p);
	return r == -EBADMSG && !(p->err && p->err->code) ? name_damaged(p) : r;
}

void plan_forget(struct planner *p)
{
	fates_done(&p->fates);
	chains_done(&p->chains);
	for (size_t i = 0; p->written && i < p->dirs->n; i++)
		numbers_done(&p->written[i]);
	free(p->written);
	free(p->newest);
	posts_done(&p->left);
	posts_done(&p->gone);
	inodes_done(p->inodes);
	plan_forget_taken(p);
	names_done(&p->made);
	names_done(&p->places);
	names_done(&p->there);
	names_done(&p->lost);
	names_done(&p->idle);
	names_done(&p->overlaps);
	names_done(&p->linked);
	for (size_t i = 0; i < p->dirs->n; i++)
		wal_close(&p->logs[i]);
	free(p->logs);
	moves_done(&p->moves);
}
