/* plan_load - loads the data of a plan: logs, net effects, after-images. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/journal/fs/object.h"
#include "core/journal/history.h"
#include "core/journal/history/after_image.h"
#include "core/journal/history/concurrent.h"
#include "core/journal/history/list.h"
#include "core/journal/history/net_changes.h"
#include "core/journal/history/net_effect.h"
#include "core/journal/history/rename_list.h"
#include "core/journal/history/step_summary.h"
#include "core/journal/history/version_chain.h"
#include "core/journal/log/capture.h"
#include "core/journal/log/undo_log.h"
#include "core/journal/rollback/plan_priv.h"
#include "core/journal/rollback/txn.h"
#include "core/journal/store/reach.h"
#include "core/journal/store/roots.h"
#include "core/journal/store/store.h"
#include "core/journal/util/names.h"
#include "core/journal/util/path_set.h"
#include "core/journal/util/u64_set.h"

#define JUDGED_FOREIGN UINT64_MAX /* not a number of an image file */

static int load_log(struct planner *p, const char *dir, struct undo_log *log)
{
	AUTO_CLOSE int fd = store_open_dir(p->j, dir);
	int r;

	if (fd < 0)
		return fd;
	r = log_look(p->j, log, fd, p->redo ? "redo" : "undo");
	if (r == 0 && !txn_knows_roots(p->j, log))
		r = -EBADMSG;
	if (r == 0)
		renames_add(&p->moves, log);
	return r < 0 ? history_step_unread(p->err, r, strchr(dir, '/') + 1) : 0;
}

static void find_places(struct planner *p)
{
	struct undo_log_walk at = {0};
	struct rec rec;

	while (undo_log_walk(p->logs, p->dirs->n, &at, &rec)) {
		struct path_set *to = rec.flags & REC_SKIPPED ? &p->idle : &p->places;

		if (rec_is_quiet(rec.type))
			continue;
		renames_add_now(&p->moves, rec.seq, rec.root, rec.path, to);
		if (rec.path2[0])
			renames_add_now(&p->moves, rec.seq, rec.root2, rec.path2, to);
	}
}

static int load_logs(struct planner *p)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < p->dirs->n; i++)
		r = load_log(p, p->dirs->list[i], &p->logs[i]);
	if (r < 0)
		return r;
	renames_sort(&p->moves);
	renames_turn(&p->moves);
	find_places(p);
	return 0;
}

/* Finds the paths that the steps created; only needed if an image is passing. */
static void find_made(struct planner *p)
{
	struct undo_log_walk at = {0};
	struct rec rec;

	while (undo_log_walk(p->logs, p->dirs->n, &at, &rec))
		if (rec.type == REC_NEW || rec.type == REC_DIR_NEW)
			path_set_add(&p->made, rec.root, rec.path);
}

/*
 * Images of the whole history are read twice: to find the newest image of each path, and to judge
 * those. None is kept in memory. Each path has a number: see planner.newest.
 */
static size_t number_of(const struct planner *p, const char *key)
{
	size_t i = path_set_find(&p->fates.keys, key);

	if (i != PATH_SET_NONE)
		return i;
	i = path_set_find(&p->places, key);
	return i == PATH_SET_NONE ? i : path_set_count(&p->fates.keys) + i;
}

static int find_newest(void *data, const struct after_image *post)
{
	struct planner *p = data;
	size_t i = number_of(p, post->key);

	if (i != PATH_SET_NONE && post->seq > p->newest[i] >> 1)
		p->newest[i] = post->seq << 1 | plan_is_passing(p, post);
	return 0;
}

static int judge_newest(void *data, const struct after_image *post)
{
	struct planner *p = data;
	size_t i = number_of(p, post->key);
	const struct net_effect *f = i < path_set_count(&p->fates.keys) ? &p->fates.list[i] : NULL;

	if (i == PATH_SET_NONE || post->seq != p->newest[i] >> 1)
		return 0;
	if (S_ISDIR(post->obj.mode))
		path_set_add_key(&p->there, post->key);
	p->newest[i] = plan_is_foreign(p, post, f) ? JUDGED_FOREIGN : 0;
	return 0;
}

/* Adds seq to a list that is sorted, newest first, and ends with 0. */
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

