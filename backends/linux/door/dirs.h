/* dirs - a cache of the keeper's own directory descriptors, by inode, with their current paths. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "backends/linux/door/place.h"

/* How long a path from /proc counts as current: the user may move directories too. */
#define TEXT_US 5000

struct dir_entry {
	dev_t dev;
	ino_t ino;
	struct folder *folder;
	int fd;	       /* free entries have -1 */
	bool borrowed; /* the descriptor is the folder's own */
	uint64_t used;
	uint64_t serial; /* never reused */
	char *text;	 /* absolute; may be outdated */
	int64_t text_us;
	uint64_t renames;
};

void dirs_open(struct ldoor *d);
void dirs_close(struct ldoor *d);
struct dir_entry *dir_find(struct ldoor *d, dev_t dev, ino_t ino); /* NULL: not known */
/* Opens the keeper's directory for the inode of st, which a process of the sandbox sees at
 * `text`. */
int dir_open(struct ldoor *d, const struct stat *st, const char *text, struct folder **ret_folder,
	     int *ret_fd);
/* Sets p->at.dir, the path in its folder of the keeper's directory p->at.dirfd (e: its entry, or
 * NULL). Returns -ENOENT if it was removed, -EROFS if it was moved out of the folder. */
int set_dir_text(struct ldoor *d, struct place *p, struct dir_entry *e);
