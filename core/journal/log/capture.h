/* capture - appends records to a log, and captures content before it is lost. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <sys/stat.h>

#include "core/journal/log/undo_log.h"
#include "core/journal/store/store.h"
#include "core/journal/util/path_set.h"

struct change_side;

struct captured { /* the content that was captured last */
	bool is;
	uint64_t slot; /* 0: in the log */
	uint64_t src;
	size_t mark;	/* of its record */
	struct stat st; /* of the file when it was copied */
};

struct capture {
	struct journal *j;
	struct undo_log log;
	int dir;	      /* the step's directory */
	int obj;	      /* its directory of objects */
	unsigned flags;	      /* added to each record that is pushed */
	bool recorded;	      /* a record says that not all metadata could be restored */
	bool back;	      /* a rollback fills this log */
	int64_t signed_ns;    /* when the log's mtime was last set: a sign of life (plan_open.c) */
	size_t covered;	      /* the log's length when disk space was last reserved for its end */
	struct path_set seen; /* directories whose times are captured */
	uint64_t seen_turn;   /* journal.dirs_turn when `seen` was filled */
	struct captured last;
	/* A rollback that can be refused: it changes no file that never holds still. */
	bool strict;
};

#define CAPTURE_NONE                                                                               \
	{                                                                                          \
		.log = UNDO_LOG_NONE, .dir = -1, .obj = -1                                         \
	}

struct kept {		 /* how content was captured; the first three are the caller's */
	bool clone_only; /* do not copy: -EOPNOTSUPP */
	bool hashed;	 /* set `hash`, unless it is a clone */
	bool in_slot;	 /* not in the log, however small */
	bool cloned;
	uint64_t slot;	/* 0: in the log */
	uint64_t bytes; /* of the copy */
	uint64_t hash;	/* content_hash_whole() of the captured bytes, or 0 */
};

void store_slot_name(char out[24], uint64_t slot);
/* Creates the slot's file with these bytes; replaces an older one. */
int capture_fill_slot(struct capture *s, uint64_t slot, struct span bytes) MUST_USE;
/* Removes the second hard link of a file if the rename that the record prepared did not happen. */
int capture_drop_link(const struct capture *s, const struct rec *r) MUST_USE;
int capture_push(struct capture *s, struct rec *r) MUST_USE; /* sets r->seq */
/*
 * Adds the file's state to the record of a name that is removed from a file with several hard
 * links. The state tells an external edit through another hard link from the step's own writes
 * through this one. buf must outlive r.
 */
void capture_note(struct rec *r, struct buf *buf, const struct object *o);
/* Reads that state. ret->exists is false if the record has none. */
void capture_noted(const struct rec *r, struct change_side *ret);
/* Records the times of a directory before its first change. path is the directory's. */
int capture_touch_dir(struct capture *s, int root, int dirfd, const char *path) MUST_USE;
/* Forgets the directories whose times are captured, in all captures of the journal: a directory was
 * renamed, so that a path may name another one. */
void capture_forget_dirs(struct capture *s);
void capture_done(struct capture *s);
/* Captures content and metadata of a regular file: in the record, or in a new slot. Changes nothing
 * on failure, e.g. -ENOENT. */
int capture_keep_content(struct capture *s, int root, const char *path, int dirfd, const char *name,
			 uint64_t ino, uint64_t src, struct kept *kept) MUST_USE;

/*
 * ---- a file to which another program writes while it is captured and overwritten ----
 *
 * capture_keep_content() copies once. capture_is_exact() compares the file with the one that was
 * captured last. If it differs, capture_settle() copies again, until the file holds still: only its
 * end, if it has grown. capture_overwrite() then looks at each block before it overwrites it, and
 * adds new bytes to the capture. Bytes that come between two adjacent system calls are lost:
 * between a look and a write, or between the last look and ftruncate(2).
 */
bool capture_is_exact(const struct capture *s, int fd);
#define CAPTURE_MOVING 4100 /* not an errno: the file never held still; the last copy stays */
/* fd: open for reading. On another error the last copy stays, or no record of it is left
 * (last.is). kept->slot is set if the content is in a new slot. */
int capture_settle(struct capture *s, int root, const char *path, int fd, struct kept *kept)
	MUST_USE;
/* Opens the slot of the content that was captured last; last.slot must not be 0. */
int capture_open_last(const struct capture *s) MUST_USE;
/* Writes the content of src over dst, both open for that. The content of dst was captured last, in
 * a slot. Returns 1 if it added bytes to the slot. (overwrite.c) */
int capture_overwrite(struct capture *s, int src, int dst) MUST_USE;

/* Opens a copy of these bytes in memory. */
int capture_in_memory(struct span bytes) MUST_USE;
int capture_keep_meta(struct capture *s, int root, const char *path, int fd, uint64_t src) MUST_USE;

/* Opens the log of a step that has ended, read-only. */
int log_look(const struct journal *j, struct undo_log *log, int dirfd, const char *name) MUST_USE;
/* Adds the paths of the log's records. Quiet records are left out. */
void log_paths(const struct undo_log *log, struct path_set *to);
/* Adds the inodes that its records change in place. */
void log_written(const struct undo_log *log, struct u64_set *to);
