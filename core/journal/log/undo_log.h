/* undo_log - a step's log file: append, read from both ends, verify. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/buf.h"
#include "core/base/err.h"

struct roll;

/*
 * A log is one file, mapped shared: header, then records back to back. Its space is allocated
 * beforehand. If the file system writes in place (ext4, xfs, tmpfs), a store into the mapping needs
 * no more: it survives SIGKILL, and a record costs no system call. Elsewhere (btrfs) such a store
 * would raise SIGBUS on a full disk: there records are written by pwrite(), which returns an error.
 * `tail` in the header is stored last: it makes a record valid. Each record ends with its own
 * length, so a log is read from both ends.
 *
 * Life: undo_log_create() or undo_log_open() -> undo_log_close(). A closed struct is zeroed with fd
 * -1. Pointers into the map are valid until the next undo_log_append() to the same log.
 */
enum rec_type {
	REC_NEW = 1,  /* path was created; undo: its object moves to a slot */
	REC_GONE,     /* path was removed; its object is in slot; meta: capture_note() */
	REC_RENAME,   /* path became path2 */
	REC_XCHG,     /* path and path2 changed places */
	REC_DIR_NEW,  /* the directory path was created */
	REC_DIR_GONE, /* the empty directory path, with meta, was removed */
	REC_META,     /* the metadata of path changed; meta has the old one */
	REC_CONTENT,  /* the content of path changed; the old one is in slot */
	REC_XINODE,   /* path and slot changed places */
	REC_DTIME,    /* times of the directory path before its entries changed */
	REC_STEP,     /* first record: id, kind and command of the step; undo: nothing */
	REC_MARK,     /* meta names a change that was not captured; undo: nothing */
	REC_INTENT,   /* in logs of version 0.1: ignored */
	REC_END,      /* the step was committed here, among the records of concurrent steps */
	REC_TYPES,
};

/* Returns whether the record is not about the object at a path. */
static inline bool rec_is_quiet(enum rec_type type)
{
	return type == REC_STEP || type == REC_MARK || type == REC_DTIME || type == REC_END;
}

enum {
	REC_LINKED = 1,	   /* GONE: slot is a second hard link; the next record replaces path */
	REC_SWAPPED = 2,   /* RENAME: done as exchange, then path moves to slot */
	REC_DIRECTORY = 4, /* RENAME, XCHG: a directory is moved */
	REC_INLINE = 8,	   /* CONTENT: the bytes are in the record, see undo_log_content() */
	REC_SKIPPED = 16,  /* the rollback skipped it: undoing the rollback skips it, too */
	REC_AFTER = 32, /* written for a merge, after the rollback was done: not part of the step */
	/* The inverse of a REC_AFTER record. A new undo drops it and merges again; a redo, or a
	 * rollback that is being reverted, applies it. */
	REC_VOID = 64,
	REC_BORROWED = 256, /* META of a directory: the rollback added mode bits to enter it */
	REC_FRESH = 512, /* CONTENT, XINODE of a guarded name: undo makes a new file (guarded.h) */
	REC_ASIDE = 128, /* moved unchanged from the other log: the rollback skipped it */
};

struct rec {
	enum rec_type type;
	unsigned flags;
	int root, root2;
	uint64_t seq; /* unique in the store; set by capture_push() */
	uint64_t src; /* seq of the record whose inverse this one is, while a rollback runs; or 0 */
	uint64_t slot;		  /* number of an object, or 0 */
	uint64_t ino;		  /* of the object at path when the record was written */
	uint64_t ino2;		  /* RENAME: of the object at path2, or 0 */
	const char *path, *path2; /* NUL-terminated, relative to the root; never NULL */
	struct span meta;
};

/* Returns whether the record has no object: it is quiet, or the rollback skipped or voided it. */
static inline bool rec_is_idle(const struct rec *r)
{
	return rec_is_quiet(r->type) || (r->flags & (REC_SKIPPED | REC_VOID));
}

/* Returns whether the record is in a redo log, and the rollback left it out: the state that it
 * captured is in no other place. */
static inline bool rec_is_left_out(const struct rec *r)
{
	return (r->flags & REC_SKIPPED) && (r->flags & REC_ASIDE);
}

/* Returns whether the record holds the bytes of the object at path, if it is not idle. */
static inline bool rec_has_bytes(const struct rec *r)
{
	return r->type == REC_GONE || r->type == REC_CONTENT || r->type == REC_XINODE;
}

/* Renames a path as the record did. Returns whether the record renamed it or a directory above. */
bool rec_carry(const struct rec *r, int *root, char **path);

