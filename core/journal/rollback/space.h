/* space - estimates the disk space that a rollback may need, to reserve it before any change. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdint.h>
#include <sys/types.h>

struct txn;

off_t space_for(struct txn *t); /* bytes */
uint64_t space_inodes_for(struct txn *t);
