/* outside - changes and reads outside the working folders: refused, allowed, or asked about. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/keeper/caller.h"
#include "core/policy/policy.h"

struct folder;
struct keeper;

/* Judges a request for a path outside every folder. Returns 0 if the sandbox itself decides
 * (CONTINUE); 1 if the user allowed it and its directory is now a folder, so the caller resolves
 * the path again; -FOLDER_HELD if the user is asked; another negative to refuse. path is absolute
 * as the caller sees it. */
int folder_outside(struct keeper *k, const struct caller *c, const char *path);
/*
 * Decides whether the caller may read (execute, connect to) this object that no mount grants. path
 * is resolved, absolute and clean; via is the path as the caller wrote it if that differs, else
 * NULL. Returns 0 if allowed, -EACCES if denied, -ENOENT if hidden, -FOLDER_HELD if the user is
 * asked: door_ops.answered() follows with c->request. A headless run denies instead of asking.
 */
int folder_read(struct keeper *k, const struct caller *c, enum rule_kind kind, const char *path,
		const char *via);
/* Returns whether the path is below a --ro folder. f: the folder that contains the path, or
 * NULL. */
bool outside_read_only(const struct keeper *k, const struct folder *f, const char *path);
