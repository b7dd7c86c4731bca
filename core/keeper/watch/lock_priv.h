/* lock_priv - between the files of the lock: which opens it hears of, and which it refuses. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <sys/statfs.h>

#include "core/base/err.h"

#define FOLDERS_MOST 8

struct marks {
	int opens; /* fanotify: permission events */
	int names; /* fanotify: directories that appear */
	struct marked {
		int fd; /* a folder */
		fsid_t fsid;
	} folders[FOLDERS_MOST];
	size_t n;
};

#define AUTO_MARKS CLEANUP(marks_done)

/* ---- lock_marks.c: the directories that are marked --------------------------------------------
 */

int marks_init(struct marks *m, struct err *err) MUST_USE;
void marks_done(struct marks *m);
/* A folder, absolute, and everything below it on the same file system. */
int marks_add(struct marks *m, const char *folder, struct err *err) MUST_USE;
/* names is readable: mark what has appeared. */
void marks_read(const struct marks *m);

/* ---- lock_who.c: who opens, and how ------------------------------------------------------------
 */

struct who {
	dev_t dev; /* the program that this process runs */
	ino_t ino;
};

int who_init(struct who *w) MUST_USE;
/* The thread is one of cordon's own. */
bool who_is_own(const struct who *w, int tid);
/* The open that the thread waits in can only read. False when that cannot be told. */
bool who_only_reads(int tid);
