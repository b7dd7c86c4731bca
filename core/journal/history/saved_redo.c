/* saved_redo - keeps steps that can no longer be redone but hold bytes that nothing else has. */
/* SPDX-License-Identifier: MIT */
#include "core/journal/history/saved_redo.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/io.h"
#include "core/base/log.h"
#include "core/base/path.h"
#include "core/journal/fs/object.h"
#include "core/journal/history.h"
#include "core/journal/history/list.h"
#include "core/journal/history/overwritten.h"
#include "core/journal/history/step_summary.h"
#include "core/journal/log/undo_log.h"
#include "core/journal/rollback.h"
#include "core/journal/step/step.h"
#include "core/journal/store/compressed.h"
#include "core/journal/store/reserve.h"
#include "core/journal/store/roots.h"
#include "core/journal/store/siblings.h"
#include "core/journal/store/store.h"
#include "core/journal/store/usage.h"
#include "core/journal/util/codec.h"
#include "core/journal/util/path_set.h"
#include "core/os/beneath.h"
#include "core/os/file.h"

#define NOTE_FILE "holds"
#define NOTE_MAX  ((size_t)64 << 20)
#define PATHS_MAX 100 /* listed of one */

/* ---- saving -----------------------------------------------------------------------------------
 */

/* Adds the paths of records that the rollback skipped: the content before the steps is only there.
 * Granted places are not added: their records are for a redo alone. */
static void add_left_out(const struct journal *j, const struct undo_log *redo, struct path_set *to)
{
	size_t at = 0;
	struct rec r;

	while (undo_log_next(redo, &at, &r))
		if (rec_is_left_out(&r) && rec_has_bytes(&r) && root_is_own(j, r.root))
			path_set_add(to, r.root, r.path);
}

int saved_redo_mark(struct journal *j, int stepdir, const struct undo_log *redo,
		    const struct path_set *replaced, bool unknown)
{
	AUTO_PATH_SET struct path_set held = {0};
	AUTO_BUF struct buf b = BUF_INIT;
	int r;

	if (!unknown || path_set_count(replaced)) /* an empty note stands for all paths */
		add_left_out(j, redo, &held);
	for (size_t i = 0; i < path_set_count(replaced); i++)
		path_set_add_key(&held, path_set_key(replaced, i));
	if (!path_set_count(&held) && !unknown)
		return 0;
	for (size_t i = 0; i < path_set_count(&held); i++)
		codec_put_str(&b, path_set_key(&held, i), strlen(path_set_key(&held, i)));
	do
		r = io_write_file(stepdir, NOTE_FILE, 0600, b.data ? b.data : "", b.len, false);
	while (r < 0 && reserve_give(j, r));
	return r;
}

int saved_redo_unmark(int stepdir)
{
	return unlinkat(stepdir, NOTE_FILE, 0) < 0 && errno != ENOENT ? -errno : 0;
}

