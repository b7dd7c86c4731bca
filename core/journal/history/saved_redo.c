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
#include "core/journal/history.h"
#include "core/journal/history/list.h"
#include "core/journal/history/saved_versions.h"
#include "core/journal/log/undo_log.h"
#include "core/journal/rollback.h"
#include "core/journal/step/step.h"
#include "core/journal/store/reserve.h"
#include "core/journal/store/roots.h"
#include "core/journal/store/siblings.h"
#include "core/journal/store/store.h"
#include "core/journal/store/usage.h"
#include "core/journal/util/codec.h"
#include "core/journal/util/path_set.h"

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

static void add_path(struct saved_redo *a, struct saved_parts *all, const char *path)
{
	AUTO_CLOSE int fd = -1;

	if (a->n_paths == PATHS_MAX)
		a->more = true;
	if (a->more)
		return;
	fd = saved_version_open(all, path, 0);
	if (fd < 0)
		return;
	a->paths = xrealloc(a->paths, (a->n_paths + 1) * sizeof(*a->paths));
	a->paths[a->n_paths++] = xstrdup(path);
}

/* Reads the note of one step. Returns false if the step has none; *all: the note names no path. */
static bool add_noted(const struct saved_part *p, struct path_set *to, bool *all)
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
static void add_paths(struct saved_redo *a, struct saved_parts *all)
{
	AUTO_PATH_SET struct path_set set = {0};
	bool noted = a->overwritten, any = noted;
	struct rec r;

	for (size_t i = 0; i < all->n; i++)
		noted |= add_noted(&all->list[i], &set, &any);
	saved_parts_rewind(all);
	while (noted && any && saved_parts_next(all, &r) && path_set_count(&set) <= PATHS_MAX)
		if (rec_has_bytes(&r) && (!rec_is_idle(&r) || rec_is_left_out(&r)))
			path_set_add(&set, r.root, r.path);
	for (size_t i = 0; i < path_set_count(&set); i++) {
		const char *path;

		if (path_key_root(path_set_key(&set, i), &path) == 0)
			add_path(a, all, path);
	}
}

static void describe(struct saved_redo *a, struct saved_parts *all)
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
	a->overwritten = saved_is_overwritten(all);
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
		struct saved_parts all = {0};

		a->number = strtoull(names.list[i], NULL, 10);
		if (saved_parts_open(j, dir, &all) == 0 && all.n)
			describe(a, &all);
		*ret_n += a->n_paths > 0;
		if (!a->n_paths)
			free(take_ptr(&a->command));
		saved_parts_done(&all);
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
	struct saved_parts all = {0};
	AUTO_CLOSE int fd = -1;
	int r = saved_parts_open(j, dir, &all);

	fd = r < 0 ? r : saved_version_open(&all, path, newer);
	saved_parts_done(&all);
	if (fd < 0)
		return err_say(err, -ENOENT,
			       "nothing of '%s' was saved as %" PRIu64
			       ": `cordon log` lists what was",
			       path, number);
	*ret_fd = take_fd(&fd);
	return 0;
}
