/* open_files - inodes that a process may still have open for writing. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <string.h>
#include <unistd.h>
#include <utlist.h>

#include "core/journal/fs/borrow.h"
#include "core/journal/fs/object.h"
#include "core/journal/step/expected_events.h"
#include "core/journal/step/open_files.h"
#include "core/journal/step/step.h"
#include "core/journal/step/touched_inodes.h"
#include "core/journal/step/touched_paths.h"
#include "core/journal/steps.h"
#include "core/journal/store/reach.h"
#include "core/journal/store/roots.h"
#include "core/journal/store/store.h"
#include "core/journal/util/path_set.h"
#include "core/journal/util/rename_tree.h"
#include "core/os/file.h"

/*
 * Writes to an open file are not trapped, and belong to the step that is open at that time. So each
 * step begins by capturing the files that are open for writing at that moment (keep_content.c).
 * A file is known by inode and found by its names. All names that were seen are kept, because one
 * may be removed, and come back by an undo, while others stay. Renames of directories above are
 * applied when a name is needed, not at each rename. If all names of a file are gone, the roots are
 * searched for it once: a program outside may have moved it.
 */

#define NAMES_MAX 16   /* of one inode; the oldest is dropped */
#define ENOUGH	  8192 /* inodes; with more, the oldest are checked for a writer */
#define BATCH	  64
#define MOVES_MAX 4096	 /* beyond, all names are updated and the renames dropped */
#define SEEK_MAX  200000 /* entries searched for an unknown name */

struct open_file *open_file_find(struct journal *j, const struct object *o)
{
	uint64_t key[2] = {o->dev, o->ino};
	struct open_file *w;

	HASH_FIND(hh, j->writers, key, sizeof(key), w);
	return w && w->btime_ns == o->btime_ns ? w : NULL;
}

static void forget_names(struct journal *j, struct open_file *w)
{
	event_expect_no_close(j, w);
	while (w->n_names)
		free(w->names[--w->n_names]);
}

static void open_file_unshut(struct journal *j, struct open_file *w)
{
	if (w->shut)
		DL_DELETE2(j->shut, w, prev_shut, next_shut);
	w->shut = false;
}

void open_file_shut(struct journal *j, struct open_file *w)
{
	event_expect_no_close(j, w);
	if (w->shut)
		return;
	DL_APPEND2(j->shut, w, prev_shut, next_shut);
	w->shut = true;
	j->n_shut++;
}

/* Takes ownership of the key. Returns the file's copy of it. */
static const char *add_name(struct journal *j, struct open_file *w, char *key)
{
	event_expect_no_close(j, w);
	w->sought = w->nameless = false;
	for (size_t i = 0; i < w->n_names; i++)
		if (str_eq(w->names[i], key)) {
			free(key);
			return w->names[i];
		}
	if (w->n_names == NAMES_MAX) {
		free(w->names[0]);
		memmove(w->names, w->names + 1, --w->n_names * sizeof(*w->names));
	}
	w->names = xrealloc(w->names, (w->n_names + 1) * sizeof(*w->names));
	w->names[w->n_names++] = key;
	return key;
}

/* Adds a name of the file. Open steps that know the file touch the name, so that they compare it at
 * their end. */
static void add_place(struct journal *j, struct open_file *w, char *key,
		      const struct object *before)
{
	const struct object o = {.dev = w->key[0], .ino = w->key[1], .btime_ns = w->btime_ns};

	if (w->closes < w->opens) /* the next close by this name may be of another file */
		w->opens = OPENS_UNKNOWN;
	for (struct step *s = j->open; s; s = s->next)
		if (step_known(s, &o))
			touched_paths_add(&s->touches, key, before);
	add_name(j, w, key);
}

/* Updates the names by the renames of directories above them. */
static void catch_up(struct journal *j, struct open_file *w)
{
	static const struct object nothing;
	uint32_t then = w->then;
	char *now[NAMES_MAX];
	size_t n = 0;

	w->then = j->carried.now;
	for (size_t i = 0; i < w->n_names && then != w->then; i++) {
		const char *path;
		int root = path_key_root(w->names[i], &path);
		AUTO_FREE char *moved = xstrdup(path);

		rename_tree_follow(&j->carried, then, w->then, &root, &moved);
		now[n++] = path_key_make(root, moved);
	}
	for (size_t i = 0; i < n; i++)
		if (str_eq(now[i], w->names[i]))
			free(take_ptr(&now[i]));
	while (n--)
		if (now[n])
			add_place(j, w, now[n], &nothing);
}