/* Returns whether the record changes bytes or metadata of the object at path, and no name. */
static inline bool rec_is_in_place(const struct rec *r)
{
	return r->type == REC_CONTENT || r->type == REC_META || r->type == REC_XINODE;
}

struct undo_log {
	int fd;
	unsigned char *map;
	size_t cap, tail;
	uint64_t next_slot;
	bool writable;
	bool mapped; /* else map is a copy of the file */
	bool stores; /* records are stored through the map; else by pwrite() */
	bool behind; /* the file still has records that were cut off here */
};

#define UNDO_LOG_NONE                                                                              \
	{                                                                                          \
		.fd = -1                                                                           \
	}

int undo_log_create(struct undo_log *log, int dirfd, const char *name) MUST_USE;
/*
 * Opens a log and verifies every record. A bad record is a torn tail: with `cut` the log ends
 * before it, else -EBADMSG. A writable log is mapped shared; another one is copied, and may be
 * written meanwhile. -ENODATA: undo_log_create() was interrupted, and the log is empty.
 */
int undo_log_open(struct undo_log *log, int dirfd, const char *name, bool writable, bool cut)
	MUST_USE;
/* Opens a log read-only and mapped. The caller holds the store's lock, so no other process changes
 * it. */
int undo_log_view(struct undo_log *log, int dirfd, const char *name) MUST_USE;
void undo_log_close(struct undo_log *log);
#define AUTO_UNDO_LOG CLEANUP(undo_log_close)
/* Returns whether the file of a copied log has gained or lost records after the copy. */
bool undo_log_has_changed(const struct undo_log *log);
/* Frees the space behind the tail; the log can still be read. */
void undo_log_trim(struct undo_log *log);

/* Appends a record. -ENOSPC, -EDQUOT: nothing was added. */
int undo_log_append(struct undo_log *log, const struct rec *r) MUST_USE;
size_t undo_log_tail(const struct undo_log *log);
/* Removes the records behind tail, an offset from undo_log_tail() or undo_log_last(). After an
 * error the file still has them, until undo_log_catch_up() or the next change of the log: as if
 * this process had died before. */
int undo_log_cut(struct undo_log *log, size_t tail) MUST_USE;
int undo_log_catch_up(struct undo_log *log) MUST_USE;
/* undo_log_cut() for records whose operation was not performed. Ignores errors: a reader finds out
 * that it was not performed. */
void undo_log_take_back(struct undo_log *log, size_t tail);
bool undo_log_empty(const struct undo_log *log);
/* Reads the record that ends at tail; *start: its beginning. Returns false at the front. */
bool undo_log_last(const struct undo_log *log, size_t tail, struct rec *r, size_t *start);
/* Reads the record at *at (0: the first) and moves *at behind it. Returns false at the tail. */
bool undo_log_next(const struct undo_log *log, size_t *at, struct rec *r);
/* The same over n logs, one after the other. A walk begins as {0}; walk->log is the record's
 * log. */
struct undo_log_walk {
	size_t log, at;
};
bool undo_log_walk(const struct undo_log *logs, size_t n, struct undo_log_walk *walk,
		   struct rec *r);
/* Over n logs backwards, by sequence numbers: the newest record first, without REC_STEP.
 * (log_reader.c) */
struct undo_log_head {
	struct rec rec; /* the newest one that was not returned yet */
	size_t log, tail;
};
struct undo_log_back {
	const struct undo_log *logs;
	struct undo_log_head
		*heads; /* of n logs that have more records; a heap: the newest first */
	size_t n, log;	/* log: of the record that was returned */
};
struct undo_log_back undo_log_back_begin(const struct undo_log *logs, size_t n);
bool undo_log_back(struct undo_log_back *walk, struct rec *r);
void undo_log_back_end(struct undo_log_back *walk);
/* Splits a CONTENT record's meta into metadata and, with REC_INLINE, bytes. */
void undo_log_content(const struct rec *r, struct span *meta, struct span *bytes);
/* Returns a new slot number: even for a step's undo log, odd for its redo log. */
uint64_t undo_log_slot(struct undo_log *log);

int undo_log_set_roll(struct undo_log *log, const struct roll *roll) MUST_USE;
/* Reads the header's rollback number without opening the log. */
int undo_log_peek_roll(int dirfd, const char *name, struct roll *ret) MUST_USE;
/* Reads the sequence number of the first record. */
int undo_log_peek_first(int dirfd, const char *name, uint64_t *ret) MUST_USE;
