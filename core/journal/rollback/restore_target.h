/* restore_target - where an object of a restore comes to. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/journal/fs/object.h"
#include "core/journal/op.h"

struct change_side;
struct origin;
struct restore;

struct target { /* a struct at with its memory, and what is there */
	struct at at;
	struct obj now;
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
/* The same, with the directories above it made where they are missing. */
int target_make(struct restore *r, int root, const char *path, struct target *t) MUST_USE;
int target_clear(struct restore *r, struct target *t) MUST_USE; /* what is there goes */
/* The very object of this descriptor, whatever has its name by now. */
struct at target_object(const struct target *t, int fd);
/* Beside it, under a name that nobody has, which is written to `name`. */
struct at target_beside(struct restore *r, const struct target *t, char name[64]);
/* The attributes of an object that others can write to already; of what somebody has put in its
 * place meanwhile they are not. */
int target_set_attrs(struct restore *r, const struct target *t, struct span meta) MUST_USE;

/* ---- restore_replace.c: what is at the target is replaced. -RESTORE_EDITED: it is not as it was
 * looked at ---- */

int replace_by_copy(struct restore *r, struct target *t, const struct origin *o) MUST_USE;
int replace_by_link(struct restore *r, struct target *t, const struct at *from) MUST_USE;
int replace_by_symlink(struct restore *r, struct target *t, const struct origin *o) MUST_USE;
int replace_in_place(struct restore *r, struct target *t, const struct origin *o) MUST_USE;
/* It is the file that has the bytes: to write to it would empty it first. */
bool replace_has_bytes(const struct target *t, const struct origin *o);
