/* folder_priv - what the operations on a folder share: judged, performed, answered for. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/journal/op.h"
#include "core/keeper/folders/judge.h"

/*
 * Between folder.c, where the keeper performs what was asked for, and foreseen.c, where the kernel
 * does. Threads: the keeper's one. Results as in caller.h.
 */

/* One operation of core/journal/op.h, so that another thread can be told to run it. */
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
	bool makes; /* a new object: the caller's umask counts */
	bool dir;   /* foreseen: it is a directory */
	dev_t dev;
	int sock, base;
	off_t size;
	uid_t uid;
	gid_t gid;
	const struct timespec *times;
	const char *text; /* symlink's target, attribute's name, socket's address */
	const void *value;
	size_t value_size;
	/* filled by run() */
	struct step *step;
	bool touched;
};

/* Capture and perform it, in the caller's step; path2: the other name of a rename or link, or NULL.
 */
int folder_run(struct folder *f, const struct caller *c, struct op *o, const char *path,
	       const char *path2);
/* The same once it was judged: what is about one name. */
int folder_simple(struct folder *f, const struct caller *c, enum policy_act act, struct op *o,
		  bool creates, bool must_be_new);
/* Both names of a link; w->c decides what an answer counts for. */
int folder_judge_link(struct wish *w, const struct at *from, const char *old, const struct at *to,
		      const char *new);
/* The caller as it counts: an answer that was given to something else does not. */
struct caller folder_answered(struct folder *f, const struct caller *c, const struct op *o,
			      const char *path, const char *to);
/* Of -FOLDER_HELD: what it is asked about goes to the door, which keeps it with the request.
 * Returns r. */
int folder_note_asked(struct folder *f, const struct caller *c, const struct op *o,
		      const char *path, const char *to, int r);
/* What is at that name now was allowed by the human. */
void folder_note_answered(struct folder *f, const struct at *at, const char *path);
