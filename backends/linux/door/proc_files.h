/* proc_files - opens files of processes in /proc, where the agent sees the host's. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

struct ldoor;
struct place;

/* Returns whether p, whose path is text, is the directory of a process in the host's /proc, or lies
 * in it. False where the sandbox has a /proc of its own. */
bool proc_file_is(const struct ldoor *d, const struct place *p, const char *text);
/* Returns an O_PATH descriptor, DOOR_CONTINUE where the process is not one of the session's, whose
 * files the floor refuses, or negative errno. */
int proc_file_open(const struct ldoor *d, const char *text);
