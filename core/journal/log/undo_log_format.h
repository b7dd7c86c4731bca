/* undo_log_format - encodes and decodes one log record and its metadata. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdatomic.h>

#include "core/journal/log/undo_log.h"

#define WAL_MAGIC "cordonL1"

struct head {
	char magic[8];
	_Atomic uint64_t tail;
	_Atomic uint64_t next_slot;
	struct roll roll;
	uint64_t spare[3];
};
_Static_assert(sizeof(struct head) == 64, "the header is part of the format");

struct disk_rec {
	uint32_t len; /* whole record, a multiple of 8, the trailing u64 length included */
	uint16_t type, flags;
	uint64_t sum; /* XXH3 of what follows, up to the trailing length */
	uint64_t seq, src, slot, ino, ino2;
	uint32_t root, root2;
	uint32_t path_len, path2_len, meta_len, spare;
};
_Static_assert(sizeof(struct disk_rec) == 80, "the record is part of the format");

/* A file of fixed size, still empty: where the file system knows how, what lies in it is written
 * over where it is, for which a full disk has always room. */
void file_stay_in_place(int fd);
/* Do the lengths fit into each other and into the space up to end? */
bool disk_rec_fits(const struct disk_rec *d, uint64_t space) MUST_USE;
/* The fields; paths and meta point behind d, where at least the paths must be. */
void disk_rec_read(const struct disk_rec *d, struct rec *r);
uint64_t disk_rec_sum(const struct disk_rec *d);
