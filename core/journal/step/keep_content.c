/* keep_content - captures the content of files before a step changes them, and of those that are
 * open for writing when it begins. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>

#include "core/base/text.h"
#include "core/journal/fs/borrow.h"
#include "core/journal/fs/object.h"
#include "core/journal/log/capture.h"
#include "core/journal/step/limits.h"
#include "core/journal/step/open_files.h"
#include "core/journal/step/step.h"
#include "core/journal/step/touched_inodes.h"
#include "core/journal/step/unkept.h"
#include "core/journal/steps.h"
#include "core/journal/store/reach.h"
#include "core/journal/store/roots.h"
#include "core/journal/store/store.h"
#include "core/journal/util/path_set.h"

#define NO_ROOM 1 /* the step's limits leave none for the content; nothing was done */

static void note_slot(struct step *s, const struct kept *kept)
{
	uint64_t **list = kept->cloned ? &s->clones : &s->copies;
	size_t *n = kept->cloned ? &s->n_clones : &s->n_copies;

	if (*n % 64 == 0)
		*list = xrealloc(*list, (*n + 64) * sizeof(**list));
	(*list)[(*n)++] = kept->slot;
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
		return NO_ROOM;
	r = step_make(s);
	/* Restoring the bytes may take a rename, which changes the directory's times. */
	if (r == 0 && root_find(s->j, root, path, &at) == 0)
		r = capture_touch_dir(&s->side, root, at.fd, dir);
	if (r == 0)
		r = capture_keep_content(&s->side, root, path, dirfd, name, o->ino, 0, &kept);
	if (r < 0)
		return r == -EOPNOTSUPP && kept.clone_only ? NO_ROOM : r;
	if (kept.slot)
		note_slot(s, &kept);
	if (kept.slot)
		step_holds_more(s, kept.cloned ? 0 : kept.bytes, true);
	else
		s->copied += o->size; /* in the log */
	/* The first captured state counts. While the file leaves a guarded name it is captured for
	 * that name alone, so a change through another hard link captures it anew. */
	if (!has_kept(s, o) && !(s->leaving && o->nlink > 1))
		step_learn(s, o, TOUCHED_CONTENT | TOUCHED_META)->hash = kept.hash;
	return 0;
}

static int try_content(struct step *s, int root, const char *path, int dirfd, const char *name,
		       const struct object *o)
{
	if (!S_ISREG(o->mode) || (has_kept(s, o) && !s->leaving))
		return 0;
	return keep_content(s, root, path, dirfd, name, o);
}

/* Like try_content(), but asks if there is no room. leaving: the file leaves a guarded name, and is
 * captured again. */
static int keep_beyond(struct step *s, int root, const char *path, int dirfd, const char *name,
		       const struct object *o, bool leaving)
{
	int r, more;

	do {
		s->leaving = leaving;
		r = try_content(s, root, path, dirfd, name, o);
		s->leaving = false;
		more = r == NO_ROOM ? step_go_beyond(s, o->blocks * 512, true) : 0;
	} while (more > 0);
	return more < 0 ? more : r;
}

int step_keep_again(struct step *s, int root, const char *path, int dirfd, const char *name,
		    const struct object *o)
{
	int r = keep_beyond(s, root, path, dirfd, name, o, true);

	if (r == NO_ROOM)
		step_unprotect(s, "rename", path, o->blocks * 512);
	return MIN(r, 0);
}

int step_keep_content(struct step *s, int root, const char *path, int dirfd, const char *name,
		      const struct object *o, bool may_spare)
{
	int r = keep_beyond(s, root, path, dirfd, name, o, false);

	if (r == NO_ROOM && !(may_spare && unkept_note(s, root, path, dirfd, name, o)))
		step_unprotect(s, "write", path, o->blocks * 512);
	return MIN(r, 0);
}

static void mark_path(struct step *s, const char *path, const char *words)
{
	AUTO_BUF struct buf why = BUF_INIT;

	buf_ch(&why, '\'');
	text_escape(&why, path, strnlen(path, 200));
	buf_str(&why, words);
	step_mark_incomplete(s, why.data);
}

