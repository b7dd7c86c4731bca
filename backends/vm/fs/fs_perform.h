/* fs_perform - the keeper's side: performs a change that the fs server asks for. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "backends/vm/fs/fs_note.h"
#include "core/keeper/keeper.h"

/*
 * Calls folder_*() for the caller c. Returns 0, a descriptor (FS_OPEN, FS_CREATE), -FOLDER_HELD, or
 * a negative errno. Trusts only the lengths of the note, which fs_note_parse() has checked. object
 * is the attached descriptor (borrowed, not trusted), or -1.
 */
int fs_perform(struct folder *f, struct caller *c, const struct fs_note *n,
	       const struct fs_note_parts *p, int object);
