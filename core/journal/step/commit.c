/* commit - commits a step, in several stores as one if it changed several folders. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/io.h"
#include "core/base/log.h"
#include "core/journal/history/after_image.h"
#include "core/journal/history/net_changes.h"
#include "core/journal/history/newest_toucher.h"
#include "core/journal/history/rename_list.h"
#include "core/journal/history/step_summary.h"
#include "core/journal/journal.h"
#include "core/journal/log/undo_log.h"
#include "core/journal/rollback/undo.h"
#include "core/journal/step/open_files.h"
#include "core/journal/step/step.h"
#include "core/journal/step/touched_paths.h"
#include "core/journal/store/store.h"
#include "core/journal/util/path_set.h"
#include "core/journal/util/u64_set.h"

/*
 * Every part has the file "parts" in its directory as soon as there are two: the folders, each with
 * a NUL behind it. Committing is decided by one rename, that of the part in the first folder of the
 * list; all others are ready by then, and whoever finds one of them left open (SIGKILL between two
 * renames) looks there whether the step was kept: then this part is, too, or goes, if it came to
 * nothing (it has no summary), else it is rolled back. Until that is settled the list has all of
 * them, for what is rolled back can be redone, and that as one; of a kept step it has those that
 * are kept.
 */

void folders_free(struct folders *f)
{
	while (f->n)
		free(f->list[--f->n]);
}

int folders_load(int dirfd, const char *name, struct folders *ret)
{
	AUTO_FREE char *text = NULL;
	size_t len = 0;
	int r = io_read_file(dirfd, name, (size_t)1 << 20, &text, &len);

	*ret = (struct folders){0};
	if (r == -ENOENT)
		return 0;
	if (r == 0 && (len < 2 || text[len - 1]))
		r = -EBADMSG;
	for (char *p = text; r == 0 && p < text + len; p += strlen(p) + 1) {
		if (ret->n == PARTS_MAX || *p != '/')
			r = -EBADMSG;
		else
			ret->list[ret->n++] = xstrdup(p);
	}
	if (r < 0)
		folders_free(ret);
	return r;
}

int parts_load(int stepdir, struct folders *ret)
{
	return folders_load(stepdir, PARTS_FILE, ret);
}

static int parts_write(const struct step *s, const struct buf *names)
{
	if (names->len)
		return io_write_file(s->side.dir, PARTS_FILE, 0600, names->data, names->len,
				     s->j->options.durable);
	return unlinkat(s->side.dir, PARTS_FILE, 0) < 0 && errno != ENOENT ? -errno : 0;
}

int parts_announce(struct step *s)
{
	AUTO_BUF struct buf names = BUF_INIT;
	struct step *p;
	int r;

	for (p = s->part; p != s; p = p->part)
		if (p->made)
			buf_add(&names, p->j->folder, strlen(p->j->folder) + 1);
	if (!names.len)
		return 0;
	buf_add(&names, s->j->folder, strlen(s->j->folder) + 1);
	r = parts_write(s, &names);
	for (p = s->part; r == 0 && p != s; p = p->part)
		if (p->made)
			r = parts_write(p, &names);
	return r;
}

/* ---- commit -----------------------------------------------------------------------------------
 */

struct ending { /* of one part */
	struct step *s;
	struct step_info info;
	struct nets nets;
	bool keep, lasting; /* lasting: some of its files are still being written */
};

static int write_post(struct step *s, bool locked)
{
	struct names moved = {0}, carried = {0}, edited = {0};
	struct moves moves = {0};
	int r;

	moves_add(&moves, &s->side.log);
	moves_sort(&moves);
	r = post_moved(s->j, &moves, &moved);
	if (r == 0)
		r = post_moved_on(s, &carried);
	for (size_t i = 0; i < names_count(&carried); i++)
		names_add_key(&moved, names_key(&carried, i));
	if (r == 0)
		r = post_write(s->j, s->side.dir, &moved,
			       &(struct post_how){.step = s,
						  .locked = locked,
						  .carried = &carried,
						  .edited = s->noted ? &edited : NULL});
	moves_done(&moves);
	names_done(&moved);
	names_done(&carried);
	names_done(&edited);
	return r;
}

