/* step - an open step: the inodes and paths it touched, and its captures before each change. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/io.h"
#include "core/base/log.h"
#include "core/base/text.h"
#include "core/journal/fs/object.h"
#include "core/journal/history.h"
#include "core/journal/log/capture.h"
#include "core/journal/log/undo_log.h"
#include "core/journal/op.h"
#include "core/journal/step/hard_links.h"
#include "core/journal/step/limits.h"
#include "core/journal/step/open_files.h"
#include "core/journal/step/parts.h"
#include "core/journal/step/step.h"
#include "core/journal/step/sync.h"
#include "core/journal/step/touched_inodes.h"
#include "core/journal/step/touched_paths.h"
#include "core/journal/step/unkept.h"
#include "core/journal/steps.h"
#include "core/journal/store/reserve.h"
#include "core/journal/store/roots.h"
#include "core/journal/store/store.h"
#include "core/journal/util/codec.h"
#include "core/journal/util/path_set.h"
#include "core/journal/util/u64_set.h"
#include "core/os/volume.h"

/* ---- inodes -----------------------------------------------------------------------------------
 */

struct touched_inode *step_known(const struct step *s, const struct object *o)
{
	struct touched_inode *k = touched_inodes_find(&s->known, object_pack_dev(o->dev), o->ino);

	return k && !object_is_reuse(k->btime_ns, k->generation, o) ? k : NULL;
}

struct touched_inode *step_learn(struct step *s, const struct object *o, unsigned flags)
{
	struct touched_inode *k = touched_inodes_learn(&s->known, o, flags);

	if (flags & (TOUCHED_META | TOUCHED_CONTENT))
		hard_link_use(s, o);
	return k;
}

void step_unlearn(struct step *s, const struct object *o)
{
	struct touched_inode *k = step_known(s, o);

	if (k)
		touched_inodes_drop(&s->known, k);
}

bool step_shared(const struct step *s, const struct object *o)
{
	for (struct step *other = s->j->open; other; other = other->next)
		if (other != s && step_known(other, o))
			return true;
	return false;
}

/*
 * The inode was moved into this step's objects. Other steps that captured it before must not change
 * it without a new capture: theirs is older than the state in this step's objects. So they forget
 * the inode. Not if it is still open for writing: then the store has a copy. Its remaining hard
 * links do not matter, as the store holds one of them: a change through them is captured anew.
 */
void step_took(struct step *s, const struct object *o)
{
	if (open_file_find(s->j, o))
		return;
	for (struct step *other = s->j->open; other; other = other->next)
		if (other != s)
			step_unlearn(other, o);
}

void step_ask_before(struct step *s, step_on_loss fn, void *data)
{
	s->on_loss = fn;
	s->on_loss_data = data;
}

/* A name that this step made for something that has other names: nothing is lost with it. */
static bool only_a_name(struct step *s, int root, const char *path, const struct object *o)
{
	AUTO_FREE char *key = NULL;
	const struct touched_path *t;

	if (S_ISDIR(o->mode) || o->nlink < 2)
		return false;
	key = path_key_make(root, path);
	t = touched_paths_find(&s->touches, key);
	return t && !t->before;
}

int step_lose(struct step *s, enum loss what, int root, const char *path, const struct object *o)
{
	unsigned enough =
		TOUCHED_CREATED | (what == LOSS_OVERWRITE ? TOUCHED_CONTENT | TOUCHED_OPENED : 0);
	const struct touched_inode *k;

	if (!s->on_loss)
		return 0;
	k = step_known(s, o);
	if ((k && k->flags & enough) || (what != LOSS_OVERWRITE && only_a_name(s, root, path, o)))
		return 0;
	return s->on_loss(s->on_loss_data, what, o->size);
}

bool step_has_inode(const struct step *s, const struct object *o)
{
	const struct touched_inode *k = step_known(s, o);

	return k && object_is_identified(o) && (k->flags & (TOUCHED_CREATED | TOUCHED_CONTENT));
}

/* ---- paths ------------------------------------------------------------------------------------
 */

bool step_touch(struct step *s, int root, const char *path, const struct object *before)
{
	AUTO_FREE char *key = path_key_make(root, path);
	const struct touched_inode *k = before->nlink > 1 ? step_known(s, before) : NULL;
	const struct object *first = k ? touched_inodes_first(&s->known, k) : NULL;

	return touched_paths_add(&s->touches, key, first ? first : before);
}

void step_touch_attrs(struct step *s, int root, const char *path)
{
	AUTO_FREE char *key = path_key_make(root, path);

	touched_paths_attrs(&s->touches, key);
}

static bool tangled(const struct step *s, struct step *other)
{
	if (other == s || !other->made)
		return false;
	if (s->moved || other->moved)
		return true;
	for (size_t i = 0; i < touched_paths_count(&s->touches); i++)
		if (touched_paths_find(&other->touches, touched_paths_key(&s->touches, i)))
			return true;
	return false;
}

