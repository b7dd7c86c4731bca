/* split - finds the folders in which a step is undone although it is kept in another, or kept. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/journal/history.h"
#include "core/journal/history/step_summary.h"
#include "core/journal/journal.h"
#include "core/journal/store/store.h"

/* Returns whether the store has the step in that directory, "steps" say. A step whose summary is
 * damaged counts. */
static bool is_in(const struct journal *j, const char *where, const struct step_info *i)
{
	AUTO_FREE char *dir = xasprintf("%s/%" PRId64, where, i->id);
	AUTO_CLOSE int fd = store_open_dir(j, dir);
	AUTO_SUMMARY struct summary s = {0};

	if (fd < 0)
		return fd != -ENOENT;
	return summary_load(fd, false, &s) < 0 || s.info.began_us == i->began_us;
}

/* Returns whether a step that began before this one is kept: then no pruning removed this one.
 * Compares times: numbers begin anew when a history is discarded. */
static bool keeps_older(const struct journal *j, const struct step_info *i)
{
	AUTO_NAMES struct names names = {0};
	bool read = false, older = false;

	if (store_names(j, "steps", &names) < 0)
		return false;
	for (size_t k = 0; !read && k < names.n; k++) {
		AUTO_FREE char *dir = xasprintf("steps/%s", names.list[k]);
		AUTO_CLOSE int fd = store_open_dir(j, dir);
		AUTO_SUMMARY struct summary s = {0};

		read = fd >= 0 && summary_load(fd, false, &s) == 0;
		older = read && s.info.began_us < i->began_us;
	}
	return older;
}

static bool is_other(const struct journal *j, const struct step_info *i, bool undone)
{
	bool kept = is_in(j, "steps", i);

	if (undone || kept)
		return undone && kept;
	return is_in(j, "redo", i) || (!is_in(j, "open", i) && keeps_older(j, i));
}

/* Opens the store of a folder that need not be one of the session. */
static int open_store_dir(const struct journal *j, const char *folder)
{
	const struct journal_spec spec = {
		.folder = folder, .state_dir = j->state_dir, .read_only = true};
	AUTO_FREE char *path = NULL;
	struct err ignored = {0};

	if (journal_store_path(&path, &spec, &ignored) < 0 || !path)
		return -1;
	return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
}

const char **journal_split(const struct journal *j, const struct step_info *i, bool undone)
{
	const char **list = NULL;
	size_t n = 0;

	for (char **f = i->folders; f && *f; f++) {
		AUTO_CLOSE int fd = open_store_dir(j, *f);
		const struct journal at = {.store = fd};

		if (fd < 0 || !is_other(&at, i, undone))
			continue;
		list = xrealloc(list, (n + 2) * sizeof(*list));
		list[n++] = *f;
		list[n] = NULL;
	}
	return list;
}
