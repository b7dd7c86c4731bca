/* read_check - if every open is trapped: finds out whether the floor allows this read. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

struct ldoor;
struct request;

void read_check_begin(struct ldoor *d);
void read_check_close(struct ldoor *d);
void read_check_tick(struct ldoor *d);
/* Returns whether the floor's answer to this open for reading is right. */
bool read_check_floor_answers(struct ldoor *d, const struct request *r);
bool look_may_read(const struct ldoor *d, const char *text); /* a path without links */
/* Opens the object of the path in the caller's own mounts, with O_PATH. Returns negative errno on
 * failure. */
int read_check_open(struct ldoor *d, const struct request *r, int dirfd, const char *path,
		    int flags);
