/* lock_priv - shared by the files of the lock: which opens are reported, and which refused. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <sys/statfs.h>

#include "core/base/err.h"

#define FOLDERS_MOST 8

struct marks {
	int opens; /* fanotify descriptor for permission events */
	int names; /* fanotify descriptor for new directories */
	struct marked {
		int fd; /* a folder */
		fsid_t fsid;
	} folders[FOLDERS_MOST];
	size_t n;
};

#define AUTO_MARKS CLEANUP(marks_done)

/* ---- lock_marks.c: the directories that are marked ------------------------------------------- */

int marks_init(struct marks *m, struct err *err) MUST_USE;
void marks_done(struct marks *m);
/* Marks a folder (absolute) and all directories below it on the same file system. */
int marks_add(struct marks *m, const char *folder, struct err *err) MUST_USE;
/* Called when `names` is readable: marks new directories. */
void marks_read(const struct marks *m);

/* ---- lock_who.c: who opens, and how ---------------------------------------------------------- */

struct who {
	dev_t dev; /* of this process's own program */
	ino_t ino;
};

int who_init(struct who *w) MUST_USE;
/* Returns whether the thread belongs to cordon. */
bool who_is_own(const struct who *w, int tid);
/* Returns whether the open in which the thread waits can only read; false if that is unknown. */
bool who_only_reads(int tid);
