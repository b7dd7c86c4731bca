/* abort - rolls an open step back: for good, or into the redo stack. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <sys/stat.h>
#include <fcntl.h>

#include "core/journal/history/attribution.h"
#include "core/journal/history/concurrent.h"
#include "core/journal/history/overwritten.h"
#include "core/journal/history/redo_stack.h"
#include "core/journal/log/undo_log.h"
#include "core/journal/rollback/undo.h"
#include "core/journal/step/step.h"
#include "core/journal/steps.h"
#include "core/journal/store/siblings.h"
#include "core/journal/store/store.h"
#include "core/journal/util/u64_set.h"

/* Finds the begin's captures of files that the processes of other steps have open. */
static void find_spared(const struct step *s, struct u64_set *ret)
{
	struct rec r;
	size_t at = 0;

	while (s->made && s->spares && undo_log_next(&s->side.log, &at, &r) &&
	       r.seq <= s->began_with)
		if (r.type == REC_CONTENT)
			u64_set_add(ret, r.seq);
}

/* Rolls one part back into redo/, as an undo would. keep: it stays there; else it is dropped. */
static int abort_part(struct step *s, bool keep, const struct roll *roll, struct err *err)
{
	AUTO_FREE char *dir = xasprintf("open/%" PRId64, s->id);
	AUTO_FREE char *undone = xasprintf("redo/%" PRId64, s->id);
	struct journal *j = s->j;
	struct u64_set spared = {0};
	bool made = s->made;
	struct stat st;
	int r = 0;

	find_spared(s, &spared);
	if (made) {
		attribution_find(s);
		overwritten_save(j, dir);
	}
	concurrent_untangle(s);
	step_drop(s);
	if (made)
		r = recover_open_step(j, dir, roll, &spared, err);
	u64_set_done(&spared);
	if (made && r == 0 && keep)
		r = fstatat(j->store, undone, &st, AT_SYMLINK_NOFOLLOW) < 0 ? -errno : 0;
	else if (made && r == 0)
		r = redo_drop_undone(j, undone);
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
