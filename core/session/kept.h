/* kept - lists, measures and removes the data that cordon keeps for each working folder. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdint.h>

#include "core/base/err.h"

/*
 * All files about one folder carry its label (path_label()): the undo store LABEL/, the audit log
 * audit/LABEL.ndjson, cache/LABEL/, homes/LABEL/, vm/disks/LABEL.img and smaller ones. A folder on
 * another file system has its store in itself. The path of the folder comes from the store's file
 * "version", or from the first line of the audit log.
 *
 * Life: kept_list() -> kept_free(). Bytes: as du(1) counts them. Threads: one; the caller calls
 * mounts_answer() first, so that file systems with a server cannot block it.
 */
enum kept_part {
	KEPT_HISTORY,
	KEPT_AUDIT,
	KEPT_CACHE,
	KEPT_DISK,
	KEPT_NOTES, /* trusted contents, the last run, proposals of `cordon learn`, directories seen
		     */
	KEPT_PARTS,
};

struct kept {
	char *label;
	char *folder;	 /* NULL: not known */
	bool gone;	 /* the folder does not exist */
	bool beside;	 /* the store is, or was, in the folder: it may only be unmounted */
	size_t steps;	 /* number in the history */
	int64_t used_us; /* wall clock: when the newest session or undo ended; 0: unknown */
	uint64_t bytes[KEPT_PARTS];
};

/* Lists one entry for each label, the least recently used first; heap. measure: fills in bytes,
 * which examines every file. */
int kept_list(struct kept **ret, size_t *ret_n, const char *state_dir, bool measure,
	      struct err *err) MUST_USE;
void kept_free(struct kept *list, size_t n);
uint64_t kept_bytes(const struct kept *k); /* adds up the bytes */
/* Returns the size of the state directory, with recordings and logs. */
uint64_t kept_all_bytes(const char *state_dir);

/* Removes all data of the folder. Returns -EBUSY: a session or an undo uses it; -EEXIST: the folder
 * had been removed but exists again. Renames a store first: if this process dies, the store is
 * whole, or the next call removes it. */
int kept_remove(const char *state_dir, const struct kept *k, struct err *err) MUST_USE;
/* Does the same for every folder, then removes the state directory itself. Returns -EBUSY: it has
 * removed nothing. */
int kept_remove_all(const char *state_dir, struct err *err) MUST_USE;

/*
 * Removes history until the stores in the state directory have no more than `most` bytes, beginning
 * with the least recently used folder: all of a folder that is gone, else its oldest steps. Skips
 * `folders`, and folders in which a session runs.
 */
void kept_fit(const char *state_dir, uint64_t most, char *const *folders);

/* Ends a session that ran nothing: removes the stores of these folders and the audit log of the
 * first one if only this session has written to them. */
void kept_drop_empty(const char *state_dir, char *const *folders, const char *session);
