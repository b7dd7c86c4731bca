/* before_state - the state of each path before a step, from the step's records. */
/* SPDX-License-Identifier: MIT */
#include "core/journal/history.h"
#include "core/journal/history/before_state.h"
#include "core/journal/history/current_name.h"

#include <fcntl.h>

#include "core/journal/fs/object.h"
#include "core/journal/history/net_changes.h"
#include "core/journal/history/rename_list.h"
#include "core/journal/history/step_summary.h"
#include "core/journal/log/capture.h"
#include "core/journal/log/undo_log.h"
#include "core/journal/store/store.h"
#include "core/journal/util/codec.h"
#include "core/journal/util/grow.h"
#include "core/journal/util/path_set.h"

#define NO_SIZE UINT64_MAX

struct before_file { /* a file that a record names by its inode number */
	uint64_t ino;
	bool changed;
	size_t at;    /* if changed: offset of the first record with its state */
	size_t moved; /* index of a name that it was renamed from, or PATH_SET_NONE */
	UT_hash_handle hh;
};

struct telling {
	const struct current_names *c;
	struct before_states *ret;
	size_t cap;
	int obj; /* the step's objects */
};

static bool has_moves(const struct current_names *c)
{
	for (size_t i = 0; i < c->moves->n; i++)
		if (c->moves->list[i].seq >= c->now.first && c->moves->list[i].seq <= c->now.last)
			return true;
	return false;
}

/* ---- the state in one record ------------------------------------------------------------------
 */

static void set_meta(struct change_side *side, struct span meta, uint64_t size)
{
	struct codec_reader g = {.p = meta.data, .end = meta.data + meta.len};
	uint64_t sec;

	side->mode = codec_get_u32(&g);
	side->uid = codec_get_u32(&g);
	side->gid = codec_get_u32(&g);
	sec = codec_get_u64(&g);
	side->mtime_ns = attributes_ns(sec, codec_get_u32(&g));
	side->size = S_ISDIR(side->mode) ? 0 : size;
	side->exists = !g.bad;
}

/* Reads the state of the object in the record's slot. */
static void set_slot(const struct telling *t, const struct rec *rec, struct change_side *side)
{
	struct object o;
	char slot[24];

	store_slot_name(slot, rec->slot);
	if (t->obj >= 0 && object_stat(t->obj, slot, &o) == 0)
		change_side_set(side, &o);
}

static struct change_side side_of(const struct telling *t, const struct rec *rec)
{
	struct change_side side = {0};
	struct span meta, bytes;

	if (rec->type == REC_CONTENT) {
		undo_log_content(rec, &meta, &bytes);
		set_meta(&side, meta, rec->flags & REC_INLINE ? bytes.len : NO_SIZE);
	} else if (rec->type == REC_META || rec->type == REC_DIR_GONE) {
		set_meta(&side, rec->meta, NO_SIZE);
	} else {
		if (rec->type == REC_GONE)
			capture_noted(rec, &side);
		if (!side.exists)
			set_slot(t, rec, &side);
	}
	side.ino = rec->ino;
	return side;
}

static bool tells(const struct rec *rec)
{
	return !rec_is_idle(rec) &&
	       (rec_is_in_place(rec) || rec->type == REC_GONE || rec->type == REC_DIR_GONE);
}

static bool is_of_dir(const struct rec *rec)
{
	return rec->type == REC_DIR_GONE ||
	       (rec->type == REC_META && S_ISDIR(attributes_mode(rec->meta)));
}

/* ---- files ------------------------------------------------------------------------------------
 */

static struct before_file *get_file(struct before_states *t, uint64_t ino)
{
	struct before_file *file;

	HASH_FIND(hh, t->files, &ino, sizeof(ino), file);
	if (file)
		return file;
	file = xcalloc(1, sizeof(*file));
	file->ino = ino;
	file->moved = PATH_SET_NONE;
	HASH_ADD(hh, t->files, ino, sizeof(file->ino), file);
	return file;
}

static void note_file(struct telling *t, const struct rec *rec, size_t at)
{
	struct before_file *file;

	if (!tells(rec) || !rec->ino || is_of_dir(rec))
		return;
	file = get_file(t->ret, rec->ino);
	if (!file->changed)
		file->at = at;
	file->changed = true;
}

/* Returns the state in the file's first record, perhaps under the name of another hard link. */
static struct change_side side_of_file(const struct telling *t, const struct before_file *file)
{
	size_t at = file->at;
	struct rec rec;

