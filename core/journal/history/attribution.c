/* attribution - tells whether a change seen in a folder was made by a step or from outside. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "core/journal/edits.h"
#include "core/journal/fs/borrow.h"
#include "core/journal/fs/object.h"
#include "core/journal/history/after_image.h"
#include "core/journal/history/attribution.h"
#include "core/journal/step/edited.h"
#include "core/journal/step/expected_events.h"
#include "core/journal/step/hard_links.h"
#include "core/journal/step/open_files.h"
#include "core/journal/step/step.h"
#include "core/journal/step/touched_paths.h"
#include "core/journal/store/placed.h"
#include "core/journal/store/reach.h"
#include "core/journal/store/roots.h"
#include "core/journal/store/store.h"
#include "core/journal/util/path_set.h"
#include "core/journal/util/u64_set.h"

/*
 * This process changes all names and modes on behalf of the steps, so a change that no open step
 * knows is an external edit. Only bytes are written without this process, through descriptors that
 * the steps' processes hold. A close event belongs to the steps as long as its inode is on the list
 * of writers. A file without writer leaves the list, but only after all queued events were judged:
 * it may have been closed several times.
 */

#define SEARCH_MAX                                                                                 \
	1000 /* touched paths that are looked through for an inode; those before are               \
		in a set */

static struct touched_path *touch_of(struct step *s, const char *key)
{
	return touched_paths_find(&s->touches, key);
}

/* Returns whether a step renamed the file: a touched path's before-state has it. */
static bool came_from(struct step *s, const struct object *o)
{
	size_t n = touched_paths_count(&s->touches);

	/* Sorts only after a growth by an eighth. */
	if (n - s->n_came_from > SEARCH_MAX + s->n_came_from / 8) {
		for (size_t i = s->n_came_from; i < n; i++) {
			struct object before;

			touched_path_before(&s->touches, &s->touches.list[i], &before);
			u64_set_add(&s->came_from, before.ino);
		}
		u64_set_sort(&s->came_from);
		s->n_came_from = n;
	}
	if (u64_set_have(&s->came_from, o->ino))
		return true;
	for (size_t i = s->n_came_from; i < n; i++) {
		struct object before;

		touched_path_before(&s->touches, &s->touches.list[i], &before);
		if (object_same(&before, o))
			return true;
	}
	return false;
}

static bool is_known(struct journal *j, const struct object *o)
{
	for (struct step *s = j->open; s; s = s->next)
		if (step_known(s, o) || hard_link_has(s, o) || came_from(s, o))
			return true;
	return false;
}

/* Returns whether the event may be of a step's process that writes to the file. If the file has no
 * writer left, notes that. Does not look after a metadata event: a look may borrow mode bits, which
 * is such an event itself. */
static bool has_our_writer(struct journal *j, const char *path, const struct spot *at,
			   const struct object *o, enum seen_what what)
{
	struct open_file *w = S_ISREG(o->mode) ? open_file_find(j, o) : NULL;
	bool told = w && w->told; /* listed only for the steps */
	bool shut =
		!w && S_ISREG(o->mode) &&
		(open_file_was_shut(j, o) || (what == SEEN_CLOSED && open_file_was_closed(j, o)));
	AUTO_CLOSE int fd = -1;

	if (shut) {
		open_file_add(j, o, 0, path);
		w = open_file_find(j, o);
	}
	if (!w || told)
		return false;
	w->closes += what == SEEN_CLOSED;
	if (what != SEEN_META) {
		fd = borrow_peek(j, at->fd, at->name);
		shut = fd >= 0 && !object_has_writer(fd);
	}
	if (shut)
		open_file_shut(j, w);
	return shut || fd < 0 || !open_file_is_shared(w, fd);
}

/* Returns whether the expected close was reported before: this is another process's close, and its
 * bytes may be older than the last look. */
static bool was_told(struct journal *j, const struct object *o, enum seen_what what)
{
	struct open_file *w = what == SEEN_CLOSED && S_ISREG(o->mode) ? open_file_find(j, o) : NULL;

	return w && w->told;
}

void journal_watched(struct journal *j, const char *path)
{
	AUTO_FREE char *key = j->writers ? path_key_make(0, path) : NULL;
	AUTO_CLOSE int fd = -1;
	struct open_file *w;
	bool touched = false;
	struct spot at;
	struct object o;

	for (struct step *s = key ? j->open : NULL; s && !touched; s = s->next)
		touched = touch_of(s, key);
	if (!touched)
		return;
	store_forget_near(j);
	if (root_look(j, 0, path, &at, &o) < 0 || !S_ISREG(o.mode))
		return;
	w = open_file_find(j, &o);
	fd = w ? borrow_peek(j, at.fd, at.name) : -1;
	if (fd >= 0 && !object_has_writer(fd))
		open_file_shut(j, w);
}

uint64_t journal_count_shut(const struct journal *j)
{
	return j->n_shut;
}

void journal_all_seen(struct journal *j)
{
	while (j->shut)
		open_file_drop(j, j->shut);
	free(take_ptr(&j->named)); /* its event, if any, has been seen */
	open_files_forget_closed(j);
}

