/* redo_stack - empties the redo stack when a new step is committed. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "core/base/io.h"
#include "core/journal/fs/object.h"
#include "core/journal/log/capture.h"
#include "core/journal/log/undo_log.h"
#include "core/journal/rollback/saved_redo.h"
#include "core/journal/step/step.h"
#include "core/journal/store/store.h"

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

	if (r < 0)
		return r;
	return saved_redo_is_marked(j, dir) ? saved_redo_take(j, dir) : store_trash(j, dir);
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
		if (r == 0 && saved_redo_is_marked(j, dir))
			r = saved_redo_take(j, dir);
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
 * first, which names the step and the folder where it is decided (commit.c). Whoever finds one
 * looks there whether the step was kept.
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