/* What did this part change in the end? */
static int ending_look(struct ending *e, struct step *s, int exit_status)
{
	int r = 0;

	*e = (struct ending){.s = s};
	store_forget_near(s->j);
	if (s->why) /* it changed nothing that was recorded; the mark must not be lost */
		r = step_make(s);
	if (r < 0 || !s->made)
		return r;
	e->info = (struct step_info){.id = s->id,
				     .kind = s->kind,
				     .began_us = s->began_us,
				     .ended_us = clock_wall_us(),
				     .exit_status = exit_status,
				     .incomplete = s->why,
				     .command = xstrdup(s->command),
				     .why = s->why ? xstrdup(s->why) : NULL,
				     .unprotected = s->bare ? xstrdup(s->bare) : NULL};
	e->lasting = step_prune_writers(s);
	touches_settle(&s->touches);
	r = nets_build(s->j, &s->touches, &s->known, false, &e->nets);
	nets_count(&e->nets, &e->info);
	step_tangle(s);
	e->keep = e->nets.n || e->nets.unseen || e->lasting || s->why || s->tangled;
	return r;
}

static int ending_write(struct ending *e)
{
	int r = summary_write(e->s->j, e->s->side.dir, &e->info, false, &e->nets);

	/* Nothing will be compared with the images of a step of which nothing is kept. */
	if (r == 0 && !e->s->j->options.off)
		r = write_post(e->s, e->nets.locked);
	return r < 0 ? r : held_note(e->s);
}

/* Of one that is not kept: of a commit that failed. */
static int ending_unwrite(struct ending *e)
{
	return unlinkat(e->s->side.dir, "summary", 0) < 0 && errno != ENOENT ? -errno : 0;
}

static int publish(struct journal *j, int64_t id)
{
	AUTO_FREE char *from = xasprintf("open/%" PRId64, id);
	AUTO_FREE char *to = xasprintf("steps/%" PRId64, id);

	return renameat(j->store, from, j->store, to) < 0 ? -errno : 0;
}

/* It is at its place; should the disk not tell, it is not told to have been kept. */
static int sync_published(struct step *s)
{
	if (sync_names(s->j) < 0)
		log_warn("journal", "step %" PRId64 " may not be on the disk yet", s->id);
	return 0;
}

/* What was undone before can no longer be redone, in all stores of the session. */
static void end_redo(struct journal *j)
{
	struct journal *k = j;

	do {
		int r = 0;

		do
			r = k->doomed ? redo_end(k) : 0;
		while (r < 0 && room_give(k, r));
		k->stuck |= r < 0;
	} while ((k = k->sibling) != j);
}

/* The folders of those that are kept, or of the others that began. */
static size_t ending_folders(const struct ending *list, size_t n, bool keep, struct buf *names)
{
	size_t found = 0;

	for (size_t i = 0; i < n; i++) {
		const struct step *s = list[i].s;

		if (!s->made || list[i].keep != keep)
			continue;
		buf_add(names, s->j->folder, strlen(s->j->folder) + 1);
		found++;
	}
	return found;
}

/* All that the next start has to know, whichever way it then goes. */
static int endings_write(struct ending *list, size_t n)
{
	AUTO_BUF struct buf names = BUF_INIT;
	size_t made = ending_folders(list, n, true, &names);
	int r = 0;

	made += ending_folders(list, n, false, &names);
	if (made < 2)
		buf_clear(&names);
	for (size_t i = 0; r == 0 && i < n; i++) {
		if (!list[i].s->made)
			continue;
		r = list[i].keep ? ending_write(&list[i]) : ending_unwrite(&list[i]);
		if (r == 0)
			r = parts_write(list[i].s, &names);
	}
	return r;
}

/* Parts that came to nothing go, and what is kept does not speak of them any more. */
static void endings_settle(struct ending *list, size_t n)
{
	AUTO_BUF struct buf names = BUF_INIT;
	bool any = false, gone = true;

	if (ending_folders(list, n, true, &names) < 2)
		buf_clear(&names);
	for (size_t i = 0; i < n; i++) {
		AUTO_FREE char *dir = xasprintf("open/%" PRId64, list[i].s->id);

		if (!list[i].s->made || list[i].keep)
			continue;
		any = true;
		if (store_trash(list[i].s->j, dir) == 0)
			continue;
		list[i].s->j->stuck = true;
		gone = false;
	}
	for (size_t i = 0; any && gone && i < n; i++)
		if (list[i].keep && parts_write(list[i].s, &names) < 0)
			log_warn("journal",
				 "step %" PRId64 " names folders that it left as they were",
				 list[i].s->id);
}

