/* version_chain - detects external edits between steps. */
/* SPDX-License-Identifier: MIT */
#include "core/journal/fs/object.h"
#include "core/journal/history.h"
#include "core/journal/history/after_image.h"
#include "core/journal/history/before_state.h"
#include "core/journal/history/current_name.h"
#include "core/journal/history/net_changes.h"
#include "core/journal/history/rename_list.h"
#include "core/journal/history/step_summary.h"
#include "core/journal/history/version_chain.h"
#include "core/journal/util/path_set.h"
#include "core/journal/util/u64_set.h"

#include "core/journal/history/version_chain_path.h"

void chains_gap(struct chains *c)
{
	c->blind = true;
}

static void not_known(struct chain *one)
{
	one->known = false;
	one->there = 0;
}

/* At the end of a cluster with unknown changes, forgets all states. */
static void forget(struct chains *c)
{
	for (size_t i = 0; c->blind && i < path_set_count(&c->keys); i++)
		not_known(&c->list[i]);
	if (c->blind)
		chain_files_forget(c);
	c->was_blind |= c->blind;
	c->blind = false;
}

/* Takes the before-state of a path from the step's records: the summary may have the state of an
 * earlier object at the path. */
static void chain_recorded(struct chains *c, size_t i)
{
	static const struct change_side nothing;
	struct chain *one = chain_get(c, path_set_key(&c->recorded.keys, i));
	const struct before_state *recorded = &c->recorded.list[i];

	chain_goes_on(c, one);
	one->mentioned = one->spoken = true;
	if (recorded->what == BEFORE_ABSENT)
		chain_saw(one, &nothing);
	/* A concurrent step may have left this state. */
	if ((recorded->what != BEFORE_SIDE && recorded->what != BEFORE_RENAMED) ||
	    !c->caller.now.alone)
		return;
	one->there = c->turn;
	if (recorded->what == BEFORE_RENAMED)
		return;
	chain_saw(one, &recorded->side);
	one->recorded = c->turn;
	one->image = true;
}

void chains_step(struct chains *c, const struct chain_step *step)
{
	if (step->cluster != c->caller.now.cluster)
		forget(c);
	c->several |= c->turn && step->cluster != c->caller.now.cluster;
	current_names_step(&c->caller, step);
	u64_set_done(&c->written);
	c->has_written = false;
	c->turn++;
	before_states_done(&c->recorded);
	before_states_load(&c->caller, &c->recorded);
	for (size_t i = 0; i < path_set_count(&c->recorded.keys); i++)
		chain_recorded(c, i);
}

/* Marks each name that the path may have now as unknown: the step may have changed its object. */
static void doubt(struct chains *c, int root, const char *path)
{
	AUTO_PATH_SET struct path_set names = {0};

	if (!current_name_any(&c->caller, root, path, &names))
		chains_gap(c);
	for (size_t i = 0; i < path_set_count(&names); i++) {
		struct chain *one = chain_get(c, path_set_key(&names, i));

		chain_goes_on(c, one);
		not_known(one);
		one->spoken = true;
	}
}

static struct current_name call(struct chains *c, int root, const char *path)
{
	struct current_name called;

	if (!current_name_find(&c->caller, root, path, &called))
		doubt(c, root, path);
	return called;
}

/* ---- the steps' changes and images ------------------------------------------------------------
 */

static void found(const struct chains *c, struct chain *one, const struct change_side *side)
{
	if (one->recorded != c->turn && (side->exists || one->there != c->turn))
		chain_saw(one, side);
	else if (one->recorded == c->turn && before_state_same(&one->found[0], side))
		one->found[0] = *side; /* the summary has the size as well */
}

static void place(struct chains *c, const char *key, const struct change_side *before,
		  const struct change_side *left, bool links)
{
	struct chain *one = chain_get(c, key);

	chain_goes_on(c, one);
	one->spoken = true;
	one->changed = c->turn;
	one->placed = c->caller.now.alone ? 0 : c->caller.now.cluster;
	if (before)
		found(c, one, before);
	if (left)
		chain_gave(c, one, left);
	one->links |= links;
}

void chains_change(struct chains *c, const struct change *change)
{
	static const struct change_side nothing;
	const struct change_side *before = &change->before;
	struct current_name is = call(c, change->root, change->path), was = {0};

	if (change->old_path)
		was = call(c, change->root, change->old_path);
	chain_file_found(c, change, change->old_path ? was.found : is.found);
	chain_file_left(c, change, is.left);
	if (was.found)
		place(c, was.found, before, NULL, change->linked);
	if (was.left)
		place(c, was.left, NULL, &nothing, change->linked);
	if (change->old_path)
		before = &nothing;
	if (is.found)
		place(c, is.found, before, NULL, change->linked);
	if (is.left)
		place(c, is.left, NULL, &change->after, change->linked);
	current_name_done(&is);
	current_name_done(&was);
}

/* Takes the before-state of a file that the step only renamed: it equals the state at the new path.
 * A shared image may show the change of a newer step instead. */
