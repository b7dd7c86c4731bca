/* version_chain_path - states before and after each step, at one path or in one file. */
/* SPDX-License-Identifier: MIT */
#include "core/journal/history.h"
#include "core/journal/history/before_state.h"
#include "core/journal/history/current_name.h"
#include "core/journal/history/version_chain.h"
#include "core/journal/util/grow.h"
#include "core/journal/history/version_chain_path.h"
#include "core/journal/util/path_set.h"

struct chain *chain_get(struct chains *c, const char *key)
{
	bool fresh;
	size_t i = path_set_put(&c->keys, key, &fresh);

	GROW(c->list, c->cap, i);
	if (fresh)
		c->list[i] = (struct chain){.known = true};
	c->some_gone |= fresh && current_name_is_gone(key);
	return &c->list[i];
}

void chain_saw(struct chain *one, const struct change_side *before)
{
	one->found = xrealloc(one->found, (one->n_found + 1) * sizeof(*one->found));
	one->found[one->n_found++] = *before;
}

void chain_compare(struct chain *one)
{
	bool same_file = false;

	if (!one->past_last) {
		one->has_last = one->known && !one->links && one->has_left;
		one->last = one->left;
		one->past_last = true;
	}
	/* The newer cluster's undo restores an external edit; this one's would overwrite that. */
	if (one->then_returns && !one->returns && one->known && one->has_left)
		one->broken = true;
	if (!one->n_then || !one->known || !one->has_left)
		return;
	for (size_t i = 0; i < one->n_then; i++) {
		if (before_state_same(&one->then[i], &one->left))
			return;
		same_file |= one->then[i].exists && one->left.exists &&
			     one->then[i].ino == one->left.ino;
	}
	/* A change through another hard link is judged by version_chain_inode.c. It cannot put
	 * another file at this path. */
	if (same_file && (one->links || one->then_links))
		return;
	if (same_file && one->image)
		one->edited = true;
	else
		one->broken = true;
}

/* If a cluster left a state without a before-state or a record, it did not change the object: a
 * directory above was renamed, or the file got a further hard link. It found the same state. */
void chain_goes_on(const struct chains *c, struct chain *one)
{
	if (one->cluster != c->caller.now.cluster) {
		if (one->cluster)
			chain_compare(one);
		if (one->has_left && !one->n_found && !one->mentioned)
			chain_saw(one, &one->left);
		free(one->then);
		one->then = one->known ? take_ptr(&one->found) : NULL;
		one->n_then = one->known ? one->n_found : 0;
		one->then_links = one->links;
		one->links = false;
		one->then_returns = one->returns;
		one->returns = false;
		free(take_ptr(&one->found));
		one->n_found = 0;
		one->ended = 0;
		one->has_left = false;
		one->known = true;
		one->mentioned = false;
		one->cluster = c->caller.now.cluster;
	}
	if (one->turn != c->turn)
		one->left_now = false;
	one->turn = c->turn;
}

void chain_gave(const struct chains *c, struct chain *one, const struct change_side *after)
{
	one->left_now = true;
	if (c->caller.now.ended < one->ended)
		return;
	one->left = *after;
	one->has_left = true;
	one->ended = c->caller.now.ended;
}

void chain_done(struct chain *one)
{
	free(take_ptr(&one->found));
	free(take_ptr(&one->then));
}
