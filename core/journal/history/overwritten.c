/* overwritten - saves files of other processes that one step changed, before and after the edit. */
/* SPDX-License-Identifier: MIT */
#include "core/journal/history/overwritten.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/io.h"
#include "core/base/text.h"
#include "core/journal/fs/object.h"
#include "core/journal/history/saved_redo.h"
#include "core/journal/log/capture.h"
#include "core/journal/log/undo_log.h"
#include "core/journal/step/edited.h"
#include "core/journal/store/compressed.h"
#include "core/journal/store/news.h"
#include "core/journal/store/reserve.h"
#include "core/journal/store/siblings.h"
#include "core/journal/store/store.h"
#include "core/journal/util/codec.h"
#include "core/journal/util/grow.h"
#include "core/journal/util/path_set.h"

/* ---- which records ----------------------------------------------------------------------------
 */

struct edits { /* paths that were edited since the step's last record about their content */
	struct path_set keys;
	bool *live; /* of the key of that number */
	size_t cap;
	struct codec_reader notes;
	uint64_t seq; /* of the next note */
	struct span key;
	bool more;
};

static void set_edited(struct edits *e, const char *key, bool live)
{
	bool added;
	size_t i = path_set_put(&e->keys, key, &added);

	if (added)
		GROW(e->live, e->cap, i);
	e->live[i] = live;
}

static void take_notes(struct edits *e, uint64_t before)
{
	for (; e->more && e->seq < before; e->more = edited_next(&e->notes, &e->seq, &e->key))
		set_edited(e, e->key.data, true);
}

/* Follows the record's rename. */
static void carry(struct edits *e, const struct rec *r)
{
	AUTO_PATH_SET struct path_set moved = {0};

	if (r->type != REC_RENAME && r->type != REC_XCHG)
		return;
	for (size_t i = 0; i < path_set_count(&e->keys); i++) {
		const char *path;
		int root = path_key_root(path_set_key(&e->keys, i), &path);
		AUTO_FREE char *now = e->live[i] ? xstrdup(path) : NULL;

		if (!now || !rec_carry(r, &root, &now))
			continue;
		e->live[i] = false;
		path_set_add(&moved, root, now);
	}
	for (size_t i = 0; i < path_set_count(&moved); i++)
		set_edited(e, path_set_key(&moved, i), true);
}

/* Returns whether the record holds an edited version of a file of the folder. */
static bool holds_edit(struct edits *e, const struct rec *r)
{
	AUTO_FREE char *key = NULL;
	size_t i;

	if (rec_is_idle(r) || !(rec_has_bytes(r) || r->type == REC_NEW))
		return false;
	key = path_key_make(r->root, r->path);
	i = path_set_find(&e->keys, key);
	if (i == PATH_SET_NONE || !e->live[i])
		return false;
	e->live[i] = false;
	return rec_has_bytes(r) && !r->root;
}

/* Finds these records; heap list. They are valid as long as the log and the notes. */
static size_t find(const struct undo_log *log, struct span notes, struct rec **ret)
{
	struct edits e = {.notes = {.p = notes.data, .end = notes.data + notes.len}};
	size_t at = 0, n = 0, cap = 0;
	struct rec r;

	*ret = NULL;
	e.more = edited_next(&e.notes, &e.seq, &e.key);
	while (undo_log_next(log, &at, &r)) {
		take_notes(&e, r.seq);
		carry(&e, &r);
		if (!holds_edit(&e, &r))
			continue;
		GROW(*ret, cap, n);
		(*ret)[n++] = r;
	}
	path_set_done(&e.keys);
	free(e.live);
	return n;
}

/* ---- copies -----------------------------------------------------------------------------------
 */

struct source { /* the step */
	int dir, obj;
	struct undo_log log;
	struct rec *list;
	size_t n;
};

struct target {
	int dir, obj;
	struct undo_log log; /* "redo" */
	size_t n;	     /* versions copied */
};

/* Returns whether the error is that of one version: an operation that was not performed, or another
 * user's file. */
static bool is_missing(int r)
{
	return r == -ENOENT || r == -EACCES || r == -EPERM;
}

/* Copies the bytes of the record. Returns the file's mode bits. */
static int copy_bytes(const struct source *from, const struct rec *r, int out)
{
	AUTO_CLOSE int in = -1;
	struct span meta, bytes;
	struct object o;
	char slot[24];
	int e;

	undo_log_content(r, &meta, &bytes);
	if (r->flags & REC_INLINE) {
		e = io_write_all(out, bytes.data, bytes.len);
		return e < 0 ? e : (int)(attributes_mode(meta) & 0777);
	}
	store_slot_name(slot, r->slot);
	e = object_stat(from->obj, slot, &o);
	if (e == 0 && o.mode && !S_ISREG(o.mode))
		return -ENOENT;
	in = e < 0 ? e : compressed_open(from->obj, slot);
	e = in < 0 ? in : object_copy_data(in, out);
	if (e < 0)
		return e;
	return (int)((r->type == REC_CONTENT ? attributes_mode(meta) : o.mode) & 0777);
}

