/* attribution - tells whether a change seen in a folder was made by a step or from outside. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "core/journal/fs/object.h"
#include "core/journal/history/after_image.h"
#include "core/journal/journal.h"
#include "core/journal/step/expected_events.h"
#include "core/journal/step/open_files.h"
#include "core/journal/step/step.h"
#include "core/journal/step/touched_paths.h"
#include "core/journal/store/store.h"
#include "core/journal/util/path_set.h"

/*
 * Every name and every mode is changed by this process on behalf of a step, so what no open step
 * knows of is somebody else's. Only bytes are written behind our back, through descriptors that the
 * steps' processes hold: closing one is theirs as long as an inode is on the list of writers, and
 * when nobody has it open for writing any more it leaves the list. Not before all that is queued
 * has been judged: it may have been closed several times since.
 */

#define SEARCH_MAX                                                                                 \
	1000 /* touched paths that are looked through for an inode; those before are               \
		in a set */

static struct touch *touch_of(struct step *s, const char *key)
{
	return touches_find(&s->touches, key);
}

/* A file that a step only renamed is known by where it lay before. */
static bool came_from(struct step *s, const struct obj *o)
{
	size_t n = touches_count(&s->touches);

	/* Grows by an eighth at a time: it is sorted anew seldom enough. */
	if (n - s->n_came_from > SEARCH_MAX + s->n_came_from / 8) {
		for (size_t i = s->n_came_from; i < n; i++) {
			struct obj before;

			touch_before(&s->touches, &s->touches.list[i], &before);
			numbers_add(&s->came_from, before.ino);
		}
		numbers_sort(&s->came_from);
		s->n_came_from = n;
	}
	if (numbers_have(&s->came_from, o->ino))
		return true;
	for (size_t i = s->n_came_from; i < n; i++) {
		struct obj before;

		touch_before(&s->touches, &s->touches.list[i], &before);
		if (obj_same(&before, o))
			return true;
	}
	return false;
}

static bool is_known(struct journal *j, const struct obj *o)
{
	for (struct step *s = j->open; s; s = s->next)
		if (step_known(s, o) || alias_has(s, o) || came_from(s, o))
			return true;
	return false;
}

/* It was closed by its last writer, or by somebody who is none of the steps' processes. To look may
 * take bits that are lent, which is such an event itself: those are not looked at. */
static bool has_our_writer(struct journal *j, const char *path, const struct spot *at,
			   const struct obj *o, enum seen_what what)
{
	struct writer *w = S_ISREG(o->mode) ? writer_find(j, o) : NULL;
	bool told = w && w->told; /* it is on the list for the steps' sake alone */
	bool shut = !w && S_ISREG(o->mode) &&
		    (writer_was_shut(j, o) || (what == SEEN_CLOSED && writer_was_closed(j, o)));
	AUTO_CLOSE int fd = -1;

	if (shut) {
		writer_add(j, o, 0, path);
		w = writer_find(j, o);
	}
	if (!w || told)
		return false;
	if (what != SEEN_META) {
		fd = data_peek(j, at->fd, at->name);
		shut = fd >= 0 && !data_has_writer(fd);
	}
	if (shut)
		writer_shut(j, w);
	return true;
}

/* Of the close that was awaited: it was not that one, and what it wrote is older than this look. */
static bool was_told(struct journal *j, const struct obj *o, enum seen_what what)
{
	struct writer *w = what == SEEN_CLOSED && S_ISREG(o->mode) ? writer_find(j, o) : NULL;

	return w && w->told;
}

uint64_t journal_count_shut(const struct journal *j)
{
	return j->n_shut;
}

void journal_all_seen(struct journal *j)
{
	while (j->shut)
		writer_drop(j, j->shut);
	free(take_ptr(&j->named)); /* if it was to be told it would have been */
	writers_forget_closed(j);
}

/* A path of a rollback's: somebody has closed its file, who may have written to it after the
 * after-image. */
