/* step - an open step: the inodes and paths it touched; begin and abort. */
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
#include "core/journal/journal.h"
#include "core/journal/log/capture.h"
#include "core/journal/log/undo_log.h"
#include "core/journal/op.h"
#include "core/journal/rollback/undo.h"
#include "core/journal/step/open_files.h"
#include "core/journal/step/step.h"
#include "core/journal/step/touched_inodes.h"
#include "core/journal/step/touched_paths.h"
#include "core/journal/step/unkept.h"
#include "core/journal/store/store.h"
#include "core/journal/util/path_set.h"
#include "core/os/volume.h"

/* ---- inodes -----------------------------------------------------------------------------------
 */

struct known *step_known(const struct step *s, const struct obj *o)
{
	struct known *k = known_find(&s->known, dev_pack(o->dev), o->ino);

	return k && !obj_reused(k->btime_ns, k->generation, o) ? k : NULL;
}

struct known *step_learn(struct step *s, const struct obj *o, unsigned flags)
{
	struct known *k = known_learn(&s->known, o, flags);

	if (flags & (KNOWN_META | KNOWN_CONTENT))
		alias_use(s, o);
	return k;
}

void step_unlearn(struct step *s, const struct obj *o)
{
	struct known *k = step_known(s, o);

	if (k)
		known_drop(&s->known, k);
}

bool step_shared(const struct step *s, const struct obj *o)
{
	for (struct step *other = s->j->open; other; other = other->next)
		if (other != s && step_known(other, o))
			return true;
	return false;
}

/*
 * Other steps that have kept what it was may change it at will: what they keep is older than what
 * this step has just put away. Not so where it is still written: then there is a copy. Names that
 * are left say nothing, for the store's is one of them: by these it is kept anew.
 */
