/* plan_priv - the state of the planner, shared by the files that make the plan of a rollback. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/journal/history/net_effect.h"
#include "core/journal/history/rename_list.h"
#include "core/journal/util/names.h"
#include "core/journal/util/path_set.h"

struct undo_entry;
struct undo_plan;

struct planner {
	struct journal *j;
	const struct names *dirs;
	bool redo;
	bool open;		  /* the steps are open: they have no summary and no after-images */
	struct net_effects fates; /* net effect of the steps on each path */
	struct path_set edited;	  /* present names of paths that were edited from outside */
	/* Of these, the ones whose edited object is not the one that now has the name. */
	struct path_set moved_edits;
	struct path_set named;	  /* conflicts without a net effect that have an entry */
	struct path_set places;	  /* present names of the paths in the steps' records */
	struct path_set idle;	  /* paths of records that an earlier rollback skipped */
	struct path_set overlaps; /* paths that a concurrent step, which stays, touched as well */
	/* paths of files that the steps wrote and other hard links changed */
	struct path_set linked;
	struct renames moves;
	struct undo_log *logs; /* one per step: the log to be applied */
	struct path_set lost;  /* changed by an unprotected step, without a record */
	struct undo_plan *plan;
	struct err *err; /* names a step that cannot be read */
};

/* Loads logs and net effects, and compares. (plan_load.c) */
int plan_read(struct planner *p) MUST_USE;
/* Finds external edits: fills p->edited and linked, and adds entries for other files in
 * directories that are about to go. (plan_compare.c) */
int plan_compare(struct planner *p) MUST_USE;
void plan_forget(struct planner *p);

/* Adds an entry to the plan. (plan_steps.c) */
void plan_entry(struct planner *p, int root, const char *path, char what, bool conflict);
void plan_entry_free(struct undo_entry *e);
/* Finds files in the place of a directory that is needed. (plan_dirs.c) */
int plan_check_dirs(struct planner *p) MUST_USE;
