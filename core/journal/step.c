/* step - an open step: what it knows of inodes and paths; begin, commit, abort. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/io.h"
#include "core/base/text.h"
#include "core/base/log.h"
#include "core/journal/priv.h"

/* ---- inodes -----------------------------------------------------------------------------------
 */

struct known *step_known(struct step *s, const struct obj *o)
{
	uint64_t key[2] = {o->dev, o->ino};
	struct known *k;

	HASH_FIND(hh, s->known, key, sizeof(key), k);
	/* Inode numbers are used again: another birth is another file. */
	return k && k->btime_ns == o->btime_ns ? k : NULL;
}

void step_learn(struct step *s, const struct obj *o, unsigned flags)
{
	uint64_t key[2] = {o->dev, o->ino};
	struct known *k;

	HASH_FIND(hh, s->known, key, sizeof(key), k);
	if (!k) {
		k = xcalloc(1, sizeof(*k));
		memcpy(k->key, key, sizeof(key));
		k->btime_ns = o->btime_ns;
		HASH_ADD(hh, s->known, key, sizeof(k->key), k);
	} else if (k->btime_ns != o->btime_ns) {
		k->btime_ns = o->btime_ns;
		k->flags = 0;
		free(take_ptr(&k->first));
	}
	/* Under another name it may be spoken of later: what it was before is this. */
	if (!k->first && o->nlink > 1 && !(k->flags & KNOWN_CREATED) &&
	    flags & (KNOWN_META | KNOWN_CONTENT)) {
		k->first = xmalloc(sizeof(*k->first));
		*k->first = *o;
	}
	k->flags |= flags;
	if (flags & (KNOWN_META | KNOWN_CONTENT))
		alias_use(s, o);
}

void step_unlearn(struct step *s, const struct obj *o)
{
	struct known *k = step_known(s, o);

	if (!k)
		return;
	HASH_DEL(s->known, k);
	free(k->first);
	free(k);
}

bool step_shared(const struct step *s, const struct obj *o)
{
	for (struct step *other = s->j->open; other; other = other->next)
		if (other != s && step_known(other, o))
			return true;
	return false;
}

void step_ask_before(struct step *s, step_on_loss fn, void *data)
{
	s->on_loss = fn;
	s->on_loss_data = data;
}

