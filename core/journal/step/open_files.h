/* open_files - inodes that a process may still have open for writing. */
/* SPDX-License-Identifier: MIT */
#pragma once
#include <limits.h>

#include "core/base/hash.h"

struct journal;
struct object;
struct spot;
struct step;

#define NAME_UNKNOWN "a file that is still being written has a name that was not found"

struct open_file {	 /* an inode that was opened for writing and may still be */
	uint64_t key[2]; /* dev, ino */
	int64_t btime_ns;
	char **names; /* "<root>/path", the newest last; some may no longer exist */
	size_t n_names;
	uint32_t then; /* the moment of journal.carried at which the names were valid */
	bool nameless; /* none of the names existed at the last look */
	bool sought;   /* if nameless: it was searched for below the roots, or need not be */
	bool shut;     /* it has no writer; it leaves the list when no event is queued */
	bool once;     /* in journal.once: see expected_events.h */
	bool told;     /* the expected close was reported: a further close is of another process */
	/* Descriptors that were opened since it came to the list (or OPENS_UNKNOWN), and closes
	 * that were reported since: at least so many were closed. */
	unsigned opens, closes;
	struct open_file *prev_shut, *next_shut; /* in journal.shut */
	UT_hash_handle hh, by_name;
};

#define OPENS_UNKNOWN (UINT_MAX / 2)

struct closed {		 /* a file that left the list because it had no writer */
	uint64_t key[2]; /* dev, ino */
	int64_t btime_ns;
	UT_hash_handle hh;
};

void open_file_add(struct journal *j, const struct object *o, int root, const char *path);
/* Like open_file_add(), for a file that was just opened by this name: one more close event will
 * come. */
void open_file_opened(struct journal *j, const struct object *o, int root, const char *path);
struct open_file *open_file_find(struct journal *j, const struct object *o);
/* Notes that the file got this name as well, in place of the object `before`. Open steps that have
 * records about the file touch the name. */
void open_file_named(struct journal *j, const struct object *o, int root, const char *path,
		     const struct object *before);
/* Renames all names below a renamed directory. both: the two directories changed places. */
void open_files_moved(struct journal *j, int root, const char *from, int root2, const char *to,
		      bool both);
/* Finds another name of the file below the root, because this one of its hard links will be
 * removed. Returns false if there are too many entries to search. */
bool open_file_seek(struct journal *j, struct open_file *w, int root, const char *path);
void open_file_gone(struct journal *j, const struct object *o); /* its last name was removed */
/* Returns whether the file left the list because it has no writer, and an open step opened it; true
 * once. */
bool open_file_was_shut(struct journal *j, const struct object *o);
/* Like open_file_was_shut(), if the step that opened it has ended. */
bool open_file_was_closed(struct journal *j, const struct object *o);
/* Notes that the file has no writer, while its close event may still be queued. */
void open_file_shut(struct journal *j, struct open_file *w);
void open_file_drop(struct journal *j, struct open_file *w);
/* Returns whether a program outside has written to this file, which a process still has open for
 * writing: more closes were reported than the steps' own descriptors explain. True once for each
 * such close. */
bool open_file_is_shared(struct open_file *w, int fd);
/* Captures files that are still open for writing in all running steps, because the step that opened
 * them has ended: later writes belong to the running steps. */
void open_files_pass_on(struct journal *j);
void open_files_drop(struct journal *j);
void open_files_forget_closed(struct journal *j);

/* ---- for keep_content.c ------------------------------------------------------------------- */

struct reach; /* reach.h */
/*
 * Returns the file's present name, its location and object, if the file is still open for writing;
 * else NULL. The caller closes *reach. A file without writer is dropped from the list; a file whose
 * names are all gone stays, as it may come back. Called for every file that a step opened, at its
 * end; the usual answer (no writer) takes four system calls.
 */
const char *open_file_alive(struct journal *j, struct open_file *w, const struct step *ends,
			    struct reach *reach, struct spot *at, struct object *o);
/* Searches the roots for all files that have no name, once. Returns whether it found any. */
bool open_files_seek_nameless(struct step *of);
