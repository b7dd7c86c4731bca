/* claim - claims the folder that a process changes; refuses one that overlaps with another's. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/err.h"

struct journal;

/*
 * Two histories of the same files contradict each other. So a process that writes a history has a
 * claim on its folder: a locked file in <state_dir>/claims, with the path and the inodes of the
 * folder and of the directories above it. Claims are compared and made under one lock. Of processes
 * that start at once, exactly one gets the folder. A process that dies leaves an unlocked file,
 * which the next one removes. Folders with another state directory are not compared, nor are
 * folders that hold their own store because there is no state directory.
 *
 * Life: claim_take() -> claim_release(), while the lock of the store is held.
 */

/* Takes the claim. A session needs it; an undo goes on without if the state directory cannot be
 * written. -EBUSY: a process changes a folder that holds this one, lies in it, or is the same by
 * another path. */
int claim_take(struct journal *j, bool session, struct err *err) MUST_USE;
void claim_release(struct journal *j);