/* A name that this step made for something that has other names: nothing is lost with it. */
static bool only_a_name(const struct step *s, int root, const char *path, const struct obj *o)
{
	AUTO_FREE char *key = NULL;
	struct touch *t;

	if (S_ISDIR(o->mode) || o->nlink < 2)
		return false;
	key = key_make(root, path);
	HASH_FIND_STR(s->touches, key, t);
	return t && !t->before.mode;
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

bool step_has_inode(const struct step *s, const struct stat *st)
{
	struct known *k;
	uint64_t key[2] = {(uint64_t)major(st->st_dev) << 32 | minor(st->st_dev), st->st_ino};

	HASH_FIND(hh, s->known, key, sizeof(key), k);
	return k && (k->flags & (KNOWN_CREATED | KNOWN_CONTENT));
}

/* ---- paths ------------------------------------------------------------------------------------
 */

bool step_touch(struct step *s, int root, const char *path, const struct obj *before)
{
	AUTO_FREE char *key = key_make(root, path);
	const struct known *k = before->nlink > 1 ? step_known(s, before) : NULL;
	struct touch *t;

	HASH_FIND_STR(s->touches, key, t);
	if (t)
		return false;
	t = xcalloc(1, sizeof(*t));
	t->path = take_ptr(&key);
	t->before = k && k->first ? *k->first : *before;
	HASH_ADD_KEYPTR(hh, s->touches, t->path, strlen(t->path), t);
	return true;
}

void step_dress(struct step *s, int root, const char *path)
{
	AUTO_FREE char *key = key_make(root, path);
	struct touch *t;

	HASH_FIND_STR(s->touches, key, t);
	if (t)
		t->dressed = true;
}

static bool tangled(const struct step *s, const struct step *other)
{
	if (other == s || !other->made)
		return false;
	if (s->moved || other->moved)
		return true;
	for (struct touch *t = s->touches; t; t = t->hh.next) {
		struct touch *same;

		HASH_FIND_STR(other->touches, t->path, same);
		if (same)
			return true;
	}
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
		n += HASH_COUNT(p->touches);
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
	struct known *k, *next_k;
	struct touch *t, *next_t;

	own_step(s);
	HASH_ITER (hh, s->known, k, next_k) {
		HASH_DEL(s->known, k);
		free(k->first);
		free(k);
	}
	HASH_ITER (hh, s->touches, t, next_t) {
		HASH_DEL(s->touches, t);
		free(t->path);
		free(t);
	}
	aliases_free(s);
	side_done(&s->side);
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
	} while (store_relieve(s->j, r));
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

int step_try_content(struct step *s, int root, const char *path, int dirfd, const char *name,
		     const struct obj *o)
{
	struct known *k = step_known(s, o);
	const char *slash = strrchr(path, '/');
	AUTO_FREE char *dir = xstrndup(path, slash ? (size_t)(slash - path) : 0);
	struct kept kept = {0};
	struct spot at;
	int r;

	if (!S_ISREG(o->mode) || (k && k->flags & (KNOWN_CREATED | KNOWN_CONTENT)))
		return 0;
	/* A clone costs nothing, however large the file. */
	kept.clone_only = !step_has_room(s, o->blocks * 512);
	if (!step_has_room(s, 0))
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
	step_holds_more(s, kept.cloned || !kept.slot ? 0 : kept.bytes);
	step_learn(s, o, KNOWN_CONTENT | KNOWN_META);
	if (s->j->dull) {
		AUTO_CLOSE int fd = data_open(dirfd, name);

		step_known(s, o)->hash = fd < 0 ? 0 : data_hash(fd, o->size);
	}
	return 0;
}

int step_keep_content(struct step *s, int root, const char *path, int dirfd, const char *name,
		      const struct obj *o)
{
	int r = step_try_content(s, root, path, dirfd, name, o);

	if (r != STEP_FULL)
		return r;
	step_unprotect(s, "write", path);
	return 0;
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
	j->state->next_id = MAX(j->state->next_id, (uint64_t)llabs(id) + 1);
	s->next = j->open;
	j->open = s;
	store_forget_near(j);
	return s;
}

int journal_begin_part(struct journal *j, struct step *of, struct step **ret, struct err *err)
{
	int r = undo_unstick(j, err);

	if (r < 0)
		return r;
	*ret = step_new(j, of->id, of);
	r = step_keep_writers(*ret, err);
	if (r < 0 && !(*ret)->made) /* else it stays: an empty part at worst */
		step_drop(*ret);
	return r;
}

/* Its files that are still being written: the step begins there, too. */
static int begin_with_writers(struct step *s, struct err *err)
{
	int r = step_keep_writers(s, err);

	for (struct journal *j = s->j->kin; r == 0 && j != s->j; j = j->kin) {
		struct step *part;

		if (j->writers)
			r = journal_begin_part(j, s, &part, err);
	}
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
	for (const struct journal *k = j->kin; k != j; k = k->kin)
		id = MAX(id, k->state->next_id);
	s = step_new(j, kind == STEP_AMBIENT ? -(int64_t)id : (int64_t)id, NULL);
	s->kind = kind;
	s->began_us = clock_wall_us();
	s->command = xstrdup(command ? command : "");
	r = begin_with_writers(s, err);
	if (r < 0) {
		struct err ignored = {0};

		if (journal_abort(s, &ignored) < 0)
			return err_wrap(err, r, "begin a step");
		return r;
	}
	*ret = s;
	return 0;
}

void step_set_command(struct step *s, const char *command)
{
	struct step *p = s;

	do {
		free(p->command);
		p->command = xstrdup(command);
	} while ((p = p->part) != s);
}
