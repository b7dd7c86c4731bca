/* touched_inodes - the inodes that an open step has records about, or created. */
/* SPDX-License-Identifier: MIT */
#include "core/journal/fs/object.h"
#include "core/journal/step/step.h"
#include "core/journal/step/touched_inodes.h"
#include "core/journal/store/store.h"
#include "core/journal/util/grow.h"

#include <stdlib.h>

static size_t place_of(const struct touched_inodes *k, uint32_t dev, uint64_t ino)
{
	return (ino ^ (uint64_t)dev << 40) * 0x9e3779b97f4a7c15u >> 20 & (k->n_slots - 1);
}

/* Returns the slot of the inode, or the free slot that it would take. */
static size_t slot_of(const struct touched_inodes *k, uint32_t dev, uint64_t ino)
{
	size_t s = place_of(k, dev, ino);

	for (; k->slots[s]; s = (s + 1) & (k->n_slots - 1)) {
		const struct touched_inode *have = &k->list[k->slots[s] - 1];

		if (have->ino == ino && have->dev == dev)
			break;
	}
	return s;
}

struct touched_inode *touched_inodes_find(const struct touched_inodes *k, uint32_t dev,
					  uint64_t ino)
{
	size_t s;

	if (!k->n)
		return NULL;
	s = slot_of(k, dev, ino);
	return k->slots[s] ? &k->list[k->slots[s] - 1] : NULL;
}

static void grow_slots(struct touched_inodes *k)
{
	k->n_slots = k->n_slots ? k->n_slots * 2 : 16;
	free(k->slots);
	k->slots = xcalloc(k->n_slots, sizeof(*k->slots));
	for (uint32_t i = 0; i < k->n; i++)
		k->slots[slot_of(k, k->list[i].dev, k->list[i].ino)] = i + 1;
}

static struct touched_inode fresh(uint32_t dev, const struct object *o)
{
	return (struct touched_inode){
		.ino = o->ino, .dev = dev, .btime_ns = o->btime_ns, .generation = o->generation};
}

static struct touched_inode *get(struct touched_inodes *k, const struct object *o)
{
	uint32_t dev = object_pack_dev(o->dev);
	size_t s;

	if ((k->n + 1) * (size_t)4 > k->n_slots * 3)
		grow_slots(k);
	s = slot_of(k, dev, o->ino);
	if (k->slots[s])
		return &k->list[k->slots[s] - 1];
	GROW(k->list, k->cap, k->n);
	k->list[k->n] = fresh(dev, o);
	k->slots[s] = ++k->n;
	return &k->list[k->n - 1];
}

struct touched_inode *touched_inodes_learn(struct touched_inodes *k, const struct object *o,
					   unsigned flags)
{
	struct touched_inode *one = get(k, o);

	if (object_is_reuse(one->btime_ns, one->generation, o))
		*one = fresh(one->dev, o);
	/* The step may use another hard link later: this is the state that it had before. */
	if (!one->first && o->nlink > 1 && !(one->flags & TOUCHED_CREATED) &&
	    flags & (TOUCHED_META | TOUCHED_CONTENT)) {
		if (k->n_firsts % 16 == 0)
			k->firsts = xrealloc(k->firsts, (k->n_firsts + 16) * sizeof(*k->firsts));
		k->firsts[k->n_firsts] = *o;
		one->first = ++k->n_firsts & 0x3ffffff;
	}
	one->flags |= flags & TOUCHED_ALL;
	return one;
}

/* Moves entries behind the freed slot up, unless they are where they belong. */
static void free_slot(struct touched_inodes *k, size_t hole)
{
	size_t mask = k->n_slots - 1;

	for (size_t s = (hole + 1) & mask; k->slots[s]; s = (s + 1) & mask) {
		const struct touched_inode *here = &k->list[k->slots[s] - 1];
		size_t home = place_of(k, here->dev, here->ino);

		if (((s - home) & mask) < ((s - hole) & mask))
			continue;
		k->slots[hole] = k->slots[s];
		hole = s;
	}
	k->slots[hole] = 0;
}

void touched_inodes_drop(struct touched_inodes *k, struct touched_inode *one)
{
	struct touched_inode *last = &k->list[k->n - 1];
	size_t at = (size_t)(one - k->list);

	free_slot(k, slot_of(k, one->dev, one->ino));
	if (one != last) {
		k->slots[slot_of(k, last->dev, last->ino)] = (uint32_t)at + 1;
		*one = *last;
	}
	k->n--;
}

const struct object *touched_inodes_first(const struct touched_inodes *k,
					  const struct touched_inode *one)
{
	return one->first ? &k->firsts[one->first - 1] : NULL;
}

void touched_inodes_done(struct touched_inodes *k)
{
	free(k->list);
	free(k->slots);
	free(k->firsts);
	*k = (struct touched_inodes){0};
}

/* ---- of a step --------------------------------------------------------------------------------
 */

struct touched_inode *step_known(const struct step *s, const struct object *o)
{
	struct touched_inode *k = touched_inodes_find(&s->known, object_pack_dev(o->dev), o->ino);

	return k && !object_is_reuse(k->btime_ns, k->generation, o) ? k : NULL;
}

void step_unlearn(struct step *s, const struct object *o)
{
	struct touched_inode *k = step_known(s, o);

	if (k)
		touched_inodes_drop(&s->known, k);
}

void step_disown(struct step *s, const struct object *o)
{
	struct touched_inode *k = step_known(s, o);

	if (!k)
		return;
	k->flags = k->flags & (TOUCHED_OPENED | TOUCHED_SHUT);
	k->hash = 0;
}

bool step_shared(const struct step *s, const struct object *o)
{
	for (struct step *other = s->j->open; other; other = other->next)
		if (other != s && step_known(other, o))
			return true;
	return false;
}
