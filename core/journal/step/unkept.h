/* unkept - a file opened for writing that is too large to capture, and may never be written. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "core/base/util.h"

struct step;
struct object;

/*
 * `touch` opens a file for writing and writes nothing. If the limits leave no room for a copy of
 * the file, the step goes on protected as long as size and modification time of the file do not
 * change. If they have changed when the step looks, at its end at the latest, the step is
 * unprotected from there on. A step can have one such file; a second one makes it unprotected.
 */

/* Notes the file. Returns false if its changes would not show in its times, or if another file is
 * noted already. */
bool unkept_note(struct step *s, int root, const char *path, int dirfd, const char *name,
		 const struct object *o) MUST_USE;
const char *unkept_path(const struct step *s); /* or NULL */
/* Called before and after an operation changes the metadata of the file. */
void unkept_look(struct step *s, const struct object *o);
/* Looks at the file. Returns whether it has changed; *ret_bytes: its size on the disk. */
bool unkept_changed(struct step *s, uint64_t *ret_bytes);
void unkept_follow(struct step *s, const struct object *o);
void unkept_free(struct step *s);
