/* step - an open step: the inodes and paths it touched, and its captures before each change. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/journal/log/capture.h"
#include "core/journal/step/touched_inodes.h"
#include "core/journal/step/touched_paths.h"
#include "core/journal/steps.h"
#include "core/journal/util/u64_set.h"

struct step {
	struct journal *j;
	struct step *next;
	struct step *part; /* ring: the same step in other journals */
	struct capture side;
	int64_t id;
	enum step_kind kind;
	int64_t began_us;
	char *command;
	char *why;		   /* the changes that were not captured, in words; or NULL */
	char *bare;		   /* nothing is captured from this path on; NULL: everything is */
	bool warned;		   /* the warning that it is nearly full was given */
	bool raised;		   /* its limits are lifted */
	uint64_t held;		   /* bytes of its objects */
	uint64_t copied;	   /* bytes that were copied into objects and the log */
	struct unkept *unkept;	   /* see unkept.h; or NULL */
	uint64_t *copies, *clones; /* slots with captured file content */
	size_t n_copies, n_clones;
	bool made;     /* its directory exists: it has a record */
	bool moved;    /* it renamed a directory */
	bool made_dir; /* it created a directory */
	bool carried;  /* another step renamed a directory while this one runs */
	bool tangled;  /* a concurrent step touched the same paths */
	bool leaving;  /* set while a file that leaves a guarded name is captured */
	bool noted;    /* a restore: its files are noted in placed.h */
	bool careful;  /* a rename fails if it would replace another file than the captured one */
	/* If careful: a rename may replace only this object, unchanged; else -ESTALE. */
	const struct object *only;
	unsigned free_names; /* number of last renames whose new name was free */
	bool spares;	     /* an abort skips the records made at its beginning (step_spare()) */
	uint64_t began_with; /* number of the last record made at its beginning; 0: none */
	const struct step_witness *witness; /* in the first part; or NULL */
	void *witness_data;
	step_on_loss on_loss;
	void *on_loss_data;
	struct touched_inodes known;
	struct touched_paths touches;
	struct path_set noted_edits; /* in the file "edited" since record noted_at (edited.h) */
	uint64_t noted_at;
	struct u64_set came_from; /* inodes of the first n_came_from touches (attribution.c) */
	size_t n_came_from;
	struct hard_link *aliases; /* hash, see hard_links.c */
};

int step_make(struct step *s) MUST_USE; /* creates its directory, before the first record */
/* Reads id, kind, begin and command (heap) from the first record. Returns false if it is
 * missing. */
bool step_read_head(const struct undo_log *undo, struct step_info *ret);
/* Lets an abort of the step leave the files alone that processes of earlier steps had open when it
 * began and still write to: for steps that no command made. */
void step_spare(struct step *s);
/* Adds an open step to j. of: the step of another journal that it is a part of, or NULL. */
struct step *step_new(struct journal *j, int64_t id, struct step *of);
off_t step_log_bytes(const struct journal *j); /* bytes of the open steps' logs */
/* Removes the step from its journal's list and its ring, and frees it. */
void step_drop(struct step *s);
/* Drops files without writer from the list of writers. Returns whether a file that this step opened
 * is still open for writing. */
bool step_prune_writers(struct step *s);
/* Captures files that a process of an earlier step still has open for writing: later writes belong
 * to this step. */
int step_keep_writers(struct step *s, struct err *err) MUST_USE;
/* Returns the step's entry for the inode, or NULL; valid until the next step_learn(). */
struct touched_inode *step_known(const struct step *s, const struct object *o);
/* Returns whether the step created the object. */
bool step_created(const struct step *s, const struct object *o);
struct touched_inode *step_learn(struct step *s, const struct object *o, unsigned flags);
void step_unlearn(struct step *s, const struct object *o); /* forgets a dying inode */
/* Notes that a process outside the step has changed the inode: its content is neither created nor
 * captured by the step. */
void step_disown(struct step *s, const struct object *o);
/* Returns whether another open step has records about this inode. */
bool step_shared(const struct step *s, const struct object *o);
/* Notes that the inode was moved into the step's objects: other steps capture it anew. */
void step_took(struct step *s, const struct object *o);
/* Asks on_loss() before an operation removes the name or content of the object. Returns 0, or the
 * operation's negative result. */
int step_lose(struct step *s, enum loss what, int root, const char *path, const struct object *o)
	MUST_USE;
bool step_touch(struct step *s, int root, const char *path, const struct object *before);
/* Notes that the metadata at path changed. */
void step_touch_attrs(struct step *s, int root, const char *path);
/* Captures content and metadata of an existing file before they change. may_spare: if there is no
 * room, captures nothing as long as the file is not written: see unkept.h. */
int step_keep_content(struct step *s, int root, const char *path, int dirfd, const char *name,
		      const struct object *o, bool may_spare) MUST_USE;
/* Brings the content that was captured last in line with the file fd, which another program is
 * writing to. If it never holds still, marks the step as incomplete. */
int step_settle_content(struct step *s, int root, const char *path, int fd, const struct object *o)
	MUST_USE;
/* Returns whether stores through a mapping may change the file without changing its times: see
 * unkept.c. */
bool step_may_change_unseen(const struct step *s, int dirfd, const struct object *o);
/* Captures content even if the step has captured or created that inode before. */
int step_keep_again(struct step *s, int root, const char *path, int dirfd, const char *name,
		    const struct object *o) MUST_USE;
