/* plan_priv - the state of the planner, shared by the files that make the plan of a rollback. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/journal/history/after_image.h"
#include "core/journal/history/net_effect.h"
#include "core/journal/history/rename_list.h"
#include "core/journal/history/version_chain.h"
#include "core/journal/util/names.h"
#include "core/journal/util/path_set.h"

struct undo_entry;
struct undo_plan;

struct planner {
	struct journal *j;
	const struct names *dirs;
	bool redo;
	struct path_set made;	  /* paths that the steps' records created; on demand */
	struct net_effects fates; /* net effect of the steps on each path */
	struct chains chains;	  /* of an undo of several */
	uint64_t undone;	  /* newest image number of all undone steps; 0: there are none */
	struct after_images gone; /* images of undone steps, by present names; on demand */
	bool has_gone;
	struct u64_set *written; /* inodes that each step wrote to in place; on demand */
	/* One number for each fate, then one for each of `places`. While images are read: (sequence
	 * number of the newest image << 1) + plan_is_passing(). Afterwards 0, or JUDGED_FOREIGN for
	 * a conflict. */
	uint64_t *newest;
	struct after_images left;   /* the images that the steps left, if needed */
	struct inode_image *inodes; /* newest image of each file; once a path differs */
	bool has_inodes;
	struct path_set places;	  /* present names of the paths in the steps' records */
	struct path_set there;	  /* the directories among `places` */
	struct path_set idle;	  /* paths of records that an earlier rollback skipped */
	struct path_set overlaps; /* paths that a concurrent step, which stays, touched as well */
	/* paths of files that the steps wrote and other hard links changed */
	struct path_set linked;
	struct taken *taken; /* hash: files that lost a name to the steps; on demand */
	bool has_taken;
	struct renames moves;
	struct undo_log *logs; /* one per step: the log to be applied */
	struct path_set lost;  /* changed by an unprotected step, without a record */
	struct undo_plan *plan;
	struct err *err; /* names a step that cannot be read */
};

/* Loads logs, fates and images. (plan_load.c) */
int plan_read(struct planner *p) MUST_USE;
int plan_read_open(struct planner *p) MUST_USE;	   /* logs and places of open steps */
int plan_load_effects(struct planner *p) MUST_USE; /* fates and chains (plan_effects.c) */
/* Returns whether the object at the path is an external edit, by its newest image. f: the path's
 * net effect, or NULL. (plan_external.c) */
bool plan_is_foreign(struct planner *p, const struct after_image *newest,
		     const struct net_effect *f);
void plan_forget(struct planner *p);
/* Returns whether a step changed content or times of this file, which existed before. */
bool plan_has_written(struct planner *p, uint64_t ino);
/* Returns whether the image's step is one of the steps and did not write to the file in place. */
bool plan_only_found(struct planner *p, const struct after_image *post);
/* Returns the step's index, newest first, or the number of steps if it is not among them. */
size_t plan_place_of(const struct planner *p, int64_t id);
bool plan_has_step(const struct planner *p, int64_t id);
/* Returns whether the image's step is neither kept nor one of these steps; in a redo also whether
 * the step has no record for the path (IMAGE_PASSING). */
bool plan_is_passing(const struct planner *p, const struct after_image *post);

/* Fills p->linked. (plan_hard_links.c) */
int plan_load_links(struct planner *p) MUST_USE;
/* Returns whether the file still has the state in which the steps, after that image, removed the
 * name through which they had written to it. */
bool plan_is_as_taken(struct planner *p, const struct after_image *post);
void plan_forget_taken(struct planner *p);

/* Adds an entry to the plan. (plan_steps.c) */
void plan_entry(struct planner *p, int root, const char *path, char what, bool conflict);
void plan_entry_free(struct undo_entry *e);
/* Finds conflicts of directories: a directory to be removed holds other entries, or another object
 * is at the path of a directory that is needed. (plan_dirs.c) */
int plan_check_dirs(struct planner *p) MUST_USE;