/* Returns whether the file at a rollback's path was edited, and closed, after its after-image. */
static bool is_edited(struct journal *j, const char *path)
{
	struct spot at;
	struct object o;

	store_forget_near(j);
	return root_look(j, 0, path, &at, &o) == 0 && placed_has(j, &o) &&
	       placed_is_edited(j, &o, true);
}

bool journal_is_foreign(struct journal *j, const char *path, enum seen_what what, int64_t since_ns)
{
	AUTO_FREE char *key = path_key_make(0, path);
	bool touched = false;
	struct touched_path *t;
	struct spot at = {.fd = -1};
	struct object o;

	if (path_set_has(&j->own, 0, path))
		return what == SEEN_CLOSED && is_edited(j, path);
	if (event_is_expected(j, key, what))
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
	if (root_look(j, 0, path, &at, &o) < 0 || o.mode == OBJECT_UNSEEN)
		return false;
	if (touched && (!o.mode || S_ISDIR(o.mode)))
		return false;
	if ((what == SEEN_CLOSED || what == SEEN_META) && !o.mode)
		return false; /* it never had this name (O_TMPFILE), or its removal has an event */
	if (what == SEEN_CLOSED && o.mode && !S_ISREG(o.mode))
		return false; /* a FIFO keeps no bytes */
	if (o.mode && (what == SEEN_CLOSED || what == SEEN_META) && o.ctime_ns < since_ns &&
	    !(touched && was_told(j, &o, what)))
		return false; /* opened for writing, and not written */
	/* A writer cannot have given the file a name that no step knows. */
	if (o.mode && has_our_writer(j, path, &at, &o, what) && (touched || what != SEEN_NAMED))
		return false;
	if (touched && what != SEEN_CLOSED && is_known(j, &o))
		return false;
	/* A file that the steps know may have got its name with a directory that was moved. */
	if (touched ||
	    (S_ISREG(o.mode) && (what == SEEN_CLOSED || (what == SEEN_NAMED && !is_known(j, &o)))))
		edited_note(j, key, &o);
	return true;
}

void journal_found(struct journal *j, const char *path)
{
	AUTO_FREE char *key = j->open ? path_key_make(0, path) : NULL;
	struct spot at;
	struct object o;

	if (!key || path_set_has(&j->own, 0, path) || root_look(j, 0, path, &at, &o) < 0 ||
	    !S_ISREG(o.mode) || is_known(j, &o) || open_file_find(j, &o))
		return;
	edited_note(j, key, &o);
}

/* Returns whether neither an open step nor a writer of one has put the object at a touched path. */
static bool is_replaced(struct journal *j, const struct touched_path *t, const char *key)
{
	struct spot at = {.fd = -1};
	const char *path;
	int root = path_key_root(key, &path);
	struct object o;

	return !t->foreign && !t->foreseen && root_look(j, root, path, &at, &o) == 0 &&
	       S_ISREG(o.mode) && !is_known(j, &o) && !open_file_find(j, &o);
}

static void find_edits(struct step *s, bool watched)
{
	struct journal *j = s->j;

	store_forget_near(j);
	touched_paths_settle(&s->touches);
	for (size_t i = 0; i < touched_paths_count(&s->touches); i++) {
		const char *touched = touched_paths_key(&s->touches, i), *path;
		AUTO_FREE char *key =
			watched || path_key_root(touched, &path) ? xstrdup(touched) : NULL;

		if (!key || !is_replaced(j, &s->touches.list[i], key))
			continue;
		s->touches.list[i].foreign = true;
		step_note_edit(s, key);
	}
	store_forget_near(j);
}

void attribution_find(struct step *s)
{
	find_edits(s, true);
}

void attribution_find_unwatched(struct step *s)
{
	if (s->j->n_roots > 1 && !s->tangled)
		find_edits(s, false);
}

void journal_own(struct journal *j, bool on)
{
	journal_expect_nothing(j);
	path_set_done(&j->own);
	j->own = (struct path_set){0};
	j->owning = on;
	placed_end(j);
}

/* Returns whether the path differs from its image, and no image shows the file there as it is. */
static bool is_changed(struct journal *j, const struct after_image *p,
		       const struct image_stamps *stamps)
{
	struct object o;

	return !p->root && !(p->flags & IMAGE_FOREIGN) && after_image_differs(j, p) &&
	       (!(p->flags & IMAGE_SHARED) || original_image_differs(j, p->id, p->key)) &&
	       !(reach_see(j, p->root, p->path, &o) == 0 && o.mode &&
		 image_stamps_find(stamps, &o));
}

int journal_rescan(struct journal *j, void (*on)(void *data, const char *path), void *data)
{
	struct image_stamps stamps = {0};
	struct after_images all;
	int r = after_images_load(j, &all);

	if (r < 0)
		return r;
	r = image_stamps_load(j, &stamps);
	store_forget_near(j);
	for (size_t i = 0; r == 0 && i < after_images_count(&all); i++) {
		bool open = false;
		struct after_image p;

		after_images_get(&all, i, &p);
		for (struct step *s = j->open; s && !open; s = s->next)
			open = touch_of(s, p.key);
		if (!open && is_changed(j, &p, &stamps))
			on(data, p.path);
	}
	store_forget_near(j);
	image_stamps_done(&stamps);
	after_images_done(&all);
	return r;
}
