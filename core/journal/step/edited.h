/* edited - notes which paths of an open step were edited from outside. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct codec_reader;
struct span;
struct step;

#define EDITED_FILE "edited" /* in the directory of the step */

/* Notes an external edit of one of the step's paths: a rollback skips the path
 * (rollback/plan_open.c), and if the step loses the file's content after that, it is saved
 * (history/overwritten.h). Without a record since the last note of the path, does nothing. */
void step_note_edit(struct step *s, const char *key);
/* Takes the next note of such a file: the path's key, and the number of the step's last record
 * before the edit. Returns false at the end, or at a torn note. */
bool edited_next(struct codec_reader *g, uint64_t *ret_seq, struct span *ret_key);
