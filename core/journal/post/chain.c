/* chain - did each step find what those before it had left? Else somebody else was there between.
 */
/* SPDX-License-Identifier: MIT */
#include "core/journal/post/chain.h"

#include <string.h>

#include "core/journal/priv.h"

/*
 * Steps that overlapped in time are taken together, for nobody knows which of them was at a path
 * first. But one of them was, and found what the steps before all of them had left: that is what
 * the last of those to end has seen there. What they found and left is in their summaries, and of
 * paths that a step touched and did not change, in its images.
 */

struct chain {
	struct change_side *found; /* by the steps of the last cluster; heap */
	size_t n_found;
	struct change_side *then; /* by those of the cluster before it; heap */
	size_t n_then;
	struct change_side left; /* by the cluster, at its end */
	uint64_t ended;
	unsigned cluster, step;
	bool known;  /* all that is there is sure */
	bool image;  /* some of it, or of `then`, is: how many names the file had is not in it */
	bool broken; /* somebody else was there */
	bool edited; /* perhaps: it is the same file, which another of its names may have changed */
};

static struct chain *get(struct chains *c, int root, const char *path)
{
	AUTO_FREE char *key = key_make(root, path);
	bool fresh;
	size_t i = names_put(&c->keys, key, &fresh);

	if (fresh && i == c->cap) {
		c->cap = c->cap ? c->cap + c->cap / 2 : 8;
		c->list = xrealloc(c->list, c->cap * sizeof(*c->list));
	}
	if (fresh)
		c->list[i] = (struct chain){.known = true};
	return &c->list[i];
}

static void compare(struct chain *one)
{
	bool same_file = false;

	for (size_t i = 0; i < one->n_then; i++) {
		if (sides_equal(&one->then[i], &one->left))
			return;
		same_file |= one->then[i].exists && one->left.exists &&
			     one->then[i].ino == one->left.ino;
	}
	if (!one->n_then || !one->known)
		return;
	if (same_file && one->image)
		one->edited = true;
	else
		one->broken = true;
}

/* The next older cluster was at the path. */
static void go_on(struct chains *c, struct chain *one)
{
	if (one->cluster == c->cluster)
		return;
	compare(one);
	free(one->then);
	one->then = one->known ? take_ptr(&one->found) : NULL;
	one->n_then = one->known ? one->n_found : 0;
	free(take_ptr(&one->found));
	one->n_found = 0;
	one->ended = 0;
	one->known = true;
	one->cluster = c->cluster;
}

static struct chain *add(struct chains *c, int root, const char *path,
			 const struct change_side *before, const struct change_side *after)
{
	struct chain *one = get(c, root, path);

	go_on(c, one);
	one->found = xrealloc(one->found, (one->n_found + 1) * sizeof(*one->found));
	one->found[one->n_found++] = *before;
	if (c->ended >= one->ended) {
		one->left = *after;
		one->ended = c->ended;
	}
	one->step = c->step;
	return one;
}

void chains_step(struct chains *c, unsigned cluster, uint64_t ended)
{
	c->cluster = cluster;
	c->ended = ended;
	c->step++;
}

/* ---- files by several names -------------------------------------------------------------------
 */

struct found_file { /* as the oldest step that changed it found it, under whatever name */
	uint64_t ino;
	struct change_side before;
	bool sure;
	unsigned cluster;
	UT_hash_handle hh;
};

static struct found_file *find_file(const struct chains *c, uint64_t ino)
{
	struct found_file *file;

	HASH_FIND(hh, c->files, &ino, sizeof(ino), file);
	return file;
}

static void compare_file(struct chains *c, const struct change *change)
{
	const struct found_file *file =
		change->after.exists ? find_file(c, change->after.ino) : NULL;

	if (file && file->cluster != c->cluster && file->sure &&
	    !sides_equal(&file->before, &change->after))
		get(c, change->root, change->path)->broken = true;
}

/* Of one that has several names and was changed by steps at the same time nothing is known. */
static void note_file(struct chains *c, const struct change *change)
{
	uint64_t ino = change->before.exists ? change->before.ino : 0;
	struct found_file *file = ino ? find_file(c, ino) : NULL;
	bool again = file && file->cluster == c->cluster;

	if (!ino || (!file && !change->linked))
		return;
	if (!file) {
		file = xcalloc(1, sizeof(*file));
		file->ino = ino;
		HASH_ADD(hh, c->files, ino, sizeof(file->ino), file);
	}
	file->sure = !again || sides_equal(&file->before, &change->before);
	file->before = change->before;
	file->cluster = c->cluster;
}

/* ---- what the steps say -----------------------------------------------------------------------
 */

void chains_change(struct chains *c, const struct change *change)
{
	static const struct change_side nothing;
	const struct change_side *before = &change->before;

	compare_file(c, change);
	note_file(c, change);
	if (change->old_path) {
		add(c, change->root, change->old_path, before, &nothing)->known &= !change->linked;
		before = &nothing;
	}
	add(c, change->root, change->path, before, &change->after)->known &= !change->linked;
}

void chains_left(struct chains *c, const struct post *p, bool sure)
{
	size_t i = names_find(&c->keys, p->key);
	struct change_side left;
	struct chain *one;

	if (i != NAMES_NONE && c->list[i].step == c->step)
		return; /* it changed it */
	change_side_set(&left, &p->obj);
	one = add(c, p->root, p->path, &left, &left);
	one->image = true;
	one->known &= sure;
}

void chains_gap(struct chains *c)
{
	for (size_t i = 0; i < names_count(&c->keys); i++)
		c->list[i].known = false;
	for (struct found_file *file = c->files; file; file = file->hh.next)
		file->sure = false;
}

enum chain_state chains_judge(const struct chains *c, const char *key)
{
	size_t i = names_find(&c->keys, key);
	struct chain *one = i == NAMES_NONE ? NULL : &c->list[i];

	if (!one)
		return CHAIN_WHOLE;
	compare(one);
	return one->broken ? CHAIN_BROKEN : one->edited ? CHAIN_EDITED : CHAIN_WHOLE;
}

void chains_done(struct chains *c)
{
	struct found_file *file, *rest;

	for (size_t i = 0; i < names_count(&c->keys); i++) {
		free(c->list[i].found);
		free(c->list[i].then);
	}
	free(c->list);
	names_done(&c->keys);
	HASH_ITER (hh, c->files, file, rest) {
		HASH_DEL(c->files, file);
		free(file);
	}
	*c = (struct chains){0};
}
