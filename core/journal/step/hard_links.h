/* hard_links - further names that an open step gave to an inode. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

struct object;
struct step;

/* Notes that the step gave the inode a further hard link; path is one of the names. */
void hard_link_note(struct step *s, const struct object *o, int root, const char *path);
/* Touches the inode's other names, because the inode was changed. */
void hard_link_use(struct step *s, const struct object *o);
bool hard_link_has(const struct step *s, const struct object *o); /* whether one was noted */
void hard_links_free(struct step *s);
