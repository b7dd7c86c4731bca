/* plan_priv - what the files that make the plan of a rollback share. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/journal/history/after_image.h"
#include "core/journal/history/net_effect.h"
#include "core/journal/history/rename_list.h"
#include "core/journal/history/version_chain.h"
#include "core/journal/journal.h"
#include "core/journal/log/undo_log.h"
#include "core/journal/rollback/undo.h"
#include "core/journal/store/store.h"
#include "core/journal/util/path_set.h"
#include "core/journal/util/u64_set.h"

struct planner {
	struct journal *j;
	const struct group *dirs;
	bool redo;
	struct names made;    /* paths that did not exist, by the records; filled on demand */
	struct fates fates;   /* what the steps did to each path */
	struct chains chains; /* of an undo of several */
	uint64_t undone;      /* newest image number of the steps that are undone; 0: none are */
	struct posts gone;    /* their images, by current names; filled on demand */
	bool has_gone;
	struct numbers *written; /* by each of the steps in place, inodes; once it was asked */
	/* One for each fate, then one for each of `places`. While images are read: (sequence number
	 * of the newest image << 1) + is_passing. Afterwards 0, or JUDGED_FOREIGN for a conflict.
	 */
	uint64_t *newest;
	struct posts left;	    /* what the steps left, where that matters */
	struct inode_image *inodes; /* the newest of each file; once some path differs */
	bool has_inodes;
	struct names places;   /* where the paths that the steps know lie now */
	struct names there;    /* directories among them */
	struct names idle;     /* of records that an earlier rollback left out */
	struct names overlaps; /* paths that a step has also touched that stays */
	struct names linked;   /* written by the steps; their files changed by other names since */
	struct taken *taken;   /* files that names were taken of, a hash; once it was asked */
	bool has_taken;
	struct moves moves;
	struct wal *logs;  /* of the steps, the side that will be emptied */
	struct names lost; /* changed while a step was unprotected, by no record */
	struct undo_plan *plan;
	struct err *err; /* what names the step that cannot be read */
};

/* All but the plan itself: logs, fates, images. (plan_load.c) */
int plan_read(struct planner *p) MUST_USE;
int plan_read_open(struct planner *p) MUST_USE;	 /* logs and places alone, of open steps */
int plan_load_fates(struct planner *p) MUST_USE; /* fates and chains (plan_effects.c) */
/* Is the object at the path an external edit, by its newest image? f: its net effect, or NULL. */
bool plan_is_foreign(struct planner *p, const struct post *newest, const struct fate *f);
void plan_forget(struct planner *p);
/* Did one of the steps change content or times of this file, which existed before? */
bool plan_has_written(struct planner *p, uint64_t ino);
bool plan_only_found(struct planner *p, const struct post *post); /* and its step did not */
/* Adds to `to` the current path of the object that was at `path` right after record seq. */
void plan_add_place(const struct planner *p, struct names *to, uint64_t seq, int root,
		    const char *path);
/* Among the steps, newest first; their number: it is none of them. */
size_t plan_place_of(const struct planner *p, int64_t id);
bool plan_has_step(const struct planner *p, int64_t id);
bool plan_is_passing(const struct planner *p, const struct post *post); /* its step came and went */

/* Each of the steps found the git index that the one before it had left, but for what git refreshes
 * when somebody looks. False for any other file, or if that is not known. (plan_index.c) */
bool plan_index_holds(struct planner *p, const struct post *post);

/* Fill p->linked. (plan_hard_links.c) */
int plan_load_links(struct planner *p) MUST_USE;
/* It looks as when the steps took away the name by which they had written, after that image. */
bool plan_is_as_taken(struct planner *p, const struct post *post);
void plan_forget_taken(struct planner *p);

void plan_entry(struct planner *p, int root, const char *path, char what, bool conflict);
/* Directories that would go must hold nothing but what goes with them, and nothing else may stand
 * where some are needed. (plan_dirs.c) */
int plan_check_dirs(struct planner *p) MUST_USE;
