/* inode_history - follows one inode through the history from a given moment on. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct change_side;
struct journal;
struct path_log;
struct path_index;

/*
 * A step captures each inode once: if a file has several hard links, its records may name another
 * one. So each search by path is followed by one by inode number. Inode numbers are reused, and
 * external writers leave no record, so the file is checked by its modification time: the time in
 * each record must be the one that the last step known to set it had left. The records tell which
 * step that was, its summary which time it left. A rollback may have restored the file as another
 * inode than the summary names.
 */
struct inode_history {
	struct journal *j;
	const struct path_index *t;
	const struct path_log *own; /* of the step in question; NULL: it has no records */
	const struct change_side *want;
	const struct change_side *left; /* its state at the step's other end */
	size_t at;			/* the mark where the way to the present begins */
	int root;			/* the path at that mark, with `start` */
	char *start;
};

/* Returns the first record of these kinds from mark `at` on, before end, that has the file in the
 * wanted state; or end. */
size_t inode_history_record(const struct inode_history *s, size_t at, size_t end, unsigned wanted,
			    uint64_t ino);
/* Returns the record that has the file's bytes, or end. */
size_t inode_history_bytes(const struct inode_history *s, size_t end, uint64_t ino);
/* Returns whether a file at mark `end`, with this inode number, size and time, still has the wanted
 * bytes. */
bool inode_history_is_same(const struct inode_history *s, size_t end, uint64_t ino, uint64_t size,
			   int64_t mtime_ns);
