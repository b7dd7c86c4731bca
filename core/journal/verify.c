/* verify - checks that the store has everything undo needs: records, objects, summaries, images. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "core/base/io.h"
#include "core/base/path.h"
#include "core/base/text.h"
#include "core/journal/fs/object.h"
#include "core/journal/history.h"
#include "core/journal/history/after_image.h"
#include "core/journal/history/list.h"
#include "core/journal/history/step_summary.h"
#include "core/journal/log/undo_log.h"
#include "core/journal/step/parts.h"
#include "core/journal/store/compressed.h"
#include "core/journal/store/roots.h"
#include "core/journal/store/store.h"
#include "core/journal/upkeep.h"

struct check {
	struct journal *j;
	const char *dir; /* the step's, below the store */
	int fd, obj;
	uint64_t last_seq;
	struct journal_sound *sound;
	void (*say)(void *data, const char *words);
	void *data;
};

static PRINTF_LIKE(2, 3) void damaged(struct check *c, const char *fmt, ...)
{
	AUTO_BUF struct buf words = BUF_INIT;
	va_list ap;

	if (strchr(c->dir, '/') && history_step_is_gone(c->j, c->dir))
		return;
	buf_fmt(&words, "%s: ", c->dir);
	va_start(ap, fmt);
	buf_vfmt(&words, fmt, ap);
	va_end(ap);
	c->sound->damages++;
	c->say(c->data, words.data);
}

static void damaged_path(struct check *c, const char *path, const char *what)
{
	AUTO_BUF struct buf shown = BUF_INIT;

	text_escape(&shown, path, strlen(path));
	damaged(c, "'%s': %s", shown.data, what);
}

/* ---- logs -------------------------------------------------------------------------------------
 */

static const char *look_for_packed(const struct check *c, const char *slot)
{
	int e = compressed_check(c->obj, slot);

	if (e == -ENOENT)
		return "its old content is missing from the store";
	return e < 0 ? "its content cannot be unpacked" : NULL;
}

/* Returns the damage of the record's object, as words, or NULL. */
static const char *look_for(const struct check *c, const struct rec *r)
{
	struct object o;
	char slot[24];
	int e;

	store_slot_name(slot, r->slot);
	e = object_stat(c->obj, slot, &o);
	if (e < 0)
		return strerror(-e);
	if (!o.mode && r->type == REC_CONTENT)
		return look_for_packed(c, slot);
	if (!o.mode)
		return "its old content is missing from the store";
	if (r->type == REC_CONTENT && !S_ISREG(o.mode))
		return "its content is no file in the store";
	return NULL;
}

/* Returns whether a rollback moves the step: that of a session, or of a dead process. */
static bool is_on_its_way(const struct check *c)
{
	AUTO_FREE char *text = NULL;
	char *save = NULL, *line;

	if (io_read_file(c->j->store, ROLLBACK_FILE, (size_t)1 << 30, &text, NULL) < 0)
		return false;
	line = strtok_r(text, "\n", &save);
	while (line && !str_eq(line, c->dir))
		line = strtok_r(NULL, "\n", &save);
	return line;
}

/*
 * Checks a record's object. end: where the record ends in the log. A running rollback, newest
 * record first, moves a record's object to the folder before it removes the record, and writes the
 * record of an object before it moves that into the store. So the newest record's object may be
 * missing. Returns false if the log has changed since it was read.
 */
static bool check_object(struct check *c, const struct undo_log *log, const struct rec *r,
			 size_t end)
{
	const char *what;
	bool moves;

	/* No object was kept if a hard link of the same file replaced the name, or if the name
	 * existed again when it was to be restored. */
	if (c->obj < 0 || rec_is_idle(r) || !r->slot || r->flags & REC_INLINE ||
	    (r->type == REC_GONE && r->flags & (REC_LINKED | REC_ASIDE)) || r->type == REC_RENAME)
		return true;
	what = look_for(c, r);
	c->sound->objects += !what;
	moves = what && is_on_its_way(c); /* first: "rollback" outlasts all changes of the log */
	if (what && undo_log_has_changed(log))
		return false;
	if (what && !(moves && end == undo_log_tail(log)))
		damaged_path(c, r->path, what);
	return true;
}