void open_file_drop(struct journal *j, struct open_file *w)
{
	catch_up(j, w);
	HASH_DEL(j->writers, w);
	open_file_unshut(j, w);
	forget_names(j, w);
	free(w->names);
	free(w);
	if (!j->writers)
		rename_tree_done(&j->carried);
}

void open_file_named(struct journal *j, const struct object *o, int root, const char *path,
		     const struct object *before)
{
	struct open_file *w = open_file_find(j, o);

	if (!w)
		return;
	catch_up(j, w);
	add_place(j, w, path_key_make(root, path), before);
}

bool open_file_is_shared(struct open_file *w, int fd)
{
	if (w->closes < w->opens || !object_is_written(fd))
		return false;
	w->closes--;
	w->told = false;
	return true;
}

static void forget_moves(struct journal *j)
{
	struct open_file *w, *next;

	HASH_ITER (hh, j->writers, w, next) {
		catch_up(j, w);
		w->then = 0;
	}
	rename_tree_done(&j->carried);
}

void open_files_moved(struct journal *j, int root, const char *from, int root2, const char *to,
		      bool both)
{
	if (!j->writers)
		return;
	if (j->carried.now == MOVES_MAX)
		forget_moves(j);
	rename_tree_move(&j->carried, root, from, root2, to, both);
}

void open_file_gone(struct journal *j, const struct object *o)
{
	struct open_file *w = open_file_find(j, o);

	if (w)
		open_file_drop(j, w);
}

/* Returns 1 if the object at this spot is the file and has a writer, 0 if it has none, -ENOENT if
 * it is another object. */
static int look_at(struct journal *j, struct open_file *w, const struct spot *at, struct object *o)
{
	AUTO_CLOSE int fd = borrow_peek(j, at->fd, at->name);
	int r;

	r = fd < 0 ? object_stat(at->fd, at->name, o) : object_stat(fd, "", o);
	if (r < 0)
		return r;
	if (open_file_find(j, o) != w)
		return -ENOENT;
	return fd < 0 || object_has_writer(fd);
}

/* Like look_at(), by name. Also finds the file in a directory whose mode was changed to forbid
 * access. */
static int look_by(struct journal *j, struct open_file *w, struct reach *reach, const char *key,
		   struct spot *at, struct object *o)
{
	const char *path;
	int root = path_key_root(key, &path), r = root_find(j, root, path, at);

	if (r == 0)
		r = look_at(j, w, at, o);
	if (r != -EACCES)
		return r;
	r = reach_look(j, reach, root, path, at, o);
	return r == 0 && o->mode && o->mode != OBJECT_UNSEEN ? look_at(j, w, at, o) : -ENOENT;
}

/* Returns the entry of the step that opened the file, except of the step `ends`, which is
 * ending. */
static struct touched_inode *opened_by(struct journal *j, const struct open_file *w,
				       const struct step *ends)
{
	const struct object o = {.dev = w->key[0], .ino = w->key[1], .btime_ns = w->btime_ns};

	for (struct step *s = j->open; s; s = s->next) {
		struct touched_inode *k = s == ends ? NULL : step_known(s, &o);

		if (k && k->flags & TOUCHED_OPENED)
			return k;
	}
	return NULL;
}

static struct closed *find_closed(struct journal *j, const uint64_t key[2])
{
	struct closed *c;

	HASH_FIND(hh, j->closed, key, sizeof(c->key), c);
	return c;
}

static void note_closed(struct journal *j, const struct open_file *w)
{
	struct closed *c = find_closed(j, w->key);

	if (!c) {
		c = xcalloc(1, sizeof(*c));
		memcpy(c->key, w->key, sizeof(c->key));
		HASH_ADD(hh, j->closed, key, sizeof(c->key), c);
	}
	c->btime_ns = w->btime_ns;
}

