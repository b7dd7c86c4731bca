/* dialog_plan - the dialog before an undo: state of dialog_plan.c (logic), dialog_plan_draw.c. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "tui/console/frame/ui.h"

struct dialog_plan {
	struct view v;
	enum undo_kind kind;
	int64_t step; /* undo to before this step, or restore `path` of it */
	char *path;   /* with UNDO_PATHS */
	size_t n;
	unsigned flags;	 /* how conflicts are settled */
	unsigned places; /* UNDO_ALL_PLACES or 0 */
	uint64_t request;
	uint64_t undos;	  /* model.undos at the time of the request */
	int64_t shown_us; /* when the plan arrived, 0: not yet */
	bool armed, replaced;
	bool merges_seen; /* the merges' result was on the screen */
	bool git;	  /* git's own files have rows, too; else one sentence */
	struct list list;
};

const struct undo_plan *plan_of(const struct dialog_plan *d); /* NULL: not arrived yet */
/* Returns whether conflicts stop the plan, so that it takes another key than confirm. */
bool plan_stops(const struct dialog_plan *d, const struct undo_plan *p);
/* Returns the number of conflicts whose former content was not saved: they stay as they are. */
size_t plan_lost(const struct undo_plan *p);
/* Returns whether a restore of single paths can bring none of them back. */
bool plan_is_in_vain(const struct dialog_plan *d, const struct undo_plan *p);
/* Returns whether there are conflicts with others' edits that can be kept, or merged. */
bool plan_has_choice(const struct dialog_plan *d, const struct undo_plan *p);
/* Returns whether the steps changed files outside the folders, which stay or, on request, are
 * undone, too. */
bool plan_has_places(const struct dialog_plan *d, const struct undo_plan *p);
/* Returns whether the steps changed only files outside the folders: without these there is nothing
 * to confirm. */
bool plan_is_elsewhere(const struct undo_plan *p);
void plan_elsewhere_words(struct ui *ui, const struct undo_plan *p, struct buf *out);
size_t plan_rows(const struct dialog_plan *d, const struct undo_plan *p);
const char *plan_verb(const struct dialog_plan *d);
void plan_draw(struct dialog_plan *d, struct surface *s, struct rect r);
