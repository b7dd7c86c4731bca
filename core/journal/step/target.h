/* target - the target of an operation: its path for the record, its name, its object. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/journal/fs/object.h"
#include "core/journal/log/undo_log.h"

struct at;
struct step;

struct op_target {
	int root;
	int dirfd;
	const char *raw;  /* the name as the caller gave it, which the kernel judges */
	const char *bare; /* without trailing slashes; "" is dirfd itself */
	const char *dir;
	char *path; /* relative to the root; NULL: the object has lost its name */
	char *own;  /* memory of bare, if it was shortened */
	bool plain; /* "." or "..": the kernel refuses; nothing to capture */
	struct object obj;
};

#define AUTO_OP_TARGET CLEANUP(op_target_done)
#define OP_TARGET_NONE                                                                             \
	{                                                                                          \
		.dirfd = -1                                                                        \
	}

void op_target_done(struct op_target *w);
void op_target_set(struct op_target *w, const struct at *at);
/* Like op_target_set(), and fills in obj (mode 0: the name does not exist). */
int op_target_look(struct op_target *w, const struct at *at) MUST_USE;
/* Like op_target_look(), but returns -ENOENT if the name does not exist; *touched (or NULL) becomes
 * false. */
int op_target_find(struct op_target *w, const struct at *at, bool *touched) MUST_USE;
/* Records the times of the target's directory. */
int op_target_touch_dir(struct step *s, const struct op_target *w) MUST_USE;
/* Captures the content of a file that is about to lose its name, if a process may still write to
 * it. */
int op_target_keep_written(struct step *s, const struct op_target *w) MUST_USE;
/* Captures the content of a file before it is written to, unless the step has done so: of the
 * opened inode by fd and "", or of the name in a directory. */
int op_target_keep_content(struct step *s, const struct op_target *w, int fd, const char *name,
			   const struct object *o, bool may_spare) MUST_USE;
/* Each adds the record of a name that is about to be created or removed, after that of its
 * directory. The log can be cut at *mark again, and is on failure. */
int op_target_record_new(struct step *s, const struct op_target *w, enum rec_type type,
			 size_t *mark) MUST_USE;
int op_target_record_gone(struct step *s, const struct op_target *w, char slot[24], size_t *mark)
	MUST_USE;
void op_target_report(struct step *s, const struct op_target *w, const struct object *before,
		      bool *touched);
/* Returns whether the step created the object, by this name, and no other step has records about
 * it: then removing it needs no record. */
bool op_target_is_own(struct step *s, const struct op_target *w);
/* Records an empty directory before it is removed. */
int op_target_keep_dir(struct step *s, const struct op_target *w) MUST_USE;
/* Updates all tables after a rename; both: the two objects changed places. */
void op_target_moved(struct step *s, const struct op_target *from, const struct op_target *to,
		     bool both);
