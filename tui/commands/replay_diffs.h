/* replay_diffs - the diffs of a recording's steps, from the history of its folder. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/config/config.h"
#include "core/record/recording.h"
#include "core/session/model.h"

/*
 * Life: replay_diffs_open() -> replay_diffs_step() ... -> replay_diffs_close(). A step that was
 * pruned from the history, or of a folder without history, has no diff. Secrets are starred as in
 * the recording (record.redact). git's own files are left out.
 */
struct replay_diffs;

#define DIFF_LINES_MAX 400 /* for one step */

struct step_diff {
	char **lines; /* each begins with '+', '-', ' ', '@', '=' (a file) or '.' (a remark); raw */
	size_t n;
	size_t added, deleted; /* totals */
	bool known, cut;       /* cut: there are more lines */
};

/* Returns NULL if there is no history. */
struct replay_diffs *replay_diffs_open(struct recording *rec, const char *state_dir,
				       const struct config *config);
void replay_diffs_close(struct replay_diffs *d); /* NULL is a no-op */
void replay_diffs_step(struct replay_diffs *d, const struct step_row *step, struct step_diff *ret);
void step_diff_done(struct step_diff *diff);
