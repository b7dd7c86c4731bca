/* undo_log - a step's log file: append, read from both ends, verify. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/buf.h"
#include "core/base/err.h"

/*
 * A log is one file, mapped shared: header, then records back to back. The space is allocated
 * beforehand, and where the file system writes in place (ext4, xfs, tmpfs) a store into the mapping
 * needs no more: it survives SIGKILL, and a record costs no system call. Elsewhere (btrfs) it would
 * say SIGBUS when the disk is full: there records are written, and a full disk is an error.
 * `tail` in the header is stored last: it is what makes a record valid. Each record ends with its
 * own length, so a log is read from both ends.
 *
 * Life:    wal_create() or wal_open() -> wal_close(). A zeroed struct with fd -1 is closed.
 * Pointers into the map die with the next wal_append() to the same log.
 */
enum rec_type {
	REC_NEW = 1,  /* path was not there; undo: whatever is there moves to a slot */
	REC_GONE,     /* what was at path is in slot, meta: see side_note(); undo: it comes back */
	REC_RENAME,   /* path became path2 */
	REC_XCHG,     /* path and path2 changed places */
	REC_DIR_NEW,  /* the directory path was not there */
	REC_DIR_GONE, /* the empty directory path, with meta, was removed */
	REC_META,     /* meta of path */
	REC_CONTENT,  /* content of path is in slot, its meta here */
	REC_XINODE,   /* path and slot changed places */
	REC_DTIME,    /* times of the directory path before its entries changed */
	REC_STEP,     /* first record: what this step is; undo: nothing */
	REC_MARK,     /* the words in meta say what the step lacks; undo: nothing */
	REC_INTENT,   /* meta is records that wait to be performed (group_commit.h): read past */
	REC_TYPES,
};

/* Records that are not about the object at a path. */
static inline bool rec_is_quiet(enum rec_type type)
{
	return type == REC_STEP || type == REC_MARK || type == REC_DTIME;
}

enum {
	REC_LINKED = 1,	 /* GONE: slot is a second name, the first is replaced by the next record */
	REC_SWAPPED = 2, /* RENAME: done as exchange, then path moves to slot */
	REC_DIRECTORY = 4, /* RENAME, XCHG: a directory is moved */
	REC_INLINE = 8,	   /* CONTENT: the bytes are in the record, see wal_content() */
	REC_SKIPPED = 16,  /* the rollback skipped it: undoing the rollback skips it, too */
	REC_AFTER = 32, /* written for a merge, after the rollback was done: not part of the step */
	/* The inverse of a REC_AFTER record. A new undo drops it and merges again; a redo, or a
	 * rollback that is being reverted, applies it. */
	REC_VOID = 64,
	REC_BORROWED = 256, /* META of a directory that stood in the way: mode bits were added */
	REC_FRESH = 512, /* CONTENT, XINODE of a guarded name: undo makes a new file (guarded.h) */
	REC_ASIDE = 128, /* moved unchanged from the other log: the rollback skipped it */
};

struct rec {
	enum rec_type type;
	unsigned flags;
	int root, root2;
	uint64_t seq;  /* of the whole store; set by wal_append() from the caller's counter */
	uint64_t src;  /* seq of the record that this one answers while a rollback runs, or 0 */
	uint64_t slot; /* number of an object, or 0 */
	uint64_t ino;  /* of what was at path when the record was written */
	uint64_t ino2; /* RENAME: of what was at path2, or 0 */
	const char *path, *path2; /* NUL-terminated, relative to the root; never NULL */
	struct span meta;
};

/* The record left no object at any path. */
static inline bool rec_is_idle(const struct rec *r)
{
	return rec_is_quiet(r->type) || (r->flags & (REC_SKIPPED | REC_VOID));
}

/* What was at path is the same object, with other bytes or other metadata. */
static inline bool rec_is_in_place(const struct rec *r)
{
	return r->type == REC_CONTENT || r->type == REC_META || r->type == REC_XINODE;
}

struct wal {
	int fd;
	unsigned char *map;
	size_t cap, tail;
	uint64_t next_slot;
	bool writable;
	bool mapped; /* else it is a copy */
	bool stores; /* through the map */
	bool behind; /* the file has more records than there are */
};

#define WAL_NONE                                                                                   \
	{                                                                                          \
		.fd = -1                                                                           \
	}

int wal_create(struct wal *log, int dirfd, const char *name) MUST_USE;
/*
 * Verifies every record. A bad one is a torn tail: with `cut` the log ends before it, else
 * -EBADMSG. Writable logs are mapped shared; others are a copy, of a log that may be written
 * meanwhile. -ENODATA: wal_create() was cut short, nothing was ever in it.
 */
int wal_open(struct wal *log, int dirfd, const char *name, bool writable, bool cut) MUST_USE;
/* To read only, mapped: for whoever holds the store's lock, as nobody else changes it then. */
int wal_view(struct wal *log, int dirfd, const char *name) MUST_USE;
void wal_close(struct wal *log);
/* Of a copy: has its log got or lost records since? */
bool wal_has_changed(const struct wal *log);
/* Give the space behind the tail back; the log can still be read. */
void wal_trim(struct wal *log);

/* -ENOSPC, -EDQUOT: nothing was added. */
int wal_append(struct wal *log, const struct rec *r) MUST_USE;
size_t wal_tail(const struct wal *log);
/* Take off what lies behind tail, a value that wal_tail() or wal_last() gave. After an error the
 * file still has it, until wal_catch_up() or the next change of the log: as if this process had
 * died before. */
int wal_cut(struct wal *log, size_t tail) MUST_USE;
int wal_catch_up(struct wal *log) MUST_USE;
/* wal_cut() for records whose operation came to nothing, which is what such a file is read as. */
void wal_take_back(struct wal *log, size_t tail);
bool wal_empty(const struct wal *log);
/* The record that ends at tail; *start is where it begins. False at the front. */
bool wal_last(const struct wal *log, size_t tail, struct rec *r, size_t *start);
/* The record at *at (0: the first), *at moves behind it. False at the tail. */
bool wal_next(const struct wal *log, size_t *at, struct rec *r);
/* wal_next() and wal_last() read past intents; this one does not. */
bool wal_next_any(const struct wal *log, size_t *at, struct rec *r);
/* Metadata and, with REC_INLINE, bytes of a CONTENT record. */
void wal_content(const struct rec *r, struct span *meta, struct span *bytes);
/* Slot numbers are even in one log of a step and odd in the other. */
uint64_t wal_slot(struct wal *log);

/*
 * A rollback: a number of the store's, and a moment (wall clock, microseconds; 0: not known), which
 * is when it was made or, of what died, when that session began. Several stores have the same; the
 * number alone can be that of another rollback there.
 */
struct roll {
	uint64_t number, us;
};
bool roll_same(const struct roll *a, const struct roll *b);
int wal_set_roll(struct wal *log, const struct roll *roll) MUST_USE;
int wal_peek_roll(int dirfd, const char *name, struct roll *ret) MUST_USE; /* without opening it */
int wal_peek_first(int dirfd, const char *name, uint64_t *ret) MUST_USE;   /* of its first record */

/* Numbers and strings in a row, for records' metadata and the store's small files. */
void put_u32(struct buf *b, uint32_t v);
void put_u64(struct buf *b, uint64_t v);
void put_str(struct buf *b, const char *s, size_t len);
struct get {
	const char *p, *end;
	bool bad;
};
uint32_t get_u32(struct get *g);
uint64_t get_u64(struct get *g);
struct span get_str(struct get *g); /* NUL-terminated in place */
