/* saves - temporary files of programs outside that are about to take a protected name. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/journal/op.h"
#include "core/policy/policy.h"

struct folder;
struct keeper;

/*
 * A program of the host saves a protected file by way of a temporary one: git writes config.lock
 * and renames it. A process inside that opens, links or replaces the temporary file in between
 * could change the content that takes the protected name, and a rename outside is not vetted. So
 * processes inside may touch such a file only if one of them made it.
 *
 * The user may make it at any moment. A name that was free when it was judged must be free when the
 * call is performed: see saves_is_free().
 */

/* Returns 0 to follow the policy, 1 to ask the user because it was made outside, or a negative
 * result. */
int saves_judge(const struct folder *f, enum policy_act act, const struct at *at, const char *path,
		bool creates) MUST_USE;
/* Returns whether the name is free; called before judge(). If so, the call that creates the name
 * must not replace a file. */
bool saves_is_free(const struct folder *f, const struct at *at, const char *path);
/* Notes that a process inside has made a file of this name. */
void saves_made(const struct folder *f, const struct at *at, const char *path);
/* For rollbacks (struct journal_saves): returns whether the object was made outside, and notes an
 * object that the rollback has made. */
bool saves_is_theirs(const struct keeper *k, const char *path, const struct object *o);
void saves_placed(struct keeper *k, const char *path, const struct object *o);
/* Returns a path at which processes inside had a file and a program outside has one now, which
 * stops a rollback by name; NULL: none. Borrowed until the next saves_made(). */
const char *saves_in_use(const struct keeper *k);
/* Notes that the user allowed a process inside to make or open a file there: under that name it
 * counts as made inside (watch_filled.c). Remembers the last 256. */
void saves_answered(const struct folder *f, const struct at *at, const char *path);
/* Notes the same for the next file that the kernel makes there, whichever it is. */
void saves_foreseen(struct keeper *k, const char *path);
/* Returns whether the new file was foreseen. */
bool saves_arrived(const struct folder *f, const struct at *at, const char *path);
bool saves_is_answered(const struct keeper *k, const char *path, const struct object *o);
void saves_done(struct keeper *k);