bool open_file_was_closed(struct journal *j, const struct object *o)
{
	const uint64_t key[2] = {o->dev, o->ino};
	struct closed *c = find_closed(j, key);

	if (!c || c->btime_ns != o->btime_ns)
		return false;
	HASH_DEL(j->closed, c);
	free(c);
	return true;
}

void open_files_forget_closed(struct journal *j)
{
	struct closed *c, *next;

	HASH_ITER (hh, j->closed, c, next) {
		HASH_DEL(j->closed, c);
		free(c);
	}
}

/* Drops a file without a writer. Its close event may still be queued: until the event is judged,
 * the step that opened the file keeps a note of it, or the journal if that step has ended. */
static void drop_shut(struct journal *j, struct open_file *w, const struct step *ends)
{
	struct touched_inode *k = opened_by(j, w, ends);

	if (w->shut)
		return;
	if (k && !w->told)
		k->flags |= TOUCHED_SHUT;
	else if (!w->told)
		note_closed(j, w);
	open_file_drop(j, w);
}

const char *open_file_alive(struct journal *j, struct open_file *w, const struct step *ends,
			    struct reach *reach, struct spot *at, struct object *o)
{
	catch_up(j, w);
	for (size_t i = w->n_names; i-- > 0;) {
		int r = look_by(j, w, reach, w->names[i], at, o);

		if (r > 0) {
			w->sought = w->nameless = w->told = false;
			return w->names[i];
		}
		if (r == 0) {
			drop_shut(j, w, ends);
			return NULL;
		}
	}
	w->nameless = true;
	return NULL;
}

bool open_file_was_shut(struct journal *j, const struct object *o)
{
	for (struct step *s = j->open; s; s = s->next) {
		struct touched_inode *k = step_known(s, o);

		if (!k || !(k->flags & TOUCHED_SHUT))
			continue;
		k->flags &= ~(unsigned)TOUCHED_SHUT & TOUCHED_ALL;
		return true;
	}
	return false;
}

/* A command may write a hundred thousand files, one after the other. So the oldest ones are checked
 * as at the end of a step: files without writer leave the list, and the step notes them in fewer
 * bytes. The others move to the end of the list. */
static void thin_out(struct journal *j)
{
	struct open_file *w = j->writers, *next;
	size_t n = HASH_COUNT(j->writers);

	for (int i = 0; w && i < BATCH; i++, w = next) {
		struct reach reach = {0};
		struct spot at;
		struct object o;

		next = w->hh.next;
		if (opened_by(j, w, NULL)) {
			open_file_alive(j, w, NULL, &reach, &at, &o);
			reach_close(j, &reach);
			if (HASH_COUNT(j->writers) < n) {
				n--;
				continue;
			}
		}
		HASH_DEL(j->writers, w);
		HASH_ADD(hh, j->writers, key, sizeof(w->key), w);
	}
	j->writers_enough = n + BATCH;
}

static void add(struct journal *j, const struct object *o, int root, const char *path, bool opened)
{
	uint64_t key[2] = {o->dev, o->ino};
	const char *name;
	struct open_file *w;
	bool alone, shut;

	HASH_FIND(hh, j->writers, key, sizeof(key), w);
	alone = !w || w->btime_ns != o->btime_ns || w->told;
	if (!w) {
		w = xcalloc(1, sizeof(*w));
		memcpy(w->key, key, sizeof(key));
		w->then = j->carried.now;
		HASH_ADD(hh, j->writers, key, sizeof(w->key), w);
	} else if (w->btime_ns != o->btime_ns) {
		forget_names(j, w);
	}
	catch_up(j, w);
	if (alone)
		w->opens = w->closes = 0;
	w->btime_ns = o->btime_ns;
	w->told = false;
	open_file_unshut(j, w);
	name = add_name(j, w, path_key_make(root, path));
	shut = open_file_was_shut(j, o) || find_closed(j, key);
	/* If the file left the list while its close event was queued, two close events will
	 * come. */
	w->opens = opened && w->opens < OPENS_UNKNOWN ? w->opens + 1 + shut : OPENS_UNKNOWN;
	if (opened && alone && !shut)
		event_expect_close(j, w, name);
	if (HASH_COUNT(j->writers) > MAX(j->writers_enough, (size_t)ENOUGH))
		thin_out(j);
}

