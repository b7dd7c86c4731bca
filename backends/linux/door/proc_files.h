/* proc_files - opens files of processes in /proc, where the agent sees the host's. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

struct ldoor;
struct place;

/* Returns whether p, whose path is text, is or is in the directory of a process in the host's
 * /proc. Returns false if the sandbox has a /proc of its own. */
bool proc_file_is(const struct ldoor *d, const struct place *p, const char *text);
/* Returns an O_PATH descriptor, DOOR_CONTINUE for a process that is not the session's, whose files
 * the floor refuses, or negative errno. */
int proc_file_open(const struct ldoor *d, const char *text);
