/* unkept - a file that was opened for writing, too large to be kept, in which nothing may be
 * written.
 */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/journal/fs/object.h"

struct step;

/*
 * `touch` opens a file for writing and writes nothing. Where the limits leave no room for a copy
 * the step goes on as long as the file has the size and the time that it had; at the end, or once
 * it has others, the step is unprotected from there on. One file a step: a further one ends that.
 */

/* Notes it. False: its changes would not be seen, or one is noted already. */
bool unkept_note(struct step *s, int root, const char *path, int dirfd, const char *name,
		 const struct obj *o) MUST_USE;
const char *unkept_path(const struct step *s); /* NULL: there is none */
/* Its metadata are about to be changed; have been changed, by an operation. */
void unkept_look(struct step *s, const struct obj *o);
void unkept_follow(struct step *s, const struct obj *o);
void unkept_free(struct step *s);
