/* placed - notes the state of each file that a rollback places, to detect later edits. */
/* SPDX-License-Identifier: MIT */
#include "core/journal/store/placed.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <xxhash.h>

#include "core/journal/fs/object.h"
#include "core/journal/store/store.h"
#include "core/os/file.h"

struct placed_file {
	uint64_t id;  /* hash of device and inode number; 0: the slot is free */
	uint64_t sum; /* EDITED, UNKNOWN, or a hash of the noted state */
};

#define EDITED	0
#define UNKNOWN 2 /* it could not be read: it does not count as edited */

static uint64_t id_of(const struct object *o)
{
	const uint64_t parts[] = {o->dev, o->ino};

	return XXH3_64bits(parts, sizeof(parts)) | 1;
}

static uint64_t sum_of(const struct object *o)
{
	const uint64_t parts[] = {o->size, (uint64_t)o->mtime_ns, (uint64_t)o->btime_ns,
				  (uint64_t)o->mode << 32 | o->uid, o->gid};

	return XXH3_64bits(parts, sizeof(parts)) | 1;
}

static bool counts(const struct journal *j, const struct object *o)
{
	return j->placed.since_ns && o->mode && o->mode != OBJECT_UNSEEN && !S_ISDIR(o->mode);
}

/* Returns the file's slot, or the free slot that it would take. */
static struct placed_file *slot_of(const struct placed *p, uint64_t id)
{
	size_t at = id >> 1 & (p->cap - 1);

	while (p->slots[at].id && p->slots[at].id != id)
		at = (at + 1) & (p->cap - 1);
	return &p->slots[at];
}

static void grow(struct placed *p)
{
	struct placed old = *p;

	p->cap = MAX(old.cap * 2, (size_t)64);
	p->slots = xcalloc(p->cap, sizeof(*p->slots));
	for (size_t i = 0; i < old.cap; i++)
		if (old.slots[i].id)
			*slot_of(p, old.slots[i].id) = old.slots[i];
	free(old.slots);
}

static struct placed_file *find(const struct placed *p, const struct object *o)
{
	struct placed_file *f = p->cap ? slot_of(p, id_of(o)) : NULL;

	return f && f->id ? f : NULL;
}

static void set(struct placed *p, const struct object *o, uint64_t sum)
{
	struct placed_file *f;

	if (p->n + 1 > p->cap / 4 * 3)
		grow(p);
	f = slot_of(p, id_of(o));
	p->n += !f->id;
	*f = (struct placed_file){.id = id_of(o), .sum = sum};
}

void placed_begin(struct journal *j)
{
	struct timespec now = {0};

	placed_end(j);
	clock_gettime(OS_CLOCK_OF_FILES, &now);
	j->placed.since_ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

void placed_end(struct journal *j)
{
	free(j->placed.slots);
	j->placed = (struct placed){0};
}

void placed_note(struct journal *j, const struct object *o)
{
	if (counts(j, o))
		set(&j->placed, o, sum_of(o));
}

bool placed_has(const struct journal *j, const struct object *o)
{
	return counts(j, o) && find(&j->placed, o);
}

void placed_keep(struct journal *j, const struct object *o)
{
	if (!placed_has(j, o))
		placed_note(j, o);
}

void placed_note_at(struct journal *j, int dirfd, const char *name)
{
	struct object o;

	if (j->placed.since_ns && object_stat(dirfd, name, &o) == 0)
		placed_note(j, &o);
}

/* Takes the time from meta, if this user may set it. */
static void take_time(struct object *o, struct span meta)
{
	if (meta.data && (o->uid == geteuid() || geteuid() == 0))
		o->mtime_ns = attributes_mtime(meta);
}

void placed_dressed(struct journal *j, int fd, const struct object *before, struct span meta)
{
	const struct placed_file *f = counts(j, before) ? find(&j->placed, before) : NULL;
	struct object o;

	if (!counts(j, before))
		return;
	if (object_stat(fd, "", &o) < 0) {
		set(&j->placed, before, UNKNOWN);
		return;
	}
	o.size = before->size;
	take_time(&o, meta);
	set(&j->placed, &o,
	    f && f->sum != UNKNOWN && f->sum != sum_of(before) ? EDITED : sum_of(&o));
}

void placed_written(struct journal *j, int fd, uint64_t size, struct span meta)
{
	struct object o;

	if (!j->placed.since_ns || object_stat(fd, "", &o) < 0)
		return;
	o.size = size;
	take_time(&o, meta);
	placed_note(j, &o);
}

bool placed_is_edited(const struct journal *j, const struct object *o, bool known)
{
	const struct placed_file *f;

	if (!counts(j, o))
		return false;
	f = find(&j->placed, o);
	if (f && f->sum == UNKNOWN)
		return false;
	return f ? f->sum != sum_of(o) : !known;
}

bool placed_is_young(const struct journal *j, const struct object *o)
{
	return o->btime_ns >= j->placed.since_ns;
}
