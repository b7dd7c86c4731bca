/* read_check - where every open is trapped: does the floor let this one read? */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

struct ldoor;
struct request;

void look_begin(struct ldoor *d);
void look_close(struct ldoor *d);
void look_tick(struct ldoor *d);
/* Does the floor answer this open for reading rightly? */
bool look_floor_answers(struct ldoor *d, const struct request *r);
bool look_may_read(const struct ldoor *d, const char *text); /* a path without links */
/* What the path leads to, in the caller's own mounts: O_PATH, or negative errno. */
int look_open(struct ldoor *d, const struct request *r, int dirfd, const char *path, int flags);
