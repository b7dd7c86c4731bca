/* left_open - after a rollback, a step for what processes still have open and no kept step tells.
 */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>

#include "core/journal/fs/object.h"
#include "core/journal/fs/reach.h"
#include "core/journal/journal.h"
#include "core/journal/step/open_files.h"
#include "core/journal/step/step.h"
#include "core/journal/store/store.h"
#include "core/journal/util/path_set.h"

/*
 * A file that changes while no step runs has another content than the newest of the kept steps that
 * touched it left, and an undo stops there. Once all of these are undone nothing would stop: what
 * is written through a descriptor from before would be in no step, and the next one would take it
 * for what it found.
 */

struct open_now {
	struct names names; /* of files that are open */
	struct writer **writers;
	size_t n;
};

static void find_open(struct journal *j, struct open_now *h)
{
	struct writer *w, *next;

	HASH_ITER (hh, j->writers, w, next) {
		struct reach reach = {0};
		struct spot at;
		struct obj o;
		const char *name = writer_alive(j, w, NULL, &reach, &at, &o);

		reach_close(j, &reach);
		if (!name)
			continue;
		w->untold = true;
		if (!names_add_key(&h->names, name))
			continue;
		h->writers = xrealloc(h->writers, (h->n + 1) * sizeof(struct writer *));
		h->writers[h->n++] = w;
	}
}

static void is_told(struct open_now *h, int root, const char *path)
{
	AUTO_FREE char *key = key_make(root, path);
	size_t at = names_find(&h->names, key);

	if (at != NAMES_NONE)
		h->writers[at]->untold = false;
}

/* What cannot be read tells nothing. */
static void ask_steps(struct journal *j, struct open_now *h)
{
	struct step_info *list = NULL;
	struct err ignored = {0};
	size_t n = 0;

	if (!h->n || journal_list(j, false, &list, &n, &ignored) < 0)
		return;
	for (size_t i = 0; i < n; i++) {
		struct change *changes = NULL;
		size_t n_changes = 0;

		if (journal_changes(j, list[i].id, &changes, &n_changes, &ignored) < 0)
			continue;
		for (size_t k = 0; k < n_changes; k++)
			if (!changes[k].in || changes[k].in == j)
				is_told(h, changes[k].root, changes[k].path);
		change_free(changes, n_changes);
	}
	step_info_free(list, n);
}

bool writers_find_untold(struct journal *j)
{
	struct open_now h = {0};
	bool any = false;

	find_open(j, &h);
	ask_steps(j, &h);
	for (size_t i = 0; i < h.n; i++)
		any |= h.writers[i]->untold;
	names_done(&h.names);
	free(h.writers);
	return any;
}