int step_settle_content(struct step *s, int root, const char *path, int fd, const struct object *o)
{
	AUTO_CLOSE int in = borrow_open_file(s->j, fd, "");
	struct touched_inode *k = step_known(s, o);
	struct kept kept = {0};
	int r = in < 0 ? in : capture_settle(&s->side, root, path, in, &kept);

	if (kept.slot) { /* it was in the log */
		note_slot(s, &kept);
		step_holds_more(s, kept.cloned ? 0 : kept.bytes, true);
	}
	if (k)
		k->hash = 0;
	if (k && !s->side.last.is) /* no room for the new record */
		k->flags &= ~(unsigned)(TOUCHED_CONTENT | TOUCHED_META);
	if (r == -CAPTURE_MOVING) {
		mark_path(s, path,
			  "' was being written to by another program: what that wrote at the "
			  "moment of the change may be lost");
		r = 0;
	}
	return r;
}

/* ---- files that are open when the step begins --------------------------------------------------
 */

static bool written_by_other(const struct step *s, const struct object *o)
{
	for (struct step *other = s->j->open; other; other = other->next) {
		const struct touched_inode *k = other == s ? NULL : step_known(other, o);

		if (k && k->flags & TOUCHED_OPENED)
			return true;
	}
	return false;
}

static int keep_found(struct step *s, const char *name, const struct spot *at,
		      const struct object *o, struct err *err)
{
	const char *path;
	int root = path_key_root(name, &path), r;

	if (written_by_other(s, o)) /* another step's process still writes to it */
		return 0;
	r = try_content(s, root, path, at->fd, at->name, o);
	if (r == NO_ROOM) {
		/* This step's own changes are captured all the same; it only cannot restore this
		 * file. */
		mark_path(s, path,
			  "' is held open by an earlier command and is too large to keep once "
			  "more: what is written to it is not undone with this step");
		return 0;
	}
	if (r < 0)
		return err_set(err, r, "keep '%s', which is still being written", path);
	step_touch(s, root, path, o);
	return 0;
}

static int keep_writer(struct step *s, struct open_file *w, struct err *err)
{
	int r = -ESTALE;

	/* A program outside may be replacing the file at this name. */
	for (int i = 0; r == -ESTALE && i < 8; i++) {
		struct reach reach = {0};
		struct spot at;
		struct object o;
		const char *name = open_file_alive(s->j, w, NULL, &reach, &at, &o);

		r = name ? keep_found(s, name, &at, &o, err) : 0;
		reach_close(s->j, &reach);
	}
	return r;
}

int step_keep_writers(struct step *s, struct err *err)
{
	struct journal *j = s->j;
	struct open_file *w, *next;
	int r = 0;

	if (j->options.off)
		return 0;
	for (bool more = true, again = false; r == 0 && more; again = true) {
		HASH_ITER (hh, j->writers, w, next)
			if (r == 0)
				r = keep_writer(s, w, err);
		more = r == 0 && !again && open_files_seek_nameless(s);
	}
	return r;
}

static size_t adopt_writers(struct step *s)
{
	struct open_file *w, *next;
	size_t n = 0;

	HASH_ITER (hh, s->j->writers, w, next) {
		struct reach reach = {0};
		struct spot at;
		struct object o;
		bool alive = open_file_alive(s->j, w, NULL, &reach, &at, &o);

		reach_close(s->j, &reach);
		if (!alive || written_by_other(s, &o))
			continue;
		step_learn(s, &o, TOUCHED_OPENED);
		n++;
	}
	return n;
}

size_t step_adopt_writers(struct step *s)
{
	struct step *p = s;
	size_t n = 0;

	do
		n += adopt_writers(p);
	while ((p = p->part) != s);
	return n;
}

void open_files_pass_on(struct journal *j)
{
	for (struct step *s = j->open; s; s = s->next) {
		struct err err = {0};

		if (step_keep_writers(s, &err) < 0)
			step_mark_incomplete(s, err.text);
	}
}

bool step_prune_writers(struct step *s)
{
	struct journal *j = s->j;
	struct open_file *w, *next;
	bool lasting = false;

	j->writers_enough = 0;
	HASH_ITER (hh, j->writers, w, next) {
		struct reach reach = {0};
		struct spot at;
		struct object o;
		struct touched_inode *k;
		bool alive = open_file_alive(j, w, s, &reach, &at, &o);

		reach_close(j, &reach);
		if (!alive)
			continue;
		k = step_known(s, &o);
		if (k && k->flags & TOUCHED_OPENED)
			lasting = true;
	}
	return lasting;
}
