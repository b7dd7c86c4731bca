/* outside - changes and reads outside the working folders: refused, allowed, or asked about. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/keeper/caller.h"
#include "core/policy/policy.h"

struct folder;
struct keeper;

/* A request for a place outside every folder. 0: let the floor answer it (CONTINUE); 1: a human
 * allowed it, its directory is a folder now: resolve again; -FOLDER_HELD: asked; other negatives:
 * refuse. path is absolute as the caller sees it. */
int folder_outside(struct keeper *k, const struct caller *c, const char *path);
/*
 * May the caller read (execute, connect to) this object, that no mount grants? path is resolved,
 * absolute and clean; via is the path as the caller wrote it where that differs, else NULL.
 * 0: yes; -EACCES: no; -ENOENT: hidden; -FOLDER_HELD: asked, door_ops.answered() follows with
 * c->request. Headless: no instead of asked.
 */
int folder_read(struct keeper *k, const struct caller *c, enum rule_kind kind, const char *path,
		const char *via);
/* Below a --ro folder? f: the folder that the path was found in, or NULL. */
bool outside_read_only(const struct keeper *k, const struct folder *f, const char *path);
