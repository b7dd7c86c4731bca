/* folder_priv - steps that all operations on a folder share: judge, perform, note answers. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/journal/op.h"
#include "core/keeper/folders/judge.h"

/*
 * Shared by folder.c, where the keeper performs a request, and foreseen.c, where the kernel does.
 * Threads: the keeper's one. Results as in caller.h.
 */

/* An operation of core/journal/op.h, as data, so that another thread can run it. */
enum op_kind {
	OP_OPEN,
	OP_TMPFILE,
	OP_MKDIR,
	OP_MKNOD,
	OP_SYMLINK,
	OP_LINK,
	OP_UNLINK,
	OP_RMDIR,
	OP_RENAME,
	OP_BIND,
	OP_TRUNCATE,
	OP_CHMOD,
	OP_CHOWN,
	OP_UTIMENS,
	OP_SETXATTR,
	OP_REMOVEXATTR,
	OP_FORESEE_OPEN,
	OP_FORESEE_MAKE,
	OP_FORESEE_REMOVE,
	OP_FORESEE_RENAME,
	OP_FORESEE_META,
};

struct op {
	enum op_kind kind;
	const struct at *at, *to;
	int flags; /* of open, rename, setxattr */
	mode_t mode;
	bool makes; /* makes a new object: the caller's umask applies */
	bool dir;   /* foreseen: a directory */
	dev_t dev;
	int sock, base;
	off_t size;
	uid_t uid;
	gid_t gid;
	const struct timespec *times;
	const char *text; /* symlink's target, attribute's name, socket's address */
	const void *value;
	size_t value_size;
	/* result of run() */
	struct step *step;
	bool touched;
};

/* Captures and performs the operation in the caller's step. path2: the other name of a rename or
 * link, or NULL. */
int folder_run(struct folder *f, const struct caller *c, struct op *o, const char *path,
	       const char *path2);
/* Judges an operation on one name, then captures and performs it. */
int folder_simple(struct folder *f, const struct caller *c, enum policy_act act, struct op *o,
		  bool creates, bool must_be_new);
/* Judges both names of a link. w->c decides to which calls an answer applies. */
int folder_judge_link(struct wish *w, const struct at *from, const char *old, const struct at *to,
		      const char *new);
/* Returns the caller without a permission that the user gave for another object. */
struct caller folder_answered(struct folder *f, const struct caller *c, const struct op *o,
			      const char *path, const char *to);
/* For r = -FOLDER_HELD: stores the objects of the question in the door's request. Returns r. */
int folder_note_asked(struct folder *f, const struct caller *c, const struct op *o,
		      const char *path, const char *to, int r);
/* Notes that the user allowed the object that now has this name. */
void folder_note_answered(struct folder *f, const struct at *at, const char *path);
