/* open_files - inodes that a process may still have open for writing. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/journal/store/store.h"

#define NAME_UNKNOWN "a file that is still being written has a name that was not found"

struct writer {		 /* an inode that was opened for writing and may still be */
	uint64_t key[2]; /* dev, ino */
	int64_t btime_ns;
	char **names; /* "<root>/path", the newest last; some may not be there now */
	size_t n_names;
	uint32_t then; /* the moment of journal.carried that these are of */
	bool nameless; /* none of these was there when it was last looked for */
	bool sought;   /* then it was sought below the roots, in vain, or need not be */
	bool shut;     /* nobody writes any more; it leaves the list when no event is queued */
	bool once;     /* in journal.once: see expected_events.h */
	bool told;     /* of each close that was awaited: who closes it now is somebody else */
	struct writer *prev_shut, *next_shut; /* in journal.shut */
	UT_hash_handle hh, by_name;
};

struct closed {		 /* one that nobody writes any more, and that left the list for that */
	uint64_t key[2]; /* dev, ino */
	int64_t btime_ns;
	UT_hash_handle hh;
};

void writer_add(struct journal *j, const struct obj *o, int root, const char *path);
/* The same for what was opened just now, by this name: it is told of one close more. */
void writer_opened(struct journal *j, const struct obj *o, int root, const char *path);
struct writer *writer_find(struct journal *j, const struct obj *o);
/* It has this name too, where that was before: for the open steps that have it as well. */
void writer_named(struct journal *j, const struct obj *o, int root, const char *path,
		  const struct obj *before);
/* Everything below a directory that has another name now. Both: they changed places. */
void writers_moved(struct journal *j, int root, const char *from, int root2, const char *to,
		   bool both);
/* One of its several names goes: is there another below the root? Looks for it. False: too much to
 * look at. */
bool writer_seek(struct journal *j, struct writer *w, int root, const char *path);
void writer_gone(struct journal *j, const struct obj *o); /* its last name was removed */
/* Nobody writes to it any more, and it left the list for that; true once. */
bool writer_was_shut(struct journal *j, const struct obj *o);
/* The same, when no step that opened it runs any more. */
bool writer_was_closed(struct journal *j, const struct obj *o);
/* Nobody writes to it any more, but an event may be queued that tells so. */
void writer_shut(struct journal *j, struct writer *w);
void writer_drop(struct journal *j, struct writer *w);
/* A step has ended whose files are still written: that belongs to the steps that run, from now on.
 */
void writers_pass_on(struct journal *j);
void writers_drop(struct journal *j);
void writers_forget_closed(struct journal *j);

/* ---- for keep_open_files.c ------------------------------------------------------------------- */

struct reach; /* reach.h */
/*
 * Where it is, if it is still open for writing; the way there is the caller's to close. Entries
 * that are not are dropped; one that has none of its names now stays, for it may come back. Asked
 * for every file that a step opened, at its end: the common answer (nobody writes) takes four
 * calls.
 */
const char *writer_alive(struct journal *j, struct writer *w, const struct step *ends,
			 struct reach *reach, struct spot *at, struct obj *o);
/* Looks below the roots for all that have no name, once. True: some have one now. */
bool writers_seek_nameless(struct step *of);
