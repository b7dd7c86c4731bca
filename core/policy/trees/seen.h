/* seen - caches the content of a tree's directories between searches. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stddef.h>

#include "core/base/buf.h"

/*
 * A search of 100 000 directories takes a second, most of it for reading them. The names in a
 * directory change only with its ctime, which no process can set. So a search leaves a file in the
 * state folder, which no sandbox sees, with the names and the ctimes. The next search asks for the
 * ctime of each directory, and reads a directory only if that is another one.
 *
 * Not recorded, and read each time:
 *  - a directory that changed within the last seconds: a second change in the same tick of the
 * clock of files would leave the ctime as it is;
 *  - encrypted ones (fscrypt): their names are others without the key;
 *  - other file systems than ext4, xfs, btrfs and tmpfs: a server, or the layers below an overlay,
 *    may change names without a new time.
 *
 * A record that is damaged, or of another version of cordon, counts as none.
 */
struct seen; /* of an earlier search; any thread may read it */

/* Reads the file. Returns NULL if there is none. */
struct seen *seen_load(const char *path);
void seen_free(struct seen *s); /* NULL is a no-op */

/* So many entries take as long to read as a small directory. */
#define SEEN_ENTRIES 20

/* A directory and its state. */
struct seen_dir {
	uint64_t dev, ino, sec, nsec;
};

/* The directories seen by one thread, or by the whole search. */
struct seen_part {
	struct buf records, names;
	size_t fresh; /* small directories' worth of reading that the earlier search did not save */
	uint64_t dev; /* the last device, and whether its ctimes are reliable */
	bool device_known, device_tells;
};
#define SEEN_PART_INIT                                                                             \
	{                                                                                          \
		.records = BUF_INIT, .names = BUF_INIT                                             \
	}

/* Gets the state of the directory at this path, "" for fd itself. Returns whether its ctime changes
 * with its names. Call it before reading: a change in between gives another ctime. */
bool seen_identify(struct seen_part *p, int fd, const char *path, struct seen_dir *ret);
/* Returns whether the earlier search (may be NULL) saw the directory in this state, and its entries
 * as passed to seen_part_add(), valid until seen_free(). */
bool seen_find(const struct seen *s, const struct seen_dir *dir, struct span *ret);
/* Adds a directory with its entries: for each the type as in dirent.h, the name and NUL. */
void seen_part_add(struct seen_part *p, const struct seen_dir *dir, const char *held, size_t len);
/* Moves all from `from` to `to`. */
void seen_part_move(struct seen_part *to, struct seen_part *from);
void seen_part_done(struct seen_part *p);
/* Writes the file, unless it has nearly everything already. */
void seen_save(const char *path, const struct seen_part *p);