static bool is_edited(struct journal *j, const char *path)
{
	struct spot at;
	struct obj o;

	store_forget_near(j);
	return spot_look(j, 0, path, &at, &o) == 0 && placed_has(j, &o) &&
	       placed_is_edited(j, &o, true);
}

bool journal_is_foreign(struct journal *j, const char *path, enum seen_what what, int64_t since_ns)
{
	AUTO_FREE char *key = key_make(0, path);
	bool touched = false;
	struct touch *t;
	struct spot at = {.fd = -1};
	struct obj o;

	if (names_has(&j->own, 0, path))
		return what == SEEN_CLOSED && is_edited(j, path);
	if (is_expected(j, key, what))
		return false;
	for (struct step *s = j->open; s; s = s->next) {
		t = touch_of(s, key);
		if (t && t->foreseen)
			return false;
		touched |= t != NULL;
	}
	if (touched && what != SEEN_NAMED && what != SEEN_MOVED && what != SEEN_CLOSED)
		return false;
	store_forget_near(j);
	if (spot_look(j, 0, path, &at, &o) < 0 || o.mode == OBJ_UNSEEN)
		return false;
	if (touched && (!o.mode || S_ISDIR(o.mode)))
		return false;
	if ((what == SEEN_CLOSED || what == SEEN_META) && !o.mode)
		return false; /* it never had this name (O_TMPFILE), or its going is told as well */
	if (what == SEEN_CLOSED && o.mode && !S_ISREG(o.mode))
		return false; /* what goes through a FIFO stays nowhere */
	if (o.mode && (what == SEEN_CLOSED || what == SEEN_META) && o.ctime_ns < since_ns &&
	    !(touched && was_told(j, &o, what)))
		return false; /* opened for writing, and not written */
	/* Who may write to it has not given it a name that no step knows of. */
	if (o.mode && has_our_writer(j, path, &at, &o, what) && (touched || what != SEEN_NAMED))
		return false;
	if (!touched)
		return true;
	if (what != SEEN_CLOSED && is_known(j, &o))
		return false;
	for (struct step *s = j->open; s; s = s->next) {
		t = touch_of(s, key);
		if (t && !t->foreign)
			step_note_edit(s, key);
		if (t)
			t->foreign = true;
	}
	return true;
}

void step_find_edits(struct step *s)
{
	struct journal *j = s->j;

	store_forget_near(j);
	touches_settle(&s->touches);
	for (size_t i = 0; i < touches_count(&s->touches); i++) {
		AUTO_FREE char *key = xstrdup(touches_key(&s->touches, i));
		struct touch *t = &s->touches.list[i];
		struct spot at = {.fd = -1};
		const char *path;
		int root = key_root(key, &path);
		struct obj o;

		if (t->foreign || t->foreseen || spot_look(j, root, path, &at, &o) < 0 ||
		    !S_ISREG(o.mode) || is_known(j, &o) || writer_find(j, &o))
			continue;
		t->foreign = true;
		step_note_edit(s, key);
	}
	store_forget_near(j);
}

void journal_own(struct journal *j, bool on)
{
	journal_expect_nothing(j);
	names_done(&j->own);
	j->own = (struct names){0};
	j->owning = on;
	placed_end(j);
}

void own_step(struct step *s)
{
	if (s->j->owning)
		touches_settle(&s->touches);
	for (size_t i = 0; s->j->owning && i < touches_count(&s->touches); i++)
		names_add_key(&s->j->own, touches_key(&s->touches, i));
}

int journal_rescan(struct journal *j, void (*on)(void *data, const char *path), void *data)
{
	struct posts all;
	int r = post_load_all(j, &all);

	if (r < 0)
		return r;
	store_forget_near(j);
	for (size_t i = 0; i < posts_count(&all); i++) {
		bool open = false;
		struct post p;

		posts_get(&all, i, &p);
		for (struct step *s = j->open; s && !open; s = s->next)
			open = touch_of(s, p.key);
		if (!open && !p.root && !(p.flags & POST_FOREIGN) && post_differs(j, &p, NULL))
			on(data, p.path);
	}
	store_forget_near(j);
	posts_done(&all);
	return 0;
}
