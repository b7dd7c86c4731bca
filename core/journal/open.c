/* open - opens and closes journals; discards and removes stores. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/journal/edits.h"
#include "core/journal/history/background.h"
#include "core/journal/history/past.h"
#include "core/journal/history/session_limits.h"
#include "core/journal/journal.h"
#include "core/journal/step/open_files.h"
#include "core/journal/step/step.h"
#include "core/journal/store/aside.h"
#include "core/journal/store/claim.h"
#include "core/journal/store/open_store.h"
#include "core/journal/store/roots.h"
#include "core/journal/store/siblings.h"
#include "core/journal/store/store.h"
#include "core/journal/upkeep.h"
#include "core/journal/util/path_set.h"

bool journal_was_mended(const struct journal *j)
{
	bool mended = j->mended;

	for (const struct journal *k = j->sibling; k != j; k = k->sibling)
		mended |= k->mended;
	return mended;
}

void journal_release(struct journal *j)
{
	prune_stop(j);
	background_end(j);
	state_leave(j);
	claim_release(j);
	util_close_fd(&j->lock);
}

void journal_close(struct journal *j)
{
	if (!j)
		return;
	prune_stop(j);
	background_end(j);
	state_leave(j);
	while (j->open)
		step_drop(j->open);
	siblings_leave(j);
	journal_expect_nothing(j);
	open_files_drop(j);
	path_set_done(&j->own);
	store_forget_near(j);
	past_drop(j);
	for (int i = 0; i < j->n_roots; i++) {
		util_close_fd(&j->roots[i].fd);
		free(j->roots[i].path);
	}
	free(j->roots);
	free(j->state);
	util_close_fd(&j->state_fd);
	util_close_fd(&j->room);
	claim_release(j);
	util_close_fd(&j->lock);
	util_close_fd(&j->store);
	free(j->news);
	buf_done(&j->unnoted);
	free(j->store_path);
	free(j->state_dir);
	free(j->folder);
	free(j);
}

int journal_discard(const struct journal_spec *spec, struct err *err)
{
	AUTO_CLOSE int store = -1, lock = -1;
	AUTO_FREE char *path = NULL;
	int r = journal_store_path(&path, spec, err);

	if (r < 0 || !path)
		return r;
	store = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (store < 0)
		return errno == ENOENT ? 0 : err_set(err, -errno, "open the undo store '%s'", path);
	lock = store_lock(store, path, "end it first", err);
	return lock < 0 ? lock : store_clear(store, path, err);
}

/* Returns whether the store has only files that a start creates. */
static bool is_unused(const struct journal *j)
{
	static const char *const dirs[] = {"posts", "barriers", "saved",
					   "trash", BESIDE_DIR, ASIDE_DIR};
	struct journal_pruned pruned;

	for (size_t i = 0; i < ARRAY_LEN(dirs); i++) {
		AUTO_NAMES struct names names = {0};
		int r = store_names(j, dirs[i], &names);

		if (names.n || (r < 0 && r != -ENOENT))
			return false;
	}
	return !journal_pruned(j, &pruned) && aside_is_empty(j->store);
}

bool journal_unmake(const struct journal_spec *spec)
{
	struct journal j = {.store = -1, .lock = -1};
	struct err ignored = {0};
	bool gone;

	if (journal_store_path(&j.store_path, spec, &ignored) < 0 || !j.store_path)
		return false;
	j.store = open(j.store_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	/* Waits for the lock only if there may be something to do. */
	if (j.store >= 0 && is_unused(&j))
		j.lock = store_lock(j.store, j.store_path, "", &ignored);
	if (j.lock >= 0 && is_unused(&j))
		store_unmake(&j);
	gone = faccessat(AT_FDCWD, j.store_path, F_OK, AT_SYMLINK_NOFOLLOW) < 0;
	util_close_fd(&j.lock);
	util_close_fd(&j.store);
	free(j.store_path);
	return gone;
}

void journal_close_all(struct journal *j)
{
	while (j && j->sibling != j)
		journal_close(j->sibling);
	journal_close(j);
}