void step_took(struct step *s, const struct obj *o)
{
	if (writer_find(s->j, o))
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
static bool only_a_name(struct step *s, int root, const char *path, const struct obj *o)
{
	AUTO_FREE char *key = NULL;
	const struct touch *t;

	if (S_ISDIR(o->mode) || o->nlink < 2)
		return false;
	key = key_make(root, path);
	t = touches_find(&s->touches, key);
	return t && !t->before;
}

int step_lose(struct step *s, enum loss what, int root, const char *path, const struct obj *o)
{
	unsigned enough =
		KNOWN_CREATED | (what == LOSS_OVERWRITE ? KNOWN_CONTENT | KNOWN_OPENED : 0);
	const struct known *k;

	if (!s->on_loss)
		return 0;
	k = step_known(s, o);
	if ((k && k->flags & enough) || (what != LOSS_OVERWRITE && only_a_name(s, root, path, o)))
		return 0;
	return s->on_loss(s->on_loss_data, what, o->size);
}

bool step_has_inode(const struct step *s, const struct obj *o)
{
	const struct known *k = step_known(s, o);

	return k && obj_is_identified(o) && (k->flags & (KNOWN_CREATED | KNOWN_CONTENT));
}

/* ---- paths ------------------------------------------------------------------------------------
 */

bool step_touch(struct step *s, int root, const char *path, const struct obj *before)
{
	AUTO_FREE char *key = key_make(root, path);
	const struct known *k = before->nlink > 1 ? step_known(s, before) : NULL;
	const struct obj *first = k ? known_first(&s->known, k) : NULL;

	return touches_add(&s->touches, key, first ? first : before);
}

void step_touch_attrs(struct step *s, int root, const char *path)
{
	AUTO_FREE char *key = key_make(root, path);

	touches_attrs(&s->touches, key);
}

static bool tangled(const struct step *s, struct step *other)
{
	if (other == s || !other->made)
		return false;
	if (s->moved || other->moved)
		return true;
	for (size_t i = 0; i < touches_count(&s->touches); i++)
		if (touches_find(&other->touches, touches_key(&s->touches, i)))
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
		n += touches_count(&p->touches);
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

void step_free(struct step *s)
{
	own_step(s);
	known_done(&s->known);
	touches_done(&s->touches);
	numbers_done(&s->came_from);
	aliases_free(s);
	side_done(&s->side);
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

	put_u64(&meta, (uint64_t)s->id);
	put_u32(&meta, s->kind);
	put_u64(&meta, (uint64_t)s->began_us);
	put_str(&meta, command, strlen(command));
	rec.meta = (struct span){meta.data, meta.len};
	return side_push(&s->side, &rec);
}

bool step_read_head(const struct wal *undo, struct step_info *ret)
{
	struct rec r;
	struct get g;
	size_t at = 0;

	if (!wal_next(undo, &at, &r) || r.type != REC_STEP)
		return false;
	g = (struct get){.p = r.meta.data, .end = r.meta.data + r.meta.len};
	ret->id = (int64_t)get_u64(&g);
	ret->kind = get_u32(&g);
	ret->began_us = (int64_t)get_u64(&g);
	ret->command = xstrdup(get_str(&g).data);
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
	r = wal_create(&s->side.log, s->side.dir, "undo");
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
		side_done(&s->side);
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
bool step_may_change_unseen(const struct step *s, int dirfd, const struct obj *o)
{
	int volume = writer_find(s->j, o) ? VOLUME_MEMORY : os_volume(dirfd);

	return volume < 0 || volume == VOLUME_MEMORY;
}

static bool has_kept(const struct step *s, const struct obj *o)
{
	const struct known *k = step_known(s, o);

	return k && k->flags & (KNOWN_CREATED | KNOWN_CONTENT);
}

static int keep_content(struct step *s, int root, const char *path, int dirfd, const char *name,
			const struct obj *o)
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
	if (r == 0 && spot_find(s->j, root, path, &at) == 0)
		r = side_touch_dir(&s->side, root, at.fd, dir);
	if (r == 0)
		r = side_keep_content(&s->side, root, path, dirfd, name, o->ino, 0, &kept);
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
		step_learn(s, o, KNOWN_CONTENT | KNOWN_META)->hash = kept.hash;
	return 0;
}

int step_try_content(struct step *s, int root, const char *path, int dirfd, const char *name,
		     const struct obj *o)
{
	if (!S_ISREG(o->mode) || has_kept(s, o))
		return 0;
	return keep_content(s, root, path, dirfd, name, o);
}

int step_keep_again(struct step *s, int root, const char *path, int dirfd, const char *name,
		    const struct obj *o)
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
		      const struct obj *o, bool may_spare)
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

static struct step *step_new(struct journal *j, int64_t id, struct step *of)
{
	struct step *s = xcalloc(1, sizeof(*s));

	s->j = j;
	s->side = (struct side)SIDE_NONE;
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

static void note_begin(struct step *s)
{
	struct rec r;
	size_t start;

	if (s->made && wal_last(&s->side.log, wal_tail(&s->side.log), &r, &start))
		s->began_with = r.seq;
}

int journal_begin_part(struct journal *j, struct step *of, struct step **ret, struct err *err)
{
	int r = undo_unstick(j, err);

	if (r < 0)
		return r;
	*ret = step_new(j, of->id, of);
	(*ret)->spares = of->spares;
	r = step_keep_writers(*ret, err);
	note_begin(*ret);
	if (r < 0 && !(*ret)->made) /* else it stays: an empty part at worst */
		step_drop(*ret);
	return r;
}

/* Its files that are still being written: the step begins there, too. */
static int begin_with_writers(struct step *s, struct err *err)
{
	int r = step_keep_writers(s, err);

	note_begin(s);
	for (struct journal *j = s->j->sibling; r == 0 && j != s->j; j = j->sibling) {
		struct step *part;

		if (j->writers)
			r = journal_begin_part(j, s, &part, err);
	}
	return r;
}

/* Should it be interrupted, the rollback is the newest of all stores' and has the highest number.
 */
static int level_numbers(struct journal *j)
{
	struct journal *k = j;
	int r;

	siblings_level(j);
	do
		r = store_seq_keep(k);
	while (r == 0 && (k = k->sibling) != j);
	return r;
}

int journal_begin(struct journal *j, enum step_kind kind, const char *command, struct step **ret,
		  struct err *err)
{
	uint64_t id = j->state->next_id;
	struct step *s;
	int r = undo_unstick(j, err);

	if (r < 0)
		return r;
	for (const struct journal *k = j->sibling; k != j; k = k->sibling)
		id = MAX(id, k->state->next_id);
	r = j->sibling == j ? 0 : level_numbers(j);
	if (r < 0)
		return err_set(err, r, "begin a step");
	s = step_new(j, kind == STEP_AMBIENT ? -(int64_t)id : (int64_t)id, NULL);
	s->kind = kind;
	s->began_us = clock_wall_us();
	s->command = xstrdup(command ? command : "");
	r = begin_with_writers(s, err);
	if (r < 0) {
		struct err ignored = {0};

		step_spare(s);
		if (journal_abort(s, &ignored) < 0)
			return err_wrap(err, r, "begin a step");
		return r;
	}
	*ret = s;
	return 0;
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
