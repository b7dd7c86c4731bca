/* path_index_lookup - translates a past path to later moments, by the log records. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/hash.h"
#include "core/journal/log/undo_log.h"
#include "core/journal/util/path_set.h"

struct change_side;
struct journal;

/*
 * Follows a path from a past moment towards the present, through the records of the kept steps,
 * oldest first. A record that captured the object says where its bytes are; a rename changes the
 * path; if no record is left, the bytes are in the folder. Undone steps are followed in the same
 * way through their redo logs: the "past" is then the state that redo would restore.
 *
 * Life: path_index_get() makes the index, which stays with the journal for later calls. If it grows
 * old, it may lead to objects that no longer exist (an error), but never to wrong ones: call
 * path_index_drop() and try again. It holds only names and numbers.
 */
#define NO_MARK	  SIZE_MAX
#define NOT_ASKED INT64_MIN

struct path_record { /* one record */
	uint64_t seq, slot, ino, at;
	uint32_t log;
	enum rec_type type;
	unsigned flags;
	struct place *from, *to; /* to: of a rename or an exchange */
	size_t next;		 /* mark of the same path, or NO_MARK */
	/* Filled on demand, for a file: the modification time in the record, and the mark up to
	 * which the records of its inode have the same time. */
	int64_t mtime_ns;
	size_t behind;
};

struct place { /* a path that records name */
	char *key;
	int root;
	const char *path; /* in key */
	size_t first;	  /* its first mark */
	UT_hash_handle hh;
};

struct path_log {
	int64_t id;
	int fd, obj;		    /* the log and the directory of objects */
	size_t first, end;	    /* the range of its marks */
	bool asked;		    /* `left` is loaded (path_index_after.c) */
	bool murky;		    /* external edits changed files that `left` lacks */
	int64_t began_us, ended_us; /* wall clock; 0: unknown */
	struct change_side *left;
	size_t n_left;
};

struct path_records { /* in order */
	size_t *list, n;
};

struct crossing { /* records that move objects from a path, and to it */
	struct path_records leaves, comes;
};

struct path_index {
	bool undone;
	int64_t made_ns;    /* wall clock */
	int64_t changed_ns; /* time of the store's last change at that time */
	uint64_t since;	    /* logs that end before this number are not here */
	struct path_log *logs;
	size_t n_logs;
	struct path_record *list; /* by number */
	size_t n;
	struct place *places;
	size_t *inodes, n_inodes;   /* marks by inode; REC_GONE after the others */
	struct path_set crossed;    /* paths of records that move whole directories */
	size_t *blind, n_blind;	    /* in order: marks at the ends of damaged steps */
	struct crossing *crossings; /* of each crossed path */
};

/*
 * Makes the index for a step, or returns the present one. Borrowed until the next call of this or
 * of a function that calls it: content_origin_find(), journal_content(), path_index_drop().
 */
int path_index_get(struct journal *j, int64_t id, bool undone, const struct path_index **ret)
	MUST_USE;
void path_index_drop(struct journal *j);
/* Returns whether steps were added or removed since the index was made; true if unknown. */
bool path_index_is_old(const struct journal *j);
/* Returns the step's log, or NULL. */
const struct path_log *path_index_log(const struct path_index *t, int64_t id);

/* Returns whether this is the end of a damaged step. */
static inline bool path_record_is_blind(const struct path_record *m)
{
	return m->type == REC_MARK && !*m->from->path;
}

/* The order of path_index.inodes. Records of removed names are apart, as a file with many names has
 * mostly those. */
bool path_record_is_before(const struct path_record *m, size_t i, uint64_t ino, bool gone,
			   size_t at);

/* The records to look for. A REC_MARK is a path that its step changed without capturing it: no
 * older state of the path exists. After a damaged step that holds for every path. */
enum {
	PATH_INDEX_BYTES = 1 << REC_GONE | 1 << REC_CONTENT | 1 << REC_XINODE | 1 << REC_MARK,
	PATH_INDEX_META = PATH_INDEX_BYTES | 1 << REC_META | 1 << REC_DIR_GONE,
};

/*
 * Follows *path from mark `at` on to the first wanted record. Returns its index, or t->n if there
 * is none: then the folder has the object at *path. *inside: the rest of the path below the
 * directory that the record is about, "" for the object itself. *path is a heap string that
 * changes.
 */
size_t path_index_follow(const struct path_index *t, size_t at, unsigned wanted, int *root,
			 char **path, char **inside);
/* Returns the first mark of this inode and these kinds in [at, end), or end. */
size_t path_index_of_inode(const struct path_index *t, size_t at, size_t end, unsigned wanted,
			   uint64_t ino);
/* Reads the whole record of a mark. */
int path_index_fetch(const struct path_index *t, size_t mark, struct buf *mem, struct rec *r)
	MUST_USE;
/* Returns the file's modification time in the record, also of a removed name; -1 if it has none. */
int64_t path_index_time(const struct path_index *t, size_t mark);
/* Returns the mark after which to continue with the same inode: skips further names of the file
 * that were removed with the same time. */
size_t path_index_behind(const struct path_index *t, size_t mark);
struct left_of { /* a file after a step */
	uint64_t ino;
	/* If the file's inode may differ from the one in the summary: its number there, or 0; and
	 * the state of its path at the step's other end, or NULL. */
	uint64_t then;
	const struct change_side *beside;
};
/* Finds the file's state after this log's step; undone: before it. Returns false if it is unknown.
 * ret->exists is false if an external edit changed the file while the step ran. */
bool path_index_left(struct journal *j, const struct path_index *t, uint32_t log,
		     const struct left_of *of, struct change_side *ret) MUST_USE;
/* Returns whether the steps of these logs were concurrent. */
bool path_index_overlap(struct journal *j, const struct path_index *t, uint32_t log,
			uint32_t other);
/*
 * Returns the name that a path of the step's summary had when the step began: directories may have
 * been renamed before the step first touched it. Heap string. _from: it was first touched at mark
 * `end`.
 */
char *path_index_back(const struct path_index *t, const struct path_log *log, int *root,
		      const char *path);
char *path_index_back_from(const struct path_index *t, const struct path_log *log, size_t end,
			   int *root, const char *path);
