/* recorded - lists the recorded sessions, with command and first prompt. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/record/block.h"

/* Strings are raw, from the recording: escape them; "": unknown. */
struct recorded {
	char *session; /* "20261124-090000-1a2b" */
	char *folder, *command;
	char *prompt;	   /* the first one */
	int64_t began_s;   /* seconds since 1970 */
	int64_t length_us; /* of the recording */
	size_t turns;
};

struct recorded_list {
	struct recorded *list; /* newest first */
	size_t n;
};

/* Reads the head of each recording; leaves out unreadable ones. Blocks: on the disk. */
void recorded_read(struct recorded_list *ret, const char *state_dir);
void recorded_done(struct recorded_list *l);
/* Returns the prompt in a turn's mark, "" if it has none. Points into m. */
const char *recorded_prompt(const struct mark *m);