void step_tangle(struct step *s)
{
	for (struct step *other = s->j->open; other; other = other->next)
		if (tangled(s, other))
			s->tangled = other->tangled = true;
}

void step_untangle(struct step *s)
{
	for (struct step *other = s->j->open; other; other = other->next)
		if (tangled(s, other))
			step_mark_incomplete(other, "what ran at the same time was rolled back");
}

int64_t step_id(const struct step *s)
{
	return s->id;
}

size_t step_paths(const struct step *s)
{
	const struct step *p = s;
	size_t n = 0;

	do
		n += touched_paths_count(&p->touches);
	while ((p = p->part) != s);
	return n;
}

struct step *step_part(struct step *s, const struct journal *j)
{
	struct step *p = s;

	do
		if (p->j == j)
			return p;
	while ((p = p->part) != s);
	return NULL;
}

/* ---- life -------------------------------------------------------------------------------------
 */

/* Notes its paths as changed by ourselves, while that is asked for. */
static void note_own(struct step *s)
{
	if (s->j->owning)
		touched_paths_settle(&s->touches);
	for (size_t i = 0; s->j->owning && i < touched_paths_count(&s->touches); i++)
		path_set_add_key(&s->j->own, touched_paths_key(&s->touches, i));
}

void step_free(struct step *s)
{
	note_own(s);
	touched_inodes_done(&s->known);
	touched_paths_done(&s->touches);
	u64_set_done(&s->came_from);
	hard_links_free(s);
	capture_done(&s->side);
	unkept_free(s);
	free(s->command);
	free(s->why);
	free(s->bare);
	free(s->copies);
	free(s->clones);
	free(s);
}

void step_drop(struct step *s)
{
	struct step *before = s;

	while (before->part != s)
		before = before->part;
	before->part = s->part;
	for (struct step **p = &s->j->open; *p; p = &(*p)->next)
		if (*p == s) {
			*p = s->next;
			break;
		}
	step_free(s);
}

static int write_head(struct step *s)
{
	AUTO_BUF struct buf meta = BUF_INIT;
	struct rec rec = {.type = REC_STEP, .path = ""};
	const char *command = s->command ? s->command : "";

	codec_put_u64(&meta, (uint64_t)s->id);
	codec_put_u32(&meta, s->kind);
	codec_put_u64(&meta, (uint64_t)s->began_us);
	codec_put_str(&meta, command, strlen(command));
	rec.meta = (struct span){meta.data, meta.len};
	return capture_push(&s->side, &rec);
}

bool step_read_head(const struct undo_log *undo, struct step_info *ret)
{
	struct rec r;
	struct codec_reader g;
	size_t at = 0;

	if (!undo_log_next(undo, &at, &r) || r.type != REC_STEP)
		return false;
	g = (struct codec_reader){.p = r.meta.data, .end = r.meta.data + r.meta.len};
	ret->id = (int64_t)codec_get_u64(&g);
	ret->kind = codec_get_u32(&g);
	ret->began_us = (int64_t)codec_get_u64(&g);
	ret->command = xstrdup(codec_get_str(&g).data);
	return true;
}

