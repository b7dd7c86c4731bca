/* inode_set - a bounded set of inodes; once full it contains every inode. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/keeper/door.h"

#define INODE_SET_MAX 65536

struct inode_set {
	struct inode_entry *entries;
	bool all;
};

/* Adds an inode. Returns false if it was in the set. */
bool inode_set_add(struct inode_set *s, const struct inode_id *id);
bool inode_set_has(const struct inode_set *s, const struct inode_id *id);
void inode_set_done(struct inode_set *s);
