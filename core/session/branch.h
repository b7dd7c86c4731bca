/* branch - reads the branch of the working folder from its git directory. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define BRANCH_US 2000000 /* time between two reads */

struct branch {
	char name[64]; /* escaped; "": none */
	int64_t read_us;
};

/* Returns the name, escaped: "main", "fca8856" if no branch is checked out, "" without a
 * repository. The agent may have written all of it: links are not followed, and one line is read at
 * most. */
const char *branch_of(struct branch *b, const char *folder, int64_t now_us);