	return undo_log_next(t->c->now.log, &at, &rec) ? side_of(t, &rec) : (struct change_side){0};
}

/* ---- names ------------------------------------------------------------------------------------
 */

static void set_side(struct before_state *one, struct change_side side)
{
	one->what = side.exists ? BEFORE_SIDE : BEFORE_RECORDED;
	one->side = side;
}

/* Adds the present key of a path. Returns NULL if an earlier record named the path, or if it needs
 * no translation. */
static struct before_state *add(struct telling *t, uint64_t seq, int root, const char *path)
{
	const struct current_names *c = t->c;
	AUTO_FREE char *key = NULL;
	bool fresh;
	size_t i;

	if (!*path || !renames_touch_in(c->moves, c->now.first, c->now.last, root, path))
		return NULL;
	key = current_name_of(c, seq, root, path);
	i = path_set_put(&t->ret->keys, key, &fresh);
	if (!fresh)
		return NULL;
	GROW(t->ret->list, t->cap, i);
	t->ret->list[i] = (struct before_state){0};
	return &t->ret->list[i];
}

static void add_moved(struct telling *t, struct before_state *one, uint64_t ino)
{
	struct before_file *file = ino ? get_file(t->ret, ino) : NULL;

	if (!file || file->moved != PATH_SET_NONE)
		return;
	one->what = BEFORE_RENAMED;
	one->ino = ino;
	file->moved = (size_t)(one - t->ret->list);
}

static void add_path(struct telling *t, const struct rec *rec)
{
	struct before_state *one = add(t, rec->seq, rec->root, rec->path);

	if (!one || rec_is_idle(rec))
		return;
	if (rec->type == REC_NEW || rec->type == REC_DIR_NEW)
		one->what = BEFORE_ABSENT;
	else if (tells(rec) && (is_of_dir(rec) || !rec->ino))
		set_side(one, side_of(t, rec));
	else if (tells(rec))
		set_side(one, side_of_file(t, get_file(t->ret, rec->ino)));
	else if (!(rec->flags & REC_DIRECTORY))
		add_moved(t, one, rec->ino);
}

static void add_path2(struct telling *t, const struct rec *rec)
{
	struct before_state *one = add(t, rec->seq, rec->root2, rec->path2);

	if (!one || rec_is_idle(rec))
		return;
	if (rec->type == REC_RENAME && !rec->ino2)
		one->what = BEFORE_ABSENT;
	else if (rec->type == REC_XCHG && !(rec->flags & REC_DIRECTORY))
		add_moved(t, one, rec->ino2);
}

/* Sets the states of files that the step renamed and also changed, under any name. */
static void find_moved(struct telling *t)
{
	for (struct before_file *file = t->ret->files; file; file = file->hh.next) {
		if (!file->changed || file->moved == PATH_SET_NONE)
			continue;
		set_side(&t->ret->list[file->moved], side_of_file(t, file));
		file->moved = PATH_SET_NONE;
	}
}

void before_states_load(const struct current_names *c, struct before_states *ret)
{
	AUTO_CLOSE int obj = -1;
	struct telling t = {.c = c, .ret = ret};
	struct rec rec;
	size_t at = 0, from = 0;

	if (!has_moves(c))
		return;
	t.obj = obj = openat(c->now.dir, "obj", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	for (; undo_log_next(c->now.log, &at, &rec); from = at) {
		if (rec_is_quiet(rec.type))
			continue;
		note_file(&t, &rec, from);
		add_path(&t, &rec);
		add_path2(&t, &rec);
	}
	find_moved(&t);
}

size_t before_states_moved(const struct before_states *t, uint64_t ino)
{
	struct before_file *file;

	HASH_FIND(hh, t->files, &ino, sizeof(ino), file);
	return file ? file->moved : PATH_SET_NONE;
}

bool before_state_same(const struct change_side *recorded, const struct change_side *other)
{
	struct change_side one = *recorded;

	if (one.size == NO_SIZE)
		one.size = other->size;
	return change_sides_equal(&one, other);
}

void before_states_done(struct before_states *t)
{
	struct before_file *file, *rest;

	HASH_ITER (hh, t->files, file, rest) {
		HASH_DEL(t->files, file);
		free(file);
	}
	path_set_done(&t->keys);
	free(t->list);
	*t = (struct before_states){0};
}
