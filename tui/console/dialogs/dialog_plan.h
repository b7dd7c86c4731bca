/* dialog_plan - the dialog before an undo: state of dialog_plan.c (logic), dialog_plan_draw.c
 * and dialog_plan_words.c. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "tui/console/frame/ui.h"

struct dialog_plan {
	struct view v;
	enum undo_kind kind;
	int64_t step; /* undo from this step on, or restore its `path` */
	char *path;   /* for UNDO_PATHS; "": all paths of the step */
	size_t n;
	unsigned flags;	 /* how conflicts are resolved */
	unsigned places; /* UNDO_ALL_PLACES or 0 */
	uint64_t request;
	uint64_t undos;	  /* model.undos at the request */
	int64_t shown_us; /* when the plan was drawn first, 0: not yet */
	bool armed, replaced;
	bool merges_seen; /* the result of the merges was on the screen */
	bool git;	  /* lists git's own files; else one sentence counts them */
	struct list list;
};

const struct undo_plan *plan_of(const struct dialog_plan *d); /* NULL: not arrived yet */
/* Returns whether conflicts stop the plan, so that it needs a key other than "confirm". */
bool plan_stops(const struct dialog_plan *d, const struct undo_plan *p);
/* Returns the number of conflicts whose former content was not saved: they stay unchanged. */
size_t plan_lost(const struct undo_plan *p);
/* Returns whether a restore of single paths can restore none of them. */
bool plan_is_in_vain(const struct dialog_plan *d, const struct undo_plan *p);
/* Returns whether there are conflicts with external edits that can be kept or merged. */
bool plan_has_choice(const struct dialog_plan *d, const struct undo_plan *p);
/* Returns whether the steps changed files outside the folders, which stay or, on request, are
 * undone as well. */
bool plan_has_places(const struct dialog_plan *d, const struct undo_plan *p);
/* Returns whether the steps changed files outside the folders alone: without those there is nothing
 * to confirm. */
bool plan_is_elsewhere(const struct undo_plan *p);
/* Returns whether the plan undoes one step, and leaves newer ones. */
bool plan_is_alone(const struct dialog_plan *d);
size_t plan_rows(const struct dialog_plan *d, const struct undo_plan *p);
void plan_draw(struct dialog_plan *d, struct surface *s, struct rect r);

/* ---- dialog_plan_words.c */
/* Returns the number of steps, without notes, unless their files go as well. */
size_t plan_count_steps(const struct dialog_plan *d, const struct undo_plan *p);
/* Writes "undo", and the name of the step, if it is the only one. */
void plan_title(const struct dialog_plan *d, struct buf *out, const struct undo_plan *p, int cols);
/* Draws what the plan does and warns of, in the dialog's first two rows, and the other ways in the
 * last but one. */
void plan_draw_words(const struct dialog_plan *d, const struct undo_plan *p, struct surface *s,
		     struct rect in);
void plan_elsewhere_words(struct ui *ui, const struct undo_plan *p, struct buf *out);
/* Returns whether words about git replace the path's row. */
bool plan_is_gits(const struct dialog_plan *d, const struct undo_entry *e);
size_t plan_count_gits(const struct dialog_plan *d, const struct undo_plan *p);