static int make_parts(struct step *s, const char *dir)
{
	int r;

	if (mkdirat(s->j->store, dir, 0700) < 0)
		return -errno;
	s->side.dir = store_open_dir(s->j, dir);
	if (s->side.dir < 0)
		return s->side.dir;
	if (mkdirat(s->side.dir, "obj", 0700) < 0)
		return -errno;
	s->side.obj = openat(s->side.dir, "obj", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (s->side.obj < 0)
		return -errno;
	r = undo_log_create(&s->side.log, s->side.dir, "undo");
	return r < 0 ? r : write_head(s);
}

int step_make(struct step *s)
{
	AUTO_FREE char *dir = NULL;
	mode_t mask;
	int r;

	if (s->made)
		return 0;
	dir = xasprintf("open/%" PRId64, s->id);
	mask = umask(077);
	do {
		r = s->j->ids_given ? state_save(s->j) : 0;
		if (r == 0)
			r = make_parts(s, dir);
		if (r == 0)
			r = parts_announce(s);
		if (r == 0)
			r = step_sync_parts(s);
		if (r == 0)
			break;
		capture_done(&s->side);
		s->side.j = s->j;
		if (io_remove_tree(s->j->store, dir) < 0)
			break; /* the next start sees that it never began */
	} while (store_relieve(s->j, r, false));
	umask(mask);
	s->made = r == 0;
	return r;
}

static void note_slot(struct step *s, const struct kept *kept)
{
	uint64_t **list = kept->cloned ? &s->clones : &s->copies;
	size_t *n = kept->cloned ? &s->n_clones : &s->n_copies;

	if (*n % 64 == 0)
		*list = xrealloc(*list, (*n + 64) * sizeof(**list));
	(*list)[(*n)++] = kept->slot;
}

/* By what is stored through a mapping: tmpfs keeps no time of that. Elsewhere the first store into
 * a page does, until it is written back, which may have been before the step began. To clone a file
 * writes it back. */
bool step_may_change_unseen(const struct step *s, int dirfd, const struct object *o)
{
	int volume = open_file_find(s->j, o) ? VOLUME_MEMORY : os_volume(dirfd);

	return volume < 0 || volume == VOLUME_MEMORY;
}

static bool has_kept(const struct step *s, const struct object *o)
{
	const struct touched_inode *k = step_known(s, o);

	return k && k->flags & (TOUCHED_CREATED | TOUCHED_CONTENT);
}

static int keep_content(struct step *s, int root, const char *path, int dirfd, const char *name,
			const struct object *o)
{
	const char *slash = strrchr(path, '/');
	AUTO_FREE char *dir = xstrndup(path, slash ? (size_t)(slash - path) : 0);
	struct kept kept = {0};
	struct spot at;
	int r;

	/* A clone costs nothing, however large the file. */
	kept.clone_only = !step_has_room(s, o->blocks * 512, true);
	kept.hashed = step_may_change_unseen(s, dirfd, o);
	if (!step_has_room(s, 0, false))
		return STEP_FULL;
	r = step_make(s);
	/* Bringing the bytes back may take a rename, which the directory's times would show. */
	if (r == 0 && root_find(s->j, root, path, &at) == 0)
		r = capture_touch_dir(&s->side, root, at.fd, dir);
	if (r == 0)
		r = capture_keep_content(&s->side, root, path, dirfd, name, o->ino, 0, &kept);
	if (r < 0)
		return r == -EOPNOTSUPP && kept.clone_only ? STEP_FULL : r;
	if (kept.slot)
		note_slot(s, &kept);
	if (kept.slot)
		step_holds_more(s, kept.cloned ? 0 : kept.bytes, true);
	else
		s->copied += o->size; /* in the log */
	/* What it had at first counts. A capture by a name that it leaves brings nothing
	 * back by its other names: a change by those is captured for itself. */
	if (!has_kept(s, o) && !(s->leaving && o->nlink > 1))
		step_learn(s, o, TOUCHED_CONTENT | TOUCHED_META)->hash = kept.hash;
	return 0;
}

int step_try_content(struct step *s, int root, const char *path, int dirfd, const char *name,
		     const struct object *o)
{
	if (!S_ISREG(o->mode) || has_kept(s, o))
		return 0;
	return keep_content(s, root, path, dirfd, name, o);
}

int step_keep_again(struct step *s, int root, const char *path, int dirfd, const char *name,
		    const struct object *o)
{
	int r;

	do {
		s->leaving = true;
		r = keep_content(s, root, path, dirfd, name, o);
		s->leaving = false;
		if (r != STEP_FULL)
			return r;
		r = step_go_beyond(s, o->blocks * 512, true);
	} while (r > 0);
	if (r == 0)
		step_unprotect(s, "rename", path, o->blocks * 512);
	return r;
}

int step_keep_content(struct step *s, int root, const char *path, int dirfd, const char *name,
		      const struct object *o, bool may_spare)
{
	int r;

	do {
		r = step_try_content(s, root, path, dirfd, name, o);
		if (r != STEP_FULL)
			return r;
		r = step_go_beyond(s, o->blocks * 512, true);
	} while (r > 0);
	if (r == 0 && !(may_spare && unkept_note(s, root, path, dirfd, name, o)))
		step_unprotect(s, "write", path, o->blocks * 512);
	return r;
}

struct step *step_new(struct journal *j, int64_t id, struct step *of)
{
	struct step *s = xcalloc(1, sizeof(*s));

	s->j = j;
	s->side = (struct capture)CAPTURE_NONE;
	s->side.j = j;
	s->id = id;
	s->part = s;
	if (of) {
		s->kind = of->kind;
		s->began_us = of->began_us;
		s->command = xstrdup(of->command);
		for (s->part = of; of->part != s->part;)
			of = of->part;
		of->part = s;
	}
	j->ids_given |= (uint64_t)llabs(id) >= j->state->next_id;
	j->state->next_id = MAX(j->state->next_id, (uint64_t)llabs(id) + 1);
	s->next = j->open;
	j->open = s;
	store_forget_near(j);
	return s;
}

void step_spare(struct step *s)
{
	struct step *p = s;

	do
		p->spares = true;
	while ((p = p->part) != s);
}

void step_watch_end(struct step *s, const struct step_witness *w, void *data)
{
	s->witness = w;
	s->witness_data = data;
}

void step_set_command(struct step *s, const char *command)
{
	struct step *p = s;

	do {
		free(p->command);
		p->command = xstrdup(command);
	} while ((p = p->part) != s);
}

off_t step_log_bytes(const struct journal *j)
{
	off_t sum = 0;

	for (const struct step *s = j->open; s; s = s->next)
		sum += (off_t)s->side.log.cap;
	return sum;
}
