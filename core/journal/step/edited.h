/* edited - notes which paths of an open step were edited externally. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "core/journal/fs/object.h"

struct codec_reader;
struct journal;
struct op_target;
struct span;
struct step;

#define EDITED_FILE "edited" /* in the step's directory */
#define EDITED_MAX  ((size_t)64 << 20)

/* Notes an external edit of one of the step's paths: a rollback skips the path
 * (rollback/plan_open.c), and if the step loses the file's content after that, it is saved
 * (history/overwritten.h). Without a record since the last note of the path, does nothing. */
void step_note_edit(struct step *s, const char *key);
/* Notes an external edit of the object at this path in all open steps that have touched the path or
 * captured the file: their next change captures it anew. Does the same in steps that created,
 * moved or removed a directory above, because no undo of theirs restores another program's file. */
void edited_note(struct journal *j, const char *key, const struct object *o);
/* Does this before the step captures the file by this name, if it was edited by another. */
void edited_take(struct step *s, int root, const char *path, const struct object *o);
/* Notes an edit before the step changes the content or the name of a file, if a process of the
 * steps has it open and a program outside has saved it in place meanwhile. Costs a look at a hash
 * table, and three system calls if the close of every descriptor of the steps was reported. */
void edited_look(struct step *s, const struct op_target *w);
/* Takes the next note of such a file: the path's key, and the number of the step's last record
 * before the edit. Returns false at the end, or at a torn note. */
bool edited_next(struct codec_reader *g, uint64_t *ret_seq, struct span *ret_key);