void open_file_add(struct journal *j, const struct object *o, int root, const char *path)
{
	add(j, o, root, path, false);
}

void open_file_opened(struct journal *j, const struct object *o, int root, const char *path)
{
	add(j, o, root, path, true);
}

static bool has_other_name(struct journal *j, struct open_file *w, const char *key)
{
	catch_up(j, w);
	for (size_t i = 0; i < w->n_names; i++) {
		const char *path;
		int root = path_key_root(w->names[i], &path);
		struct spot at;
		struct object o;

		if (!str_eq(w->names[i], key) && root_find(j, root, path, &at) == 0 &&
		    object_stat(at.fd, at.name, &o) == 0 && open_file_find(j, &o) == w)
			return true;
	}
	return false;
}

struct search { /* the files below a root */
	struct journal *j;
	int root;
	struct open_file *w; /* this file, by another name than: */
	const char *path;
	bool found;
};

/* Returns false if there are too many entries. fn returns true to end the search. */
static bool search_root(struct search *s,
			bool (*fn)(struct search *s, const struct stat *st, const char *path))
{
	char top[OS_FD_PATH], *argv[2] = {top, NULL};
	size_t skip, n = 0;
	FTSENT *e;
	FTS *fts;

	os_fd_path(top, store_root_fd(s->j, s->root));
	skip = strlen(top) + 1;
	fts = fts_open(argv, FTS_PHYSICAL | FTS_COMFOLLOW | FTS_NOCHDIR | FTS_XDEV, NULL);
	while (fts && (e = fts_read(fts)) && n++ < SEEK_MAX) {
		if (e->fts_info == FTS_D && s->j->inside &&
		    e->fts_statp->st_dev == s->j->store_dev &&
		    e->fts_statp->st_ino == s->j->store_ino)
			fts_set(fts, e, FTS_SKIP);
		if (e->fts_info == FTS_F && e->fts_level > 0 &&
		    fn(s, e->fts_statp, e->fts_path + skip))
			break;
	}
	if (fts)
		fts_close(fts);
	return n < SEEK_MAX;
}

static bool is_another_name(struct search *s, const struct stat *st, const char *path)
{
	if (st->st_ino != s->w->key[1] || str_eq(path, s->path))
		return false;
	add_name(s->j, s->w, path_key_make(s->root, path));
	return true;
}

bool open_file_seek(struct journal *j, struct open_file *w, int root, const char *path)
{
	struct search s = {.j = j, .root = root, .w = w, .path = path};
	AUTO_FREE char *key = path_key_make(root, path);

	return has_other_name(j, w, key) || search_root(&s, is_another_name);
}

static bool take_nameless(struct search *s, const struct stat *st, const char *path)
{
	uint64_t key[2] = {(uint64_t)major(st->st_dev) << 32 | minor(st->st_dev), st->st_ino};
	struct open_file *w;
	struct object o;

	HASH_FIND(hh, s->j->writers, key, sizeof(key), w);
	if (!w || !w->nameless || object_stat(store_root_fd(s->j, s->root), path, &o) < 0 ||
	    open_file_find(s->j, &o) != w)
		return false;
	add_name(s->j, w, path_key_make(s->root, path));
	s->found = true;
	return false;
}

bool open_files_seek_nameless(struct step *of)
{
	struct search s = {.j = of->j};
	struct open_file *w, *next;
	bool some = false, all = true;

	HASH_ITER (hh, s.j->writers, w, next) {
		some |= w->nameless && !w->sought;
		w->sought |= w->nameless;
	}
	for (; some && s.root < s.j->n_roots; s.root++)
		all &= search_root(&s, take_nameless);
	if (!all)
		step_mark_incomplete(of, NAME_UNKNOWN);
	return s.found;
}

void open_files_drop(struct journal *j)
{
	struct open_file *w, *next;

	HASH_ITER (hh, j->writers, w, next)
		open_file_drop(j, w);
	open_files_forget_closed(j);
}

void journal_no_writers(struct journal *j)
{
	struct journal *k = j;

	do
		open_files_drop(k);
	while ((k = k->sibling) != j);
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
