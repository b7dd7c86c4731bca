/* open_recovered - opens a store and recovers the steps and rollbacks that a dead process left. */
/* SPDX-License-Identifier: MIT */
#include "core/journal/rollback/open_recovered.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "core/journal/history/session_limits.h"
#include "core/journal/journal.h"
#include "core/journal/rollback/undo.h"
#include "core/journal/step/step.h"
#include "core/journal/store/git_store.h"
#include "core/journal/store/open_store.h"
#include "core/journal/store/store.h"

static const struct store_hooks hooks = {
	.log_bytes = step_log_bytes,
	.make_room = prune_for_rollback,
};

static int finish_start(struct journal *j, bool followed, size_t *ret_recovered, struct err *err)
{
	int r = undo_recover(j, ret_recovered, err);

	if (r == 0 && !followed)
		r = recover_redo(j, err);
	if (r < 0)
		return r;
	j->mended |= *ret_recovered > 0;
	state_boot_settled(j);
	return 0;
}

static int apply_limits(struct journal *j, const struct journal_spec *spec, struct err *err)
{
	int r = 0;

	if (spec->lasting)
		r = prune_begin_session(j, spec->settled);
	else if (!spec->settled)
		r = prune_to_fit(j);
	return r < 0 ? err_set(err, r, "remove the oldest steps from '%s'", j->store_path) : 0;
}

static void abandon(struct journal *j)
{
	if (j->fresh)
		store_unmake(j);
	journal_close(j);
}

int journal_open(struct journal **ret, const struct journal_spec *spec, size_t *ret_recovered,
		 struct err *err)
{
	mode_t mask = umask(077);
	size_t recovered = 0;
	struct journal *j;
	int r = store_open(&j, spec, &hooks, err);

	if (r == 0 && !j->read_only && !spec->upkeep)
		r = finish_start(j, spec->followed, &recovered, err);
	if (r == 0 && !j->read_only && !spec->upkeep)
		r = apply_limits(j, spec, err);
	umask(mask);
	if (r < 0) {
		abandon(j);
		return r;
	}
	if (store_is_session(spec))
		git_store_hide(j);
	if (ret_recovered)
		*ret_recovered = recovered;
	*ret = j;
	return 0;
}

int journal_open_all(struct journal **ret, const char *const *folders, const char *state_dir,
		     struct err *err)
{
	struct journal *first = NULL, *j;
	int r = 0;

	for (size_t i = 0; (r == 0 || r == -ENOENT) && folders[i]; i++) {
		r = journal_open(&j,
				 &(struct journal_spec){.folder = folders[i],
							.state_dir = state_dir,
							.read_only = true,
							.with = first},
				 NULL, err);
		if (r == 0 && !first)
			first = j;
	}
	if (r < 0 && (r != -ENOENT || !first)) {
		journal_close_all(first);
		return r;
	}
	if (err)
		*err = (struct err){0};
	*ret = first;
	return 0;
}

int open_sibling(struct journal *j, const char *folder, struct journal **ret, struct err *err)
{
	struct journal_spec spec = {.folder = folder,
				    .state_dir = j->state_dir,
				    .read_only = j->read_only,
				    .with = j,
				    .guards = j->guards,
				    .saves = j->saves,
				    .guards_data = j->guards_data};
	struct journal *k = j;
	int r;

	do
		if (str_eq(k->folder, folder)) {
			*ret = k;
			return 0;
		}
	while ((k = k->sibling) != j);
	r = journal_open(ret, &spec, NULL, err);
	return r < 0 ? r : 1;
}