bool saved_redo_is_marked(const struct journal *j, const char *dir)
{
	AUTO_FREE char *note = xasprintf("%s/" NOTE_FILE, dir);

	return faccessat(j->store, note, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

void saved_redo_fit(struct journal *j)
{
	uint64_t sum = 0, most = j->options.size ? j->options.size / 4 : UINT64_MAX;
	AUTO_NAMES struct names names = {0};

	if (store_names(j, "saved", &names) < 0)
		return;
	for (size_t i = names.n; i-- > 0;) {
		AUTO_FREE char *dir = xasprintf("saved/%s", names.list[i]);

		sum += store_holds_below(j, dir, store_held);
		if (i + 1 < names.n && (names.n - i > SAVED_REDO_MOST || sum > most) &&
		    store_trash(j, dir) < 0)
			log_warn("journal", "'%s' stays", dir);
	}
}

int saved_redo_take(struct journal *j, const char *dir)
{
	AUTO_CLOSE int fd = store_open_dir(j, dir);
	AUTO_FREE char *all = NULL, *to = NULL;
	struct roll roll;
	int r = fd < 0 ? fd : undo_log_peek_roll(fd, "redo", &roll);

	if (r < 0)
		return history_step_is_damaged(r) ? store_trash(j, dir) : r;
	all = xasprintf("saved/%" PRIu64, roll.number);
	to = xasprintf("%s/%s", all, strrchr(dir, '/') + 1);
	if ((mkdirat(j->store, "saved", 0700) < 0 && errno != EEXIST) ||
	    (mkdirat(j->store, all, 0700) < 0 && errno != EEXIST) ||
	    renameat(j->store, dir, j->store, to) < 0)
		return -errno;
	saved_redo_fit(j);
	return 0;
}

/* ---- reading ----------------------------------------------------------------------------------
 */

struct part { /* one of the steps */
	int dir, obj;
	struct undo_log log;
	size_t at;
	struct rec rec; /* the next one, if `more` */
	bool more;
	bool seen; /* find_between() has looked at its version */
};

struct parts {
	struct part *list;
	size_t n;
};

static void parts_done(struct parts *p)
{
	for (size_t i = 0; i < p->n; i++) {
		undo_log_close(&p->list[i].log);
		close(p->list[i].dir);
		close(p->list[i].obj);
	}
	free(p->list);
}

static int parts_open(struct journal *j, const char *saved, struct parts *ret)
{
	AUTO_NAMES struct names names = {0};
	int r = store_names(j, saved, &names);

	ret->list = xcalloc(names.n + 1, sizeof(*ret->list));
	for (size_t i = 0; r == 0 && i < names.n; i++) {
		AUTO_FREE char *dir = xasprintf("%s/%s", saved, names.list[i]);
		struct part *p = &ret->list[ret->n++];

		*p = (struct part){.log = UNDO_LOG_NONE, .obj = -1};
		p->dir = store_open_dir(j, dir);
		p->obj = openat(p->dir, "obj", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		r = p->dir < 0 ? p->dir : undo_log_open(&p->log, p->dir, "redo", false, true);
	}
	return r;
}

static void rewind_all(struct parts *p)
{
	for (size_t i = 0; i < p->n; i++) {
		p->list[i].at = 0;
		p->list[i].more = undo_log_next(&p->list[i].log, &p->list[i].at, &p->list[i].rec);
		p->list[i].seen = false;
	}
}

/* Returns the step with the next record, in the order of the rollback; NULL: there are no more. */
static struct part *next(struct parts *p, struct rec *ret)
{
	struct part *first = NULL;

	for (size_t i = 0; i < p->n; i++)
		if (p->list[i].more && (!first || p->list[i].rec.seq < first->rec.seq))
			first = &p->list[i];
	if (!first)
		return NULL;
	*ret = first->rec;
	first->more = undo_log_next(&first->log, &first->at, &first->rec);
	return first;
}

static int open_inline(const struct rec *r)
{
	AUTO_CLOSE int mem = os_memory_file("cordon-saved");
	struct span meta, bytes;
	int e;

	undo_log_content(r, &meta, &bytes);
	e = mem < 0 ? -errno : io_pwrite_all(mem, bytes.data, bytes.len, 0);
	return e < 0 ? e : take_fd(&mem);
}

/* Opens the object that the record has put away, or the object `rest` below it. */
static int open_object(const struct part *p, const struct rec *r, const char *rest)
{
	AUTO_FREE char *path = NULL;
	char slot[24];
	int fd;

	if (r->flags & REC_INLINE)
		return open_inline(r);
	store_slot_name(slot, r->slot);
	if (!*rest)
		return compressed_open(p->obj, slot);
	path = xasprintf("%s%s", slot, rest);
	fd = os_open_beneath(p->obj, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK,
			     RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS);
	return fd < 0 ? -errno : fd;
}

/*
 * Opens the object that was at the path before the rollback: the first record that has put it away
 * has it. If the rollback left the path as it was, or if the path did not exist, opens the oldest
 * state of the steps, which the last record has. newer: how many versions that a step overwrote are
 * passed over. *seq: number of the record.
 */
static int find(struct parts *all, const char *path, size_t newer, uint64_t *seq)
{
	AUTO_FREE char *now = xstrdup(path);
	struct part *p, *with = NULL;
	struct rec r, oldest = {0};
	bool absent = false;
	int root = 0; /* it stays 0: other records are passed over */

	rewind_all(all);
	while ((p = next(all, &r))) {
		bool out = rec_is_left_out(&r);

		if (r.root || (!out && (rec_is_idle(&r) || r.flags & REC_ASIDE)))
			continue;
		if (rec_has_bytes(&r) &&
		    (out ? str_eq(path, r.path) : absent && str_eq(now, r.path))) {
			with = p;
			oldest = r;
		}
		*seq = r.seq;
		if (out)
			continue;
		absent |= r.type == REC_NEW && str_eq(now, r.path);
		if (!r.root2)
			rec_carry(&r, &root, &now);
		if (r.type == REC_GONE && !absent && path_is_beneath(now, r.path))
			return open_object(p, &r, now + strlen(r.path));
		if (rec_has_bytes(&r) && !absent && str_eq(now, r.path) && !newer--)
			return open_object(p, &r, "");
	}
	*seq = oldest.seq;
	return with ? open_object(with, &oldest, "") : -ENOENT;
}

/* Returns the part of the name below the record's object, "" for the object itself; NULL: another
 * file. */
static const char *below(const struct rec *r, const char *name)
{
	bool there = r->type == REC_GONE ? path_is_beneath(name, r->path)
					 : rec_has_bytes(r) && str_eq(name, r->path);

	return there ? name + strlen(r->path) : NULL;
}

/* Returns whether the step has left the file with this size and time at one of the names, or none
 * at any. */
static bool is_as_left(const struct part *p, const struct path_set *names, const struct stat *st)
{
	AUTO_SUMMARY struct summary s = {0};
	bool any = summary_load(p->dir, true, &s) < 0;

	for (size_t i = 0; i < s.n; i++) {
		const struct change *c = &s.changes[i];

		if (!c->after.exists || !path_set_has(names, c->root, c->path))
			continue;
		if (c->after.size == (uint64_t)st->st_size &&
		    c->after.mtime_ns == OS_MTIME(st).tv_sec * 1000000000 + OS_MTIME(st).tv_nsec)
			return true;
		any = true;
	}
	return !any;
}

/* Adds the names before the record's rename. A file may have come to its name by it, or may have
 * been at this name before. */
static void carry_names(struct path_set *names, const struct rec *r)
{
	for (size_t i = 0, n = path_set_count(names); i < n; i++) {
		const char *path;
		int root = path_key_root(path_set_key(names, i), &path);
		AUTO_FREE char *now = xstrdup(path);

		if (rec_carry(r, &root, &now))
			path_set_add(names, root, now);
	}
}

/* Opens the file that the record has put away, if a program outside has written it after the
 * record's step: it is not as the step left it. */
static int open_edited(struct part *p, const struct rec *r, const struct path_set *names)
{
	const char *rest = NULL, *path;
	AUTO_CLOSE int fd = -1;
	struct span meta, bytes;
	struct stat st;

	for (size_t i = 0; i < path_set_count(names) && !rest; i++)
		if (path_key_root(path_set_key(names, i), &path) == 0)
			rest = below(r, path);
	if (!rest || p->seen)
		return -ENOENT;
	p->seen = true;
	fd = open_object(p, r, rest);
	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return -ENOENT;
	if (r->type == REC_CONTENT) { /* the copy has a time of its own */
		undo_log_content(r, &meta, &bytes);
		OS_MTIME(&st).tv_sec = attributes_mtime(meta) / 1000000000;
		OS_MTIME(&st).tv_nsec = attributes_mtime(meta) % 1000000000;
	}
	return is_as_left(p, names, &st) ? -ENOENT : take_fd(&fd);
}

/* Opens a version that was written between two of the steps: the rollback has put it away after
 * that of the newer step. but: number of the record that find() took. */
static int find_between(struct parts *all, const char *path, size_t newer, uint64_t but)
{
	AUTO_PATH_SET struct path_set names = {0};
	struct part *p;
	struct rec r;

	path_set_add(&names, 0, path);
	rewind_all(all);
	while ((p = next(all, &r))) {
		AUTO_CLOSE int fd = -1;

		if (r.root || rec_is_idle(&r) || r.flags & REC_ASIDE)
			continue;
		fd = open_edited(p, &r, &names);
		if (fd >= 0 && r.seq != but && !newer--)
			return take_fd(&fd);
		carry_names(&names, &r);
	}
	return -ENOENT;
}

static bool is_file(int fd)
{
	struct stat st;

	return fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
}

static void add_path(struct saved_redo *a, struct parts *all, const char *path)
{
	AUTO_CLOSE int fd = -1;
	uint64_t seq;

	if (a->n_paths == PATHS_MAX)
		a->more = true;
	if (a->more)
		return;
	fd = find(all, path, 0, &seq);
	if (!is_file(fd))
		return;
	a->paths = xrealloc(a->paths, (a->n_paths + 1) * sizeof(*a->paths));
	a->paths[a->n_paths++] = xstrdup(path);
}

static bool is_overwritten(const struct parts *all)
{
	return all->n && faccessat(all->list[0].dir, OVERWRITTEN_FILE, F_OK, 0) == 0;
}

/* Reads the note of one step. Returns false if the step has none; *all: the note names no path. */
static bool add_noted(const struct part *p, struct path_set *to, bool *all)
{
	AUTO_FREE char *text = NULL;
	size_t len = 0;
	struct codec_reader g;

	if (io_read_file(p->dir, NOTE_FILE, NOTE_MAX, &text, &len) < 0)
		return false;
	*all |= !len;
	g = (struct codec_reader){.p = text, .end = text + len};
	while (g.p < g.end && !g.bad) {
		struct span key = codec_get_str(&g);

		if (!g.bad)
			path_set_add_key(to, key.data);
	}
	return true;
}

/* Adds the paths that the rollback noted. Without a note, adds each path whose bytes it has put
 * away or left out. */
static void add_paths(struct saved_redo *a, struct parts *all)
{
	AUTO_PATH_SET struct path_set set = {0};
	bool noted = a->overwritten, any = noted;
	struct rec r;

	for (size_t i = 0; i < all->n; i++)
		noted |= add_noted(&all->list[i], &set, &any);
	rewind_all(all);
	while (noted && any && next(all, &r) && path_set_count(&set) <= PATHS_MAX)
		if (rec_has_bytes(&r) && (!rec_is_idle(&r) || rec_is_left_out(&r)))
			path_set_add(&set, r.root, r.path);
	for (size_t i = 0; i < path_set_count(&set); i++) {
		const char *path;

		if (path_key_root(path_set_key(&set, i), &path) == 0)
			add_path(a, all, path);
	}
}

static void describe(struct saved_redo *a, struct parts *all)
{
	struct step_info info = {0};
	AUTO_UNDO_LOG struct undo_log log = UNDO_LOG_NONE;
	struct roll roll;

	if (undo_log_peek_roll(all->list[0].dir, "redo", &roll) == 0)
		a->us = (int64_t)roll.us;
	if (undo_log_open(&log, all->list[all->n - 1].dir, "undo", false, true) == 0 &&
	    step_read_head(&log, &info)) {
		a->step = info.id;
		a->command = take_ptr(&info.command);
	}
	a->overwritten = is_overwritten(all);
	add_paths(a, all);
}

int journal_saved_redos(struct journal *j, struct saved_redo **ret, size_t *ret_n, struct err *err)
{
	AUTO_NAMES struct names names = {0};
	int r = store_names(j, "saved", &names);

	*ret = xcalloc(names.n + 1, sizeof(**ret));
	*ret_n = 0;
	for (size_t i = names.n; r == 0 && i-- > 0;) {
		AUTO_FREE char *dir = xasprintf("saved/%s", names.list[i]);
		struct saved_redo *a = &(*ret)[*ret_n];
		struct parts all = {0};

		a->number = strtoull(names.list[i], NULL, 10);
		if (parts_open(j, dir, &all) == 0 && all.n)
			describe(a, &all);
		*ret_n += a->n_paths > 0;
		if (!a->n_paths)
			free(take_ptr(&a->command));
		parts_done(&all);
	}
	return r < 0 && r != -ENOENT ? err_set(err, r, "read the history of '%s'", j->folder) : 0;
}

void saved_redos_free(struct saved_redo *list, size_t n)
{
	for (size_t i = 0; list && i < n; i++) {
		for (size_t k = 0; k < list[i].n_paths; k++)
			free(list[i].paths[k]);
		free(list[i].paths);
		free(list[i].command);
	}
	free(list);
}

uint64_t journal_saved_of(struct journal *j, int64_t step, const char *path)
{
	struct saved_redo *list = NULL;
	struct err ignored = {0};
	uint64_t number = 0;
	size_t n = 0;
	int r = journal_saved_redos(j, &list, &n, &ignored);

	for (size_t i = 0; r == 0 && i < n && !number; i++)
		for (size_t k = 0; list[i].overwritten && k < list[i].n_paths; k++)
			if (list[i].step == step && str_eq(list[i].paths[k], path))
				number = list[i].number;
	saved_redos_free(list, n);
	return number;
}

int journal_saved_redo_open(struct journal *j, uint64_t number, const char *path, size_t newer,
			    int *ret_fd, struct err *err)
{
	AUTO_FREE char *dir = xasprintf("saved/%" PRIu64, number);
	struct parts all = {0};
	AUTO_CLOSE int fd = -1;
	uint64_t seq = 0;
	int r = parts_open(j, dir, &all);
	bool own = r == 0 && is_overwritten(&all);

	fd = r < 0 ? r : find(&all, path, own ? newer : 0, &seq);
	if (r == 0 && newer && !own) {
		util_close_fd(&fd);
		fd = find_between(&all, path, newer - 1, seq);
	}
	parts_done(&all);
	if (!is_file(fd))
		return err_say(err, -ENOENT,
			       "nothing of '%s' was saved as %" PRIu64
			       ": `cordon log` lists what was",
			       path, number);
	*ret_fd = take_fd(&fd);
	return 0;
}