/* Judges a path that no step wrote an image for: concurrent steps moved its object there. */
static void judge_unseen(struct planner *p, size_t number, const char *key)
{
	const char *path;
	int root = path_key_root(key, &path);
	struct change_side last, now;
	struct object o;

	if (p->newest[number] || !chains_last(&p->chains, key, &last))
		return;
	if (reach_see(p->j, root, path, &o) < 0 || o.mode == OBJECT_UNSEEN)
		return;
	change_side_set(&now, &o);
	if (!change_sides_equal(&now, &last) || chains_judge(&p->chains, key) == CHAIN_BROKEN)
		p->newest[number] = JUDGED_FOREIGN;
}

/* Names the first step with damaged images. */
static int name_damaged(struct planner *p)
{
	for (size_t i = 0; i < p->dirs->n; i++) {
		const struct names one = {.list = &p->dirs->list[i], .n = 1};
		struct after_images images = {0};
		int r = original_images_load(p->j, &one, &images);

		after_images_done(&images);
		if (r < 0)
			return history_step_unread(p->err, r, strchr(one.list[0], '/') + 1);
	}
	return -EBADMSG;
}

static int load_after_images(struct planner *p)
{
	size_t n = path_set_count(&p->fates.keys) + path_set_count(&p->places), n_files = 0;
	AUTO_FREE uint64_t *files = xcalloc(1, sizeof(*files));
	bool passed = false;
	int r;

	p->newest = xcalloc(n + 1, sizeof(*p->newest));
	r = after_image_each(p->j, p->dirs, NULL, find_newest, p);
	for (size_t i = 0; r == 0 && i < n; i++) {
		passed |= p->newest[i] & 1;
		add_file(&files, &n_files, p->newest[i] >> 1);
	}
	if (r == 0 && passed && !p->redo)
		find_made(p);
	if (r == 0 && (passed || p->dirs->n > 1))
		r = original_images_load(p->j, p->dirs, &p->left);
	store_forget_near(p->j);
	for (size_t k = 0; k < path_set_count(&p->places); k++)
		judge_unseen(p, path_set_count(&p->fates.keys) + k, path_set_key(&p->places, k));
	if (r == 0)
		r = after_image_each(p->j, p->dirs, files, judge_newest, p);
	if (r == 0)
		r = plan_load_links(p);
	for (size_t k = 0; r == 0 && k < path_set_count(&p->linked); k++) {
		size_t i = number_of(p, path_set_key(&p->linked, k));

		if (i != PATH_SET_NONE)
			p->newest[i] = JUDGED_FOREIGN;
	}
	return r;
}

int plan_read_open(struct planner *p)
{
	int r = load_logs(p);

	if (r < 0)
		return r;
	for (size_t i = 0; i < path_set_count(&p->places); i++) {
		const char *path, *key = path_set_key(&p->places, i);
		int root = path_key_root(key, &path);
		struct object o;

		if (reach_see(p->j, root, path, &o) == 0 && S_ISDIR(o.mode))
			path_set_add_key(&p->there, key);
	}
	return 0;
}

int plan_read(struct planner *p)
{
	int r = load_logs(p);

	if (r == 0 && !p->redo)
		r = concurrent_find(p->j, p->dirs, p->logs, &p->overlaps, p->err);
	if (r == 0)
		r = plan_load_effects(p);
	if (r == 0)
		r = load_after_images(p);
	return r == -EBADMSG && !(p->err && p->err->code) ? name_damaged(p) : r;
}

void plan_forget(struct planner *p)
{
	net_effects_done(&p->fates);
	chains_done(&p->chains);
	for (size_t i = 0; p->written && i < p->dirs->n; i++)
		u64_set_done(&p->written[i]);
	free(p->written);
	free(p->newest);
	after_images_done(&p->left);
	after_images_done(&p->gone);
	inode_images_done(p->inodes);
	plan_forget_taken(p);
	path_set_done(&p->made);
	path_set_done(&p->places);
	path_set_done(&p->there);
	path_set_done(&p->lost);
	path_set_done(&p->idle);
	path_set_done(&p->overlaps);
	path_set_done(&p->linked);
	for (size_t i = 0; i < p->dirs->n; i++)
		undo_log_close(&p->logs[i]);
	free(p->logs);
	renames_done(&p->moves);
}