static void check_record(struct check *c, const struct rec *r, bool first)
{
	struct span meta = {.data = ""}, bytes;

	c->sound->records++;
	if ((r->type == REC_STEP) != first)
		damaged(c, "record %" PRIu64 ": out of place", r->seq);
	if (!root_is_known(c->j, r->root) || !root_is_known(c->j, r->root2))
		damaged_path(c, r->path, "is below a directory that the store does not know");
	if (r->type == REC_CONTENT)
		undo_log_content(r, &meta, &bytes);
	if (r->type == REC_META || r->type == REC_CONTENT || r->type == REC_DIR_GONE)
		if (!attributes_are_sound(r->type == REC_CONTENT ? meta : r->meta))
			damaged_path(c, r->path, "its metadata cannot be read");
	c->last_seq = MAX(c->last_seq, r->seq);
}

static bool check_records(struct check *c, const struct undo_log *log, bool first)
{
	struct rec r;
	size_t at = 0;

	for (; undo_log_next(log, &at, &r); first = false) {
		check_record(c, &r, first);
		if (!check_object(c, log, &r, at))
			return false;
	}
	return true;
}

static void check_log(struct check *c, const char *name, bool must)
{
	const struct journal_sound before = *c->sound;
	struct undo_log log = UNDO_LOG_NONE;
	bool done = false;

	while (!done) {
		int e = undo_log_open(&log, c->fd, name, false, false);

		*c->sound = before;
		/* -ENODATA: an undo that was cut short before it began. */
		if ((e == -ENOENT || e == -ENODATA) && !must)
			return;
		if (e < 0) {
			damaged(c, "its %s log: %s", name,
				e == -EBADMSG ? "a record's checksum is wrong" : strerror(-e));
			return;
		}
		done = check_records(c, &log, str_eq(name, "undo"));
		undo_log_close(&log);
	}
}

/* ---- summaries and images ---------------------------------------------------------------------
 */

static void check_summary(struct check *c, bool *ret_images)
{
	AUTO_SUMMARY struct summary s = {0};
	size_t counts[4] = {0}, passing = 0;
	int e = summary_load(c->fd, true, &s);

	*ret_images = false;
	if (e < 0) {
		damaged(c, "its summary: %s", e == -EBADMSG ? "cannot be read" : strerror(-e));
		return;
	}
	*ret_images = !s.info.unprotected;
	if (s.info.id != atoll(strrchr(c->dir, '/') + 1))
		damaged(c, "its summary is that of step %" PRId64, s.info.id);
	for (size_t i = 0; i < s.n; i++) {
		const struct change *ch = &s.changes[i];

		if ((unsigned)ch->kind < ARRAY_LEN(counts))
			counts[ch->kind]++;
		passing += ch->kind == CHANGE_DELETED && path_saved_as(ch->path);
	}
	if (counts[CHANGE_CREATED] != s.info.created ||
	    counts[CHANGE_MODIFIED] != s.info.modified ||
	    counts[CHANGE_RENAMED] != s.info.renamed || counts[CHANGE_DELETED] < s.info.deleted ||
	    counts[CHANGE_DELETED] > s.info.deleted + passing)
		damaged(c, "its summary does not count what it lists");
}

static void check_after_image(struct check *c, int dir, const char *name, bool must)
{
	AUTO_IMAGE_READER struct after_image_reader reader;
	struct after_image p;
	int e = after_image_begin(&reader, dir, name);

	while (e >= 0 && (e = after_image_next(&reader, &p)) > 0)
		c->last_seq = MAX(c->last_seq, p.seq);
	if (e < 0 && (e != -ENOENT || must))
		damaged(c, "its image of the folder: %s",
			e == -EBADMSG ? "cannot be read" : strerror(-e));
}