/* What there is to say of all parts: at least 1, a mark or an open file may be all. */
static int endings_changed(const struct ending *list, size_t n)
{
	size_t sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += list[i].info.created + list[i].info.modified + list[i].info.deleted +
		       list[i].info.renamed;
	return (int)MIN(MAX(sum, (size_t)1), (size_t)INT_MAX);
}

/* It changed granted places alone: what an agent notes down while it runs is no new work, and what
 * was undone can still be redone. Where that is not known it is. */
static bool is_only_notes(const struct ending *list, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct ending *e = &list[i];

		if (e->keep && (e->info.incomplete || e->info.unprotected || e->lasting ||
				e->nets.unseen || !nets_elsewhere(&e->nets)))
			return false;
	}
	return true;
}

/* Everything that can fail for want of space comes first; then one rename that decides. */
static int endings_keep(struct ending *list, size_t n)
{
	struct ending *first = NULL;
	int r = 0;

	for (size_t i = n; i-- > 0;)
		if (list[i].keep)
			first = &list[i];
	if (first)
		r = endings_write(list, n);
	for (struct journal *j = list->s->j; r == 0 && first && !is_only_notes(list, n);
	     j = j->sibling) {
		r = redo_doom(j, first->s);
		if (j->sibling == list->s->j)
			break;
	}
	for (size_t i = 0; r == 0 && first && i < n; i++)
		if (list[i].s->made)
			r = sync_all(list[i].s->j);
	if (r == 0 && first)
		r = publish(first->s->j, first->s->id);
	if (r == 0 && first)
		r = sync_published(first->s);
	for (size_t i = 0; r == 0 && i < n; i++)
		if (list[i].keep && &list[i] != first && publish(list[i].s->j, list[i].s->id) < 0)
			list[i].s->j->stuck = true; /* decided: whoever looks next goes on */
	if (r == 0 && first)
		end_redo(list->s->j);
	if (r == 0)
		endings_settle(list, n);
	return r < 0 ? r : first != NULL;
}

/* Whose disk is full is not known. */
static bool give_room(struct journal *j, int why)
{
	struct journal *k = j;
	bool given = false;

	do
		given |= room_give(k, why);
	while ((k = k->sibling) != j);
	return given;
}

static void ending_done(struct ending *e)
{
	nets_done(&e->nets);
	free(e->info.command);
	free(e->info.why);
	free(e->info.unprotected);
}

static void ending_clean(struct ending *e)
{
	struct journal *j = e->s->j;
	int64_t id = e->s->id;
	int r;

	if (e->keep)
		wal_trim(&e->s->side.log);
	step_drop(e->s);
	if (e->lasting)
		writers_pass_on(j);
	r = e->keep ? store_grew(j, id) : 0;
	if (r < 0)
		log_warn("journal", "the oldest steps of '%s' stay: %s", j->folder, strerror(-r));
	if (!j->tidy)
		store_empty_trash(j, NULL);
}

static void tell_changes(const struct step *s, const struct ending *e)
{
	const struct journal *j = e->s->j;

	for (size_t i = 0; i < e->nets.n; i++) {
		struct change c;

		nets_get(&e->nets, i, &c);
		if (e->s != s || c.root > 0)
			c.base = j->roots[c.root].path;
		s->witness->change(s->witness_data, &c);
	}
}

static void tell_witness(const struct step *s, struct ending *list, size_t n)
{
	const char *name;

	if (!s->witness)
		return;
	s->witness->begin(s->witness_data);
	for (size_t i = 0; i < n; i++)
		tell_changes(s, &list[i]);
	name = s->witness->name(s->witness_data);
	for (size_t i = 0; name && i < n; i++) {
		if (!list[i].info.command)
			continue;
		free(list[i].info.command);
		list[i].info.command = xstrdup(name);
	}
}

int journal_commit(struct step *s, int exit_status, struct err *err)
{
	struct ending list[PARTS_MAX];
	struct step *p = s;
	int64_t id = s->id;
	mode_t mask = umask(077);
	size_t n = 0;
	int r = 0;

	step_settle(s);
	do
		r = ending_look(&list[n++], p, exit_status);
	while (r == 0 && (p = p->part) != s);
	if (r == 0)
		tell_witness(s, list, n);
	if (r == 0)
		do
			r = endings_keep(list, n);
		while (r < 0 && give_room(list->s->j, r));
	umask(mask);
	if (r > 0)
		r = endings_changed(list, n);
	for (size_t i = 0; i < n; i++) {
		struct journal *j = list[i].s->j;

		ending_done(&list[i]);
		if (r >= 0)
			ending_clean(&list[i]);
		room_refill(j);
	}
	if (r < 0) /* the step stays open; it may go on, and be committed later */
		return err_set(err, r, "keep step %" PRId64, id);
	return r;
}

