/* undo_log_format - encodes and decodes one log record and its metadata. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdatomic.h>
#include "core/base/util.h"
#include "core/journal/store/siblings.h"

struct rec;

#define UNDO_LOG_MAGIC "cordonL1"

struct head {
	char magic[8];
	_Atomic uint64_t tail;
	_Atomic uint64_t next_slot;
	struct roll roll;
	uint64_t spare[3];
};
_Static_assert(sizeof(struct head) == 64, "the header is part of the format");

struct log_rec {
	uint32_t len; /* whole record, a multiple of 8, the trailing u64 length included */
	uint16_t type, flags;
	uint64_t sum; /* XXH3 of the following bytes, up to the trailing length */
	uint64_t seq, src, slot, ino, ino2;
	uint32_t root, root2;
	uint32_t path_len, path2_len, meta_len, spare;
};
_Static_assert(sizeof(struct log_rec) == 80, "the record is part of the format");

/* Returns whether the lengths are consistent and the record fits into space bytes. */
bool log_rec_fits(const struct log_rec *d, uint64_t space) MUST_USE;
/* Reads the fields. Paths and meta point behind d; at least the paths must be in memory. */
void log_rec_read(const struct log_rec *d, struct rec *r);
uint64_t log_rec_sum(const struct log_rec *d);
