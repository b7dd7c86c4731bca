/* dirs - a cache of the keeper's own directory descriptors, by inode, with their current paths. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "backends/linux/door/place.h"

/* A path that was read from /proc counts for so long: the human may move directories too. */
#define TEXT_US 5000

struct dir_entry {
	dev_t dev;
	ino_t ino;
	struct folder *folder;
	int fd;	       /* -1: free */
	bool borrowed; /* the folder's own */
	uint64_t used;
	uint64_t serial; /* never given twice */
	char *text;	 /* absolute; may be out of date */
	int64_t text_us;
	uint64_t renames;
};

void dirs_open(struct ldoor *d);
void dirs_close(struct ldoor *d);
struct dir_entry *dir_find(struct ldoor *d, dev_t dev, ino_t ino); /* NULL: not known */
/* Our directory for the same inode as st, which some process of the sandbox sees at `text`. */
int dir_open(struct ldoor *d, const struct stat *st, const char *text, struct folder **ret_folder,
	     int *ret_fd);
/* p->at.dirfd is a directory of ours (e: its entry, or NULL): fill p->at.dir, its path in its
 * folder. -ENOENT: it was removed; -EROFS: it was moved out of the folder. */
int set_dir_text(struct ldoor *d, struct place *p, struct dir_entry *e);
