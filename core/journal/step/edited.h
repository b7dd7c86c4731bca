/* edited - notes which paths of an open step were edited from outside. */
/* SPDX-License-Identifier: MIT */
#pragma once

struct step;

#define EDITED_FILE "edited" /* in the directory of the step */

/* Notes an external edit of one of the step's paths: a rollback skips the path
 * (rollback/plan_open.c). */
void step_note_edit(struct step *s, const char *key);
