/* locate - translates a descriptor of the caller's view to a place in a folder, or outside. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

struct ldoor;
struct place;

/* Fills a place from the walk's result: a directory of the caller's view and a name in it... */
int locate_name(struct ldoor *d, struct place *p, int parent, const char *name);
/* ...or an object (O_PATH or not); takes fd. */
int locate_object(struct ldoor *d, struct place *p, int fd);
/* The same for a duplicate of the caller's descriptor. Returns -EBADF for O_PATH, unless
 * opath_ok. */
int locate_fd(struct ldoor *d, struct place *p, int fd, bool opath_ok);
