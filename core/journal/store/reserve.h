/* reserve - reserves disk space, so that a full disk does not stop an undo. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/base/util.h"

struct journal;

#define RESERVE_LEAST ((off_t)64 << 10) /* less than this is not reserved */

void reserve_open(struct journal *j);
void reserve_unmake(struct journal *j); /* Removes the directory of reserved inodes. */
void reserve_refill(struct journal *j);
/* Makes the reserve at least so large. -ENOSPC, -EDQUOT: there is too little space. */
int reserve_need(struct journal *j, off_t size) MUST_USE;
/* Enlarges the reserve for the logs of the open steps, which have grown. */
int reserve_follow(struct journal *j) MUST_USE;
/* Frees the reserve if the error `why` is a lack of space. Returns whether to try again. */
bool reserve_give(struct journal *j, int why);

bool reserve_has_inodes(const struct journal *j, uint64_t n); /* counts reserved ones */
/* Makes room after a lack of space `why`: empties the trash or frees a part of the reserve. Only
 * for a rollback (back), which must not fail, it frees the whole reserve or prunes steps; another
 * operation is refused instead, and nothing is lost. Returns whether to try again. */
bool store_relieve(struct journal *j, int why, bool back);
