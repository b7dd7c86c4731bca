/* fs_perform - the keeper's side: performs a change that the fs server asks for. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "backends/vm/fs/fs_note.h"
#include "core/keeper/keeper.h"

/*
 * Calls folder_*() as c. 0, a descriptor (FS_OPEN, FS_CREATE), -FOLDER_HELD, or negative errno.
 * Nothing of the note is trusted but its lengths, which fs_note_parse() has checked; nor is object,
 * the descriptor that came along (borrowed), or -1.
 */
int fs_perform(struct folder *f, struct caller *c, const struct fs_note *n,
	       const struct fs_note_parts *p, int object);