static void found_elsewhere(struct chains *c, const struct after_image *p, const char *key)
{
	bool seen = p->obj.mode && p->obj.mode != OBJECT_UNSEEN && !S_ISDIR(p->obj.mode) &&
		    !(p->flags & ~(unsigned)IMAGE_SHARED) && c->caller.now.alone;
	size_t i = seen ? before_states_moved(&c->recorded, p->obj.ino) : PATH_SET_NONE;
	struct change_side left;
	struct chain *one;

	if (i == PATH_SET_NONE)
		return;
	one = chain_get(c, key);
	if (one->changed == c->turn && one->left_now)
		left = one->left;
	else if (p->flags)
		return;
	else
		change_side_set(&left, &p->obj);
	one = chain_get(c, path_set_key(&c->recorded.keys, i));
	if (one->n_found)
		return;
	chain_saw(one, &left);
	one->image = true;
}

void chains_left(struct chains *c, const struct after_image *p)
{
	AUTO_FREE char *key = NULL;
	struct change_side left;
	struct chain *one;
	bool changed;

	/* A shared image was taken after a redo of newer steps, which may have renamed the path. */
	if (p->flags & IMAGE_SHARED &&
	    renames_touch_in(c->caller.moves, p->seq + 1, UINT64_MAX, p->root, p->path))
		return;
	key = current_name_of(&c->caller, p->seq, p->root, p->path);
	found_elsewhere(c, p, key);
	one = chain_get(c, key);
	changed = one->changed == c->turn;
	if (p->flags & IMAGE_RETURNS) {
		chain_goes_on(c, one);
		one->returns = true;
	}
	if (changed && one->left_now)
		return;
	/* A shared image shows a newer step's state; this step's after-state is the before-state of
	 * that step. If no newer step changed the path, this step found the same state. */
	if (p->flags & IMAGE_SHARED && one->spoken && !changed && c->caller.now.alone)
		return;
	chain_goes_on(c, one);
	if (p->flags & IMAGE_CARRIED)
		one->mentioned = one->spoken = true;
	one->known &= !(p->flags & IMAGE_FOREIGN) && p->obj.mode != OBJECT_UNSEEN &&
		      !(p->flags & IMAGE_SHARED && (one->spoken || c->was_blind));
	change_side_set(&left, &p->obj);
	if (!changed && !one->mentioned) {
		chain_saw(one, &left);
		chain_file_seen(c, p, &left, key);
		one = chain_get(c, key); /* the call may have moved the list */
	}
	chain_gave(c, one, &left);
	one->image = true;
}

void chains_end(struct chains *c)
{
	forget(c);
	chain_files_compare(c);
	for (size_t i = 0; i < path_set_count(&c->keys); i++)
		chain_compare(&c->list[i]);
}

static enum chain_state state_of(const struct chains *c, const char *key)
{
	size_t i = path_set_find(&c->keys, key);
	const struct chain *one = i == PATH_SET_NONE ? NULL : &c->list[i];

	if (!one)
		return CHAIN_WHOLE;
	return one->broken ? CHAIN_BROKEN : one->edited ? CHAIN_EDITED : CHAIN_WHOLE;
}

enum chain_state chains_judge(const struct chains *c, const char *key)
{
	enum chain_state state = state_of(c, key);
	const char *path;
	int root = path_key_root(key, &path);

	if (c->was_blind && c->several)
		return CHAIN_BROKEN;
	for (size_t i = 0; state == CHAIN_WHOLE && c->some_gone && i < c->caller.moves->n; i++) {
		const struct dir_rename *m = &c->caller.moves->list[i];
		AUTO_FREE char *gone = NULL;

		if (!rename_covers(m, root, path))
			continue;
		gone = current_name_gone(key, m->seq);
		state = state_of(c, gone);
	}
	return state;
}

bool chains_began(const struct chains *c, const char *key, bool exists)
{
	size_t i = path_set_find(&c->keys, key);
	const struct chain *one = i == PATH_SET_NONE ? NULL : &c->list[i];
	/* In a cluster, the path may not have existed before all steps: one step may have created
	 * it, and another has only an image of it, because its directory was renamed. */
	bool began = one && one->known && !one->links && one->n_found &&
		     one->placed != one->cluster && !(one->mentioned && one->image);

	/* The records of a step that ran alone are certain. */
	if (one && one->there && one->there == one->turn)
		return exists && !one->links;
	for (size_t k = 0; began && k < one->n_found; k++)
		began = one->found[k].exists == exists;
	return began;
}

bool chains_last(const struct chains *c, const char *key, struct change_side *ret)
{
	size_t i = path_set_find(&c->keys, key);

	if (i == PATH_SET_NONE || !c->list[i].has_last)
		return false;
	*ret = c->list[i].last;
	return true;
}

void chains_done(struct chains *c)
{
	for (size_t i = 0; i < path_set_count(&c->keys); i++)
		chain_done(&c->list[i]);
	free(c->list);
	path_set_done(&c->keys);
	current_names_done(&c->caller);
	u64_set_done(&c->written);
	before_states_done(&c->recorded);
	chain_files_done(c);
	*c = (struct chains){0};
}
