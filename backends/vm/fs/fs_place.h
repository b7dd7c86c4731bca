/* fs_place - the keeper's side: finds the file that a message names, beneath a folder. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "backends/vm/fs/fs_note.h"
#include "core/journal/op.h"

struct folder;

/*
 * A name in a directory of the folder, after both were found unchanged since the server's message.
 * The directory is opened anew beneath the folder's descriptor: no link, no other mount.
 */
struct fs_place {
	struct at at;
	int fd; /* the directory; at.dirfd */
};

#define FS_PLACE_INIT ((struct fs_place){.fd = -1})

/*
 * Fills in ret, of FS_PLACE_INIT; p's strings must live as long. Returns -ESTALE if the directory
 * or the object has been replaced, -EINVAL if a name is invalid.
 */
int fs_place_find(const struct folder *f, const struct fs_spot *spot, const char *dir,
		  const char *name, struct fs_place *ret);
void fs_place_done(struct fs_place *p);
