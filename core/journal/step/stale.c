/* stale - rollbacks that cannot be redone any more: a step is kept that came after them. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "core/base/io.h"
#include "core/journal/priv.h"

/* What its paths look like now may be known through the post-image of an undone step alone. */
static int keep_post(struct journal *j, const char *dir)
{
	AUTO_FREE char *post = xasprintf("%s/post", dir);
	AUTO_FREE char *kept = xasprintf("posts/%" PRIu64, store_seq(j));

	if (linkat(j->store, post, j->store, kept, 0) < 0 && errno != ENOENT &&
	    renameat(j->store, post, j->store, kept) < 0)
		return -errno;
	return 0;
}

int store_drop_undone(struct journal *j, const char *dir)
{
	int r = keep_post(j, dir);

	return r < 0 ? r : store_trash(j, dir);
}

/* All at once: one redo may bring back several steps, which make no sense without each other. */
static int trash_redo(struct journal *j)
{
	AUTO_FREE char *empty = xasprintf("trash/%" PRIu64, store_seq(j));

	if (mkdirat(j->store, empty, 0700) < 0)
		return -errno;
	return move_exchange(j->store, "redo", j->store, empty);
}

static int clear(struct journal *j)
{
	char **names = NULL;
	size_t n = 0;
	int r;

	r = store_names(j, "redo", &names, &n);
	for (size_t i = 0; r == 0 && i < n; i++) {
		AUTO_FREE char *dir = xasprintf("redo/%s", names[i]);

		r = keep_post(j, dir);
	}
	if (r == 0 && n)
		r = trash_redo(j);
	store_names_free(names, n);
	return r;
}

/* ---- when a step is kept -----------------------------------------------------------------------
 */

/*
 * It clears what was undone, in the stores of all the session's folders or in none of them: one
 * redo may bring back parts of several. So each store that has something gets the file "doomed"
 * first, which names the step and the folder where it is decided (parts.c). Whoever finds one looks
 * there whether the step was kept.
 */
#define DOOMED_FILE "doomed"

int redo_doom(struct journal *j, const struct step *by)
{
	AUTO_BUF struct buf b = BUF_INIT;
	char **names = NULL;
	size_t n = 0;
	int r = store_names(j, "redo", &names, &n);

	store_names_free(names, n);
	if (r < 0 || !n)
		return r;
	put_u64(&b, (uint64_t)by->id);
	put_u64(&b, (uint64_t)by->began_us);
	put_str(&b, by->j->folder, strlen(by->j->folder));
	r = io_write_file(j->store, DOOMED_FILE, 0600, b.data, b.len, j->options.durable);
	j->doomed |= r == 0;
	return r;
}

static int spare(struct journal *j)
{
	if (unlinkat(j->store, DOOMED_FILE, 0) < 0 && errno != ENOENT)
		return -errno;
	j->doomed = false;
	return 0;
}

int redo_end(struct journal *j)
{
	int r = clear(j);

	if (r == 0)
		r = sync_names(j);
	return r < 0 ? r : spare(j);
}

int redo_settle(struct journal *j)
{
	AUTO_FREE char *text = NULL;
	struct get g;
	struct span folder;
	size_t len = 0;
	int64_t id, began_us;
	int r = io_read_file(j->store, DOOMED_FILE, 65536, &text, &len);

	if (r < 0)
		return r == -ENOENT ? 0 : r;
	g = (struct get){.p = text, .end = text + len};
	id = (int64_t)get_u64(&g);
	began_us = (int64_t)get_u64(&g);
	folder = get_str(&g);
	return !g.bad && parts_kept(j, folder.data, id, began_us) ? redo_end(j) : spare(j);
}

/* ---- when one was not --------------------------------------------------------------------------
 */

/*
 * A step that was interrupted, and rolled back at the next start, leaves what was undone: until a
 * redo brings it back. What had been undone before it began would then come back over it, and the
 * order of the history would be that of nothing that ever was.
 */

/* When the last of the kept steps began, as a number of the store. One whose log cannot be read
 * says nothing. */
static int newest_begin(struct journal *j, uint64_t *ret)
{
	char **names = NULL;
	size_t n = 0;
	int r = store_names(j, "steps", &names, &n);

	*ret = 0;
	for (size_t i = 0; r == 0 && i < n; i++) {
		AUTO_FREE char *dir = xasprintf("steps/%s", names[i]);
		AUTO_CLOSE int fd = store_open_dir(j, dir);
		struct wal log = WAL_NONE;

		if (fd >= 0 && log_look(j, &log, fd, "undo") == 0)
			*ret = MAX(*ret, overlap_began(&log));
		wal_close(&log);
	}
	store_names_free(names, n);
	return r;
}

/* What has gone in one store goes in all: a rollback, and a step with all that was rolled back with
 * any part of it. */
struct gone {
	struct undone {
		struct roll roll;
		int64_t id, began_us; /* 0: it cannot have parts elsewhere, or cannot be read */
	} * list;
	size_t n;
};

static int read_undone(struct journal *j, int dirfd, struct undone *ret)
{
	struct step_info step = {0};
	struct wal log = WAL_NONE;
	int r;

	if (j->kin != j && log_look(j, &log, dirfd, "undo") == 0)
		step_read_head(&log, &step);
	wal_close(&log);
	free(step.command);
	*ret = (struct undone){.id = step.id, .began_us = step.began_us};
	r = wal_peek_roll(dirfd, "redo", &ret->roll);
	if (!step_is_damaged(r))
		return r;
	ret->roll.number = UINT64_MAX; /* it stays, and a redo says what it is */
	return 0;
}

static bool is_gone(const struct gone *g, const struct undone *u)
{
	for (size_t i = 0; i < g->n; i++)
		if (roll_same(&g->list[i].roll, &u->roll) ||
		    (u->id && g->list[i].id == u->id && g->list[i].began_us == u->began_us))
			return true;
	return false;
}

static int drop_in(struct journal *j, struct gone *gone)
{
	char **names = NULL;
	size_t n = 0;
	uint64_t begin = 0;
	int r = store_names(j, "redo", &names, &n);

	if (r == 0 && n)
		r = newest_begin(j, &begin);
	for (size_t i = 0; r == 0 && i < n; i++) {
		AUTO_FREE char *dir = xasprintf("redo/%s", names[i]);
		AUTO_CLOSE int fd = store_open_dir(j, dir);
		struct undone u;

		r = fd < 0 ? fd : read_undone(j, fd, &u);
		if (r < 0)
			break;
		if (u.roll.number > begin && !is_gone(gone, &u))
			continue;
		gone->list = xrealloc(gone->list, (gone->n + 1) * sizeof(*gone->list));
		gone->list[gone->n++] = u;
		r = store_drop_undone(j, dir);
	}
	store_names_free(names, n);
	return r;
}

int stale_drop(struct journal *j)
{
	struct gone gone = {0};
	struct journal *k = j;
	size_t before;
	int r;

	do { /* what one store finds may lie in those that were asked before it */
		before = gone.n;
		do
			r = drop_in(k, &gone);
		while (r == 0 && (k = k->kin) != j);
	} while (r == 0 && gone.n > before);
	free(gone.list);
	return r;
}
