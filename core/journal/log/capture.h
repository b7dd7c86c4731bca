/* capture - appends records to a log, and captures content before it is lost. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/journal/log/group_commit.h"
#include "core/journal/log/undo_log.h"
#include "core/journal/store/store.h"

struct change_side;

struct seen { /* a directory whose times are kept */
	char *path;
	UT_hash_handle hh;
};

struct side {
	struct journal *j;
	bool unsynced; /* records were added */
	bool loose;    /* such that are on the disk as intents only */
	struct intents intents;
	struct wal log;
	int dir;	   /* the step's directory */
	int obj;	   /* its objects */
	unsigned flags;	   /* that each record gets for the moment */
	bool recorded;	   /* that not everything could be set back */
	bool back;	   /* of a rollback */
	int64_t signed_ns; /* when the log's mtime was last set: a sign of life (plan_open.c) */
	size_t covered;	   /* the log's length when space was last set aside for its end */
	struct seen *seen;
	uint64_t seen_turn; /* of the journal, when it was filled */
};

#define SIDE_NONE                                                                                  \
	{                                                                                          \
		.intents = {.recs = BUF_INIT}, .log = WAL_NONE, .dir = -1, .obj = -1               \
	}

struct kept {		 /* how a content was kept */
	bool clone_only; /* asked for: -EOPNOTSUPP rather than a copy */
	bool hashed;	 /* asked for, of a copy */
	bool cloned;
	uint64_t slot;	/* 0: in the log */
	uint64_t bytes; /* of the copy */
	uint64_t hash;	/* data_hash_whole() of what was kept, or 0 */
};

void slot_name(char out[24], uint64_t slot);
/* Make the slot's file with these bytes (again, if need be). */
int slot_fill(struct side *s, uint64_t slot, struct span bytes) MUST_USE;
int side_push(struct side *s, struct rec *r) MUST_USE; /* sets r->seq */
/*
 * Of a file that a name is taken of and that has others the record says what it was like: written
 * to by one of those it is somebody else's, and the step may be about to write to it by this one.
 * buf must outlive r.
 */
void side_note(struct rec *r, struct buf *buf, const struct obj *o);
void side_noted(const struct rec *r, struct change_side *ret); /* nothing: it had none, or is old */
/* Keep the times of a directory before its first change. path is the directory's. */
int side_touch_dir(struct side *s, int root, int dirfd, const char *path) MUST_USE;
/* A directory has another name: what is at a path may be another one. For all sides. */
void side_forget_dirs(struct side *s);
void side_done(struct side *s);
/* Copy content and metadata of a regular file into a new slot; -ENOENT etc. change nothing. */
int side_keep_content(struct side *s, int root, const char *path, int dirfd, const char *name,
		      uint64_t ino, uint64_t src, struct kept *kept) MUST_USE;
int side_keep_meta(struct side *s, int root, const char *path, int fd, uint64_t src) MUST_USE;

/* The log of a step that has ended, to be read only. */
int log_look(const struct journal *j, struct wal *log, int dirfd, const char *name) MUST_USE;