static int copy_version(const struct source *from, const struct rec *r, struct target *to)
{
	struct rec rec = {.type = REC_CONTENT, .path = r->path, .seq = r->seq, .ino = r->ino};
	AUTO_CLOSE int out = -1;
	char slot[24];
	int mode;

	rec.slot = undo_log_slot(&to->log);
	store_slot_name(slot, rec.slot);
	out = openat(to->obj, slot, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	mode = out < 0 ? -errno : copy_bytes(from, r, out);
	if (is_missing(mode))
		return unlinkat(to->obj, slot, 0) < 0 ? -errno : 0;
	if (mode < 0)
		return mode;
	if (fchmod(out, (mode_t)mode | 0400) < 0) /* it is to be read again */
		return -errno;
	mode = undo_log_append(&to->log, &rec);
	to->n += mode == 0;
	return mode;
}

/* Copies the first record of the step's log. */
static int copy_head(const struct source *from, int dir)
{
	AUTO_UNDO_LOG struct undo_log to = UNDO_LOG_NONE;
	size_t at = 0;
	struct rec head;
	int r = undo_log_next(&from->log, &at, &head) && head.type == REC_STEP ? 0 : -EBADMSG;

	if (r == 0)
		r = undo_log_create(&to, dir, "undo");
	if (r == 0)
		r = undo_log_append(&to, &head);
	if (r == 0)
		undo_log_trim(&to);
	return r;
}

static int fill(const struct source *from, struct target *to)
{
	const struct roll roll = {from->list[0].seq, (uint64_t)clock_wall_us()};
	int r = copy_head(from, to->dir);

	if (r == 0)
		r = undo_log_create(&to->log, to->dir, "redo");
	if (r == 0)
		r = undo_log_set_roll(&to->log, &roll);
	for (size_t i = from->n; r == 0 && i-- > 0;)
		r = copy_version(from, &from->list[i], to);
	if (r == 0)
		undo_log_trim(&to->log);
	if (r == 0)
		r = io_write_file(to->dir, OVERWRITTEN_FILE, 0600, "", 0, false);
	return r;
}

static int make_dirs(struct journal *j, const char *work, const char *name, struct target *to)
{
	AUTO_FREE char *obj = xasprintf("%s/obj", name);

	if (mkdirat(j->store, work, 0700) < 0 || mkdirat(j->store, name, 0700) < 0 ||
	    mkdirat(j->store, obj, 0700) < 0)
		return -errno;
	to->dir = store_open_dir(j, name);
	to->obj = store_open_dir(j, obj);
	return to->dir < 0 ? to->dir : MIN(to->obj, 0);
}

/* Saves the versions in the step's directory, then moves them to their place by one rename. */
static int save(struct journal *j, const char *dir, const struct source *from)
{
	AUTO_FREE char *saved = xasprintf("saved/%" PRIu64, from->list[0].seq);
	AUTO_FREE char *work = xasprintf("%s/saved", dir);
	AUTO_FREE char *name = xasprintf("%s%s", work, strrchr(dir, '/'));
	struct target to = {.dir = -1, .obj = -1, .log = UNDO_LOG_NONE};
	int r = store_trash(j, work); /* left by a failed try */

	if (r == -ENOENT)
		r = make_dirs(j, work, name, &to);
	if (r == 0)
		r = fill(from, &to);
	undo_log_close(&to.log);
	util_close_fd(&to.dir);
	util_close_fd(&to.obj);
	if (r == 0 && to.n && mkdirat(j->store, "saved", 0700) < 0 && errno != EEXIST)
		r = -errno;
	if (r == 0 && to.n && renameat(j->store, work, j->store, saved) < 0)
		r = -errno;
	if (r < 0 && store_trash(j, work) == 0)
		store_empty_trash(j, NULL);
	return r;
}

static int open_source(struct journal *j, const char *dir, struct source *ret, char **notes)
{
	size_t len = 0;
	int r;

	ret->dir = store_open_dir(j, dir);
	r = ret->dir < 0 ? ret->dir : io_read_file(ret->dir, EDITED_FILE, EDITED_MAX, notes, &len);
	if (r < 0)
		return r == -ENOENT ? 0 : r;
	ret->obj = openat(ret->dir, "obj", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	r = ret->obj < 0 ? -errno : undo_log_open(&ret->log, ret->dir, "undo", false, true);
	if (r == 0)
		ret->n = find(&ret->log, (struct span){.data = *notes, .len = len}, &ret->list);
	return r;
}

static bool is_saved(const struct journal *j, const struct source *from)
{
	AUTO_FREE char *saved = xasprintf("saved/%" PRIu64, from->list[0].seq);

	return faccessat(j->store, saved, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

/* Says that the version of this path is not saved, or, if NULL, that none of the step is. */
static void say_lost(struct journal *j, const char *dir, const char *path, int r)
{
	AUTO_BUF struct buf shown = BUF_INIT;

	j->urgent = true;
	if (!path) {
		journal_say(j,
			    "your versions of files that step %s then overwrote are not saved: "
			    "its list of your edits cannot be read: %s",
			    strrchr(dir, '/') + 1, strerror(-r));
		return;
	}
	text_escape(&shown, path, strnlen(path, 200));
	journal_say(j, "your version of '%s', which a step then overwrote, is not saved: %s",
		    shown.data, strerror(-r));
}

void overwritten_save(struct journal *j, const char *dir)
{
	struct source from = {.dir = -1, .obj = -1, .log = UNDO_LOG_NONE};
	AUTO_FREE char *notes = NULL;
	int r = open_source(j, dir, &from, &notes);

	if (r == 0 && from.n && !is_saved(j, &from)) {
		do
			r = save(j, dir, &from);
		while (r < 0 && reserve_give(j, r));
		if (r == 0)
			saved_redo_fit(j);
		else
			say_lost(j, dir, from.list[0].path, r);
	} else if (r < 0) {
		say_lost(j, dir, NULL, r);
	}
	free(from.list);
	undo_log_close(&from.log);
	util_close_fd(&from.dir);
	util_close_fd(&from.obj);
}
