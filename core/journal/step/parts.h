/* parts - the parts of a step that changes several folders. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stddef.h>

#include "core/base/util.h"

struct buf;
struct step;

#define PARTS_MAX  16 /* more than the folders of any session */
#define PARTS_FILE "parts"

/* The folders that a step changed, if more than one; a file in each part's directory lists them.
 */
struct part_folders {
	char *list[PARTS_MAX];
	size_t n;
};

/* Returns 0 also if there is no such file (n 0). */
int parts_load(int stepdir, struct part_folders *ret) MUST_USE;
void part_folders_free(struct part_folders *f);

/* Writes the list of one part; without names, removes it. */
int parts_write(const struct step *s, const struct buf *names) MUST_USE;
