/* branch - the branch of the working folder, as its git directory names it. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define BRANCH_US 2000000 /* time until it is read again */

struct branch {
	char name[64]; /* escaped; "": none */
	int64_t read_us;
};

/* Returns the name, escaped: "main", "fca8856" where none is checked out, "" without a repository.
 * The agent may have written all of it: links are not followed, and no more than a line is read. */
const char *branch_of(struct branch *b, const char *folder, int64_t now_us);
