/* restore_target - the path to which a restore brings an object. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/journal/fs/object.h"
#include "core/journal/op.h"

struct change_side;
struct content_origin;
struct restore;

struct target { /* a struct at with its memory, and the object there */
	struct at at;
	struct object now;
	char *path, *dir;
	int fd;
};

#define AUTO_TARGET CLEANUP(target_done)
#define TARGET_NONE                                                                                \
	{                                                                                          \
		.fd = -1                                                                           \
	}
void target_done(struct target *t);
int target_find(struct restore *r, int root, const char *path, struct target *t) MUST_USE;
/* Like target_find(), but creates missing directories above the target. */
int target_make(struct restore *r, int root, const char *path, struct target *t) MUST_USE;
int target_clear(struct restore *r, struct target *t) MUST_USE; /* removes the object there */
/* Returns a struct at for the object of this descriptor, whatever its name leads to now. */
struct at target_object(const struct target *t, int fd);
/* Returns a struct at beside the target, with an unused name, which is written to `name`. */
struct at target_beside(struct restore *r, const struct target *t, char name[64]);
/* Sets the attributes of an object that other processes can already write to. Does nothing if
 * another object has its name now. */
int target_set_attrs(struct restore *r, const struct target *t, struct span meta) MUST_USE;

/* ---- restore_replace.c: replace the object at the target. -RESTORE_EDITED: it has changed since
 * it was checked */

int replace_by_copy(struct restore *r, struct target *t, const struct content_origin *o) MUST_USE;
int replace_by_link(struct restore *r, struct target *t, const struct at *from) MUST_USE;
int replace_by_symlink(struct restore *r, struct target *t, const struct content_origin *o)
	MUST_USE;
int replace_in_place(struct restore *r, struct target *t, const struct content_origin *o) MUST_USE;
/* Returns whether the target is the very file that has the wanted bytes: writing to it would empty
 * it first. */
bool replace_has_bytes(const struct target *t, const struct content_origin *o);
