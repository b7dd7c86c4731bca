/* roots - folders and granted places by number; resolves paths beneath them, following no link. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "core/base/util.h"

struct journal;
struct object;

/* The folder is root 0, see journal_add_root(). */
void root_add(struct journal *j, const char *path);
int roots_load(struct journal *j) MUST_USE;
void roots_level(struct journal *j); /* adds roots that the file has lost, by the state */
const char *root_path(struct journal *j, int root);  /* NULL: no such number */
bool root_is_known(struct journal *j, int root);     /* its path was not lost */
bool root_is_own(const struct journal *j, int root); /* the folder, or a root that belongs to it */
int store_root_fd(struct journal *j, int root);
void store_forget_near(struct journal *j);

/* A place beneath a root, resolved without following a link. */
struct spot {
	int fd;		  /* O_PATH of the parent; borrowed until the next root_find() */
	const char *name; /* points into the path; "" is the root itself */
};
/* Finds a path's parent. -ENOENT, -ENOTDIR, -ELOOP: the parent does not exist or is no
 * directory. */
int root_find(struct journal *j, int root, const char *path, struct spot *ret) MUST_USE;
/* Finds a path and its object. Returns 0 also if the path or its parent does not exist (o->mode 0)
 * or cannot be searched (OBJECT_UNSEEN). Remembers one parent that does not exist: call
 * store_forget_near() before and after a series of looks between which nothing is created. */
int root_look(struct journal *j, int root, const char *path, struct spot *at, struct object *o)
	MUST_USE;

/* Returns whether the path is guarded (struct journal_spec) from objects of this type (S_IFMT). 0:
 * from any type, as a name can be guarded from links or directories only. */
bool root_guards(struct journal *j, int root, const char *path, mode_t type);