/* ---- all of it --------------------------------------------------------------------------------
 */

static void check_step(struct check *c)
{
	bool undone = str_starts(c->dir, "redo/"), images;
	struct part_folders parts;

	c->obj = openat(c->fd, "obj", O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (c->obj < 0)
		damaged(c, "its objects: %s", strerror(errno));
	else
		c->sound->steps++;
	if (c->obj >= 0)
		check_log(c, "undo", true);
	if (c->obj >= 0)
		check_log(c, "redo", undone);
	check_summary(c, &images);
	check_after_image(c, c->fd, "post", images);
	check_after_image(c, c->fd, "left", false);
	if (parts_load(c->fd, &parts) < 0)
		damaged(c, "the list of its folders cannot be read");
	part_folders_free(&parts);
	util_close_fd(&c->obj);
}

/* Checks the log and images of a pruned step, which cannot be restored. */
static void check_gone(struct check *c)
{
	check_log(c, "undo", true);
	check_after_image(c, c->fd, "post", false);
}

static int check_all(struct check *c, const char *where)
{
	AUTO_NAMES struct names names = {0};
	int r = store_names(c->j, where, &names);

	for (size_t i = 0; r == 0 && i < names.n; i++) {
		AUTO_FREE char *dir = xasprintf("%s/%s", where, names.list[i]);

		c->dir = dir;
		if (str_eq(where, "posts")) {
			check_after_image(c, c->j->store, dir, false);
			continue;
		}
		c->fd = store_open_dir(c->j, dir);
		if (c->fd >= 0 && str_eq(where, BESIDE_DIR))
			check_gone(c);
		else if (c->fd >= 0)
			check_step(c);
		else if (c->fd != -ENOENT) /* a session has moved it */
			damaged(c, "%s", strerror(-c->fd));
		util_close_fd(&c->fd);
	}
	return r == -ENOENT && str_eq(where, BESIDE_DIR) ? 0 : r; /* an older version's store */
}

/* Checks that no number is given out again. A session may give out more meanwhile, so its steps are
 * read before its state. */
static void check_state(struct check *c)
{
	AUTO_CLOSE int fd = -1;
	uint64_t kept, undone;
	struct state state;

	store_highest(c->j, "steps", &kept);
	store_highest(c->j, "redo", &undone);
	fd = openat(c->j->store, "state", O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	c->dir = "state";
	if (fd < 0 || io_pread_full(fd, &state, sizeof(state), 0) != sizeof(state) ||
	    memcmp(state.magic, STATE_MAGIC, 8) != 0) {
		damaged(c, "cannot be read: the next start writes it again");
		return;
	}
	if (MAX(kept, undone) >= state.next_id)
		damaged(c, "would give a new step the number of an existing step");
	if (c->last_seq >= MAX(state.next_seq, state.reserved_seq))
		damaged(c, "would give a new record the number of an existing record");
}

int journal_verify(struct journal *j, void (*say)(void *data, const char *words), void *data,
		   struct journal_sound *ret, struct err *err)
{
	struct check c = {.j = j, .sound = ret, .say = say, .data = data, .fd = -1, .obj = -1};
	static const char *const where[] = {"steps", "redo", "posts", BESIDE_DIR};
	int r = 0;

	*ret = (struct journal_sound){0};
	for (size_t i = 0; r == 0 && i < ARRAY_LEN(where); i++) {
		r = check_all(&c, where[i]);
		if (r < 0)
			return err_set(err, r, "read '%s/%s'", j->store_path, where[i]);
	}
	check_state(&c);
	if (!ret->damages)
		return 0;
	return err_say(
		err, -EBADMSG,
		"the undo store '%s' is damaged in %zu place%s: undo what is sound, or throw "
		"it away with `cordon log --discard`",
		j->store_path, ret->damages, ret->damages == 1 ? "" : "s");
}