/* ---- the other ends -------------------------------------------------------------------------- */

/* The captures that the step's begin made, of files that others have open. */
static void find_spared(const struct step *s, struct numbers *ret)
{
	struct rec r;
	size_t at = 0;

	while (s->made && s->spares && wal_next(&s->side.log, &at, &r) && r.seq <= s->began_with)
		if (r.type == REC_CONTENT)
			numbers_add(ret, r.seq);
}

/* To redo/, as an undo would leave it, and away from there unless it is to be kept. */
static int abort_part(struct step *s, bool keep, const struct roll *roll, struct err *err)
{
	AUTO_FREE char *dir = xasprintf("open/%" PRId64, s->id);
	AUTO_FREE char *undone = xasprintf("redo/%" PRId64, s->id);
	struct journal *j = s->j;
	struct numbers spared = {0};
	bool made = s->made;
	struct stat st;
	int r = 0;

	find_spared(s, &spared);
	if (made)
		step_find_edits(s);
	step_untangle(s);
	step_drop(s);
	if (made)
		r = undo_open_step(j, dir, roll, &spared, err);
	numbers_done(&spared);
	if (made && r == 0 && keep)
		r = fstatat(j->store, undone, &st, AT_SYMLINK_NOFOLLOW) < 0 ? -errno : 0;
	else if (made && r == 0)
		r = store_drop_undone(j, undone);
	store_empty_trash(j, NULL);
	if (r == -ENOENT)
		return err_say(err, -EIO, "the step could not be rolled back: it is kept");
	return r;
}

static int abort_all(struct step *s, bool keep, struct err *err)
{
	struct roll roll = siblings_roll(s->j);
	int r = 0;

	for (bool last = false; !last;) {
		struct step *p = s->part;
		int e;

		last = p == s;
		e = abort_part(p, keep, &roll, r < 0 ? NULL : err);
		r = r < 0 ? r : e;
	}
	return MIN(r, 0);
}

int journal_abort(struct step *s, struct err *err)
{
	return abort_all(s, false, err);
}

int journal_roll_back(struct step *s, struct err *err)
{
	return abort_all(s, true, err);
}

bool parts_kept(struct journal *j, const char *folder, int64_t id, int64_t began_us)
{
	const struct journal_spec spec = {
		.folder = folder, .state_dir = j->state_dir, .read_only = true};
	AUTO_FREE char *store = NULL;
	AUTO_FREE char *dir = NULL;
	AUTO_CLOSE int fd = -1;
	struct summary s = {0};
	bool same;

	if (journal_store_path(&store, &spec, NULL) < 0)
		return false;
	dir = xasprintf("%s/steps/%" PRId64, store, id);
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0 || summary_load(fd, false, &s) < 0)
		return false;
	same = s.info.began_us == began_us;
	summary_done(&s);
	return same;
}

/* Was the step of this open part kept where that is decided? */
static bool is_decided(struct journal *j, int dirfd)
{
	struct folders parts = {0};
	struct step_info head = {0};
	struct wal log = WAL_NONE;
	bool yes = false;

	if (parts_load(dirfd, &parts) == 0 && parts.n && !str_eq(parts.list[0], j->folder) &&
	    wal_open(&log, dirfd, "undo", false, true) == 0 && step_read_head(&log, &head))
		yes = parts_kept(j, parts.list[0], head.id, head.began_us);
	wal_close(&log);
	free(head.command);
	folders_free(&parts);
	return yes;
}

int parts_settle(struct journal *j, const char *dir)
{
	AUTO_CLOSE int fd = store_open_dir(j, dir);
	int r;

	if (fd < 0 || !is_decided(j, fd))
		return 0;
	if (faccessat(fd, "summary", F_OK, 0) == 0)
		r = publish(j, atoll(strrchr(dir, '/') + 1));
	else
		r = errno == ENOENT ? store_trash(j, dir) : -errno;
	return r < 0 ? r : 1;
}
