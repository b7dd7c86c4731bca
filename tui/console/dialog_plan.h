/* dialog_plan - what dialog_plan.c (when, and with what) and dialog_plan_draw.c (how) share. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "tui/console/ui.h"

struct dialog_plan {
	struct view v;
	enum undo_kind kind;
	int64_t step; /* undo to before this one, or restore of it: */
	char *path;   /* with UNDO_PATHS */
	size_t n;
	unsigned flags;	 /* how conflicts are settled */
	unsigned places; /* UNDO_ALL_PLACES or 0 */
	uint64_t request;
	uint64_t undos;	  /* model.undos when it was asked for */
	int64_t shown_us; /* when the plan arrived, 0: not yet */
	bool armed, replaced;
	bool merges_seen; /* the result was on the screen */
	struct list list;
};

const struct undo_plan *plan_of(const struct dialog_plan *d); /* NULL: it is on its way */
/* Something is in the way that only another key goes over. */
bool plan_stops(const struct dialog_plan *d, const struct undo_plan *p);
/* Of what is in the way, how much nobody changed: it is not kept. */
size_t plan_lost(const struct undo_plan *p);
/* Of single paths all come back, or none. */
bool plan_is_in_vain(const struct dialog_plan *d, const struct undo_plan *p);
/* Is there something of somebody else's that can be left, or merged? */
bool plan_has_choice(const struct dialog_plan *d, const struct undo_plan *p);
/* Is there something outside the folders that stays, or goes along because that was asked for? */
bool plan_has_places(const struct dialog_plan *d, const struct undo_plan *p);
/* The steps changed nothing else: without those there is nothing to confirm. */
bool plan_is_elsewhere(const struct undo_plan *p);
void plan_elsewhere_words(struct ui *ui, const struct undo_plan *p, struct buf *out);
size_t plan_rows(const struct undo_plan *p);
const char *plan_verb(const struct dialog_plan *d);
void plan_draw(struct dialog_plan *d, struct surface *s, struct rect r);
