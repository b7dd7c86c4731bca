/* saves - files of somebody outside that are about to take a protected name. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/journal/op.h"
#include "core/policy/policy.h"

struct folder;
struct keeper;

/*
 * A program of the host saves what is protected by way of a temporary file: git writes config.lock
 * and renames it. Whoever opens, links or replaces that one in between has a hand in what takes the
 * name, and nobody looks at the content of a rename that is made outside. So those inside touch
 * such a file only if one of them has made it.
 *
 * The human may make it at any moment. A name that was free when it was judged must be free when
 * the call is performed: see saves_is_free().
 */

/* 0: as the policy says. 1: somebody else's, to be asked about. Or a negative result. */
int saves_judge(const struct folder *f, enum policy_act act, const struct at *at, const char *path,
		bool creates) MUST_USE;
/* Ask this before judge(). True: what creates the name must not replace what is there by then. */
bool saves_is_free(const struct folder *f, const struct at *at, const char *path);
/* Somebody inside has just put a file under this name. */
void saves_made(const struct folder *f, const struct at *at, const char *path);
/* What a rollback meets there, and what it has put there (struct journal_saves). */
bool saves_is_theirs(const struct keeper *k, const char *path, const struct obj *o);
void saves_placed(struct keeper *k, const char *path, const struct obj *o);
/* A rollback puts back and takes away by name. The path of what those inside had a file at, and
 * somebody outside has one now; NULL: none. Borrowed until the next saves_made(). */
const char *saves_in_use(const struct keeper *k);
/* Somebody inside has put a file there, or opened it, with the human's leave: it is theirs under
 * that name (watch_filled.c). Of the last 256. */
void saves_answered(const struct folder *f, const struct at *at, const char *path);
/* The same of a file that is about to be put there by the kernel, whichever comes: until it has
 * come. */
void saves_foreseen(struct keeper *k, const char *path);
/* True: it was foreseen. */
bool saves_arrived(const struct folder *f, const struct at *at, const char *path);
bool saves_is_answered(const struct keeper *k, const char *path, const struct obj *o);
void saves_done(struct keeper *k);
