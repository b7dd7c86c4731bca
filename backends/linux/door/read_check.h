/* read_check - where every open is trapped: does the floor let this one read? */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

struct ldoor;
struct request;

void read_check_begin(struct ldoor *d);
void read_check_close(struct ldoor *d);
void read_check_tick(struct ldoor *d);
/* Does the floor answer this open for reading rightly? */
bool read_check_floor_answers(struct ldoor *d, const struct request *r);
bool look_may_read(const struct ldoor *d, const char *text); /* a path without links */
/* What the path leads to, in the caller's own mounts: O_PATH, or negative errno. */
int read_check_open(struct ldoor *d, const struct request *r, int dirfd, const char *path,
		    int flags);
