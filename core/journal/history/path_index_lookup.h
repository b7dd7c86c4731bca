/* path_index_lookup - translates a past path to later moments, by the log records. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/journal/journal.h"
#include "core/journal/log/log_reader.h"
#include "core/journal/log/undo_log.h"
#include "core/journal/store/store.h"
#include "core/journal/util/path_set.h"

/*
 * A path at some moment of the past is followed towards the present, through the records of the
 * steps that are kept, oldest first: a record that took the bytes away says where they are; a
 * rename changes the path; whoever reaches the end finds them in the folder. For steps that are
 * undone the same is done with their redo logs: the "past" is then what redo would bring back.
 *
 * Life:  trails_get() makes the index, which stays with the journal for the next question. It may
 *        grow old: what it leads to is not there any more then (an error), never something else;
 *        trails_drop() and ask again. Only names and numbers are in memory.
 */
#define NO_MARK	  SIZE_MAX
#define NOT_ASKED INT64_MIN

struct mark { /* one record */
	uint64_t seq, slot, ino, at;
	uint32_t log;
	enum rec_type type;
	unsigned flags;
	struct place *from, *to; /* to: of a rename or an exchange */
	size_t next;		 /* mark of the same path, or NO_MARK */
	/* Once asked, of a file: the time of modification that it tells, and the mark up to which
	 * those of its inode tell the same. */
	int64_t mtime_ns;
	size_t behind;
};

struct place { /* a path that records name */
	char *key;
	int root;
	const char *path; /* in key */
	size_t first;	  /* of its marks */
	UT_hash_handle hh;
};

struct trail_log {
	int64_t id;
	int fd, obj;		    /* the log, its objects */
	size_t first, end;	    /* of its marks */
	bool asked;		    /* what the step left of files; by inode (path_index_after.c) */
	bool murky;		    /* not what of some that others wrote to */
	int64_t began_us, ended_us; /* it ran; 0: not known */
	struct change_side *left;
	size_t n_left;
};

struct marks { /* in their order */
	size_t *list, n;
};

struct crossing { /* of a path: what was there leaves it, what is there then came to it */
	struct marks leaves, comes;
};

struct trails {
	bool undone;
	int64_t made_ns;    /* wall clock */
	int64_t changed_ns; /* the store, by then */
	uint64_t since;	    /* logs that end before this number are not here */
	struct trail_log *logs;
	size_t n_logs;
	struct mark *list; /* by number */
	size_t n;
	struct place *places;
	size_t *inodes, n_inodes;   /* marks by inode: of names that are gone behind the others */
	struct names crossed;	    /* paths of marks that carry all that is below */
	size_t *blind, n_blind;	    /* in order: marks at the end of steps that are damaged */
	struct crossing *crossings; /* of each, those marks */
};

/*
 * The index for a step; borrowed until the next call, of this or of one that asks it itself:
 * origin_find(), journal_content(), trails_drop().
 */
int trails_get(struct journal *j, int64_t id, bool undone, const struct trails **ret) MUST_USE;
void trails_drop(struct journal *j);
/* Have steps come or gone since the index was made? Also true where that cannot be told. */
bool trails_are_old(const struct journal *j);
const struct trail_log *trails_log(const struct trails *t, int64_t id); /* NULL: it has none */

/* Is this the end of a damaged step? */
static inline bool mark_is_blind(const struct mark *m)
{
	return m->type == REC_MARK && !*m->from->path;
}

/* The order of trails.inodes. Names that were taken lie apart: of a file by many there is little
 * else. */
bool mark_comes_before(const struct mark *m, size_t i, uint64_t ino, bool gone, size_t at);

/* What to look for. A REC_MARK is a path that its step changed without keeping anything: nothing
 * older of it is anywhere. Behind a damaged step that is so of every path. */
enum {
	TRAIL_BYTES = 1 << REC_GONE | 1 << REC_CONTENT | 1 << REC_XINODE | 1 << REC_MARK,
	TRAIL_META = TRAIL_BYTES | 1 << REC_META | 1 << REC_DIR_GONE,
};

/*
 * Follow *path from mark `at` on to the first of the wanted records; its index, or t->n when none
 * is left and the present has it at *path. *inside: the rest of the path below the directory that
 * the record is about, "" for the object itself. *path is a heap string that changes.
 */
size_t trail_follow(const struct trails *t, size_t at, unsigned wanted, int *root, char **path,
		    char **inside);
/* The first mark of this inode and these kinds in [at, end), or end. */
size_t trail_of_inode(const struct trails *t, size_t at, size_t end, unsigned wanted, uint64_t ino);
/* The record of a mark, whole. */
int trail_fetch(const struct trails *t, size_t mark, struct buf *mem, struct rec *r) MUST_USE;
/* The time of modification that the file had by then, of a name that was taken, too; -1: it tells
 * none. */
int64_t trail_time(const struct trails *t, size_t mark);
/* Where to go on behind one of an inode: names of a file that went one after the other tell the
 * same. */
size_t trail_behind(const struct trails *t, size_t mark);
struct left_of { /* a file */
	uint64_t ino;
	/* What is asked about is another inode than the summary has: that one's number, or 0; and
	 * what lay at its path at the other end, or NULL. */
	uint64_t then;
	const struct change_side *beside;
};
/* What this log's step left of the file; undone: what it had found. False: that is not told. Where
 * somebody else wrote to it meanwhile it does not exist. */
bool trail_left(struct journal *j, const struct trails *t, uint32_t log, const struct left_of *of,
		struct change_side *ret) MUST_USE;
/* Did the steps of these logs run at the same time? */
bool trail_overlap(struct journal *j, const struct trails *t, uint32_t log, uint32_t other);
/*
 * What a path that the step's summary names was called when the step began: directories may have
 * been renamed before it was first spoken of. Heap string. _from: spoken of at mark `end`.
 */
char *trail_back(const struct trails *t, const struct trail_log *log, int *root, const char *path);
char *trail_back_from(const struct trails *t, const struct trail_log *log, size_t end, int *root,
		      const char *path);
