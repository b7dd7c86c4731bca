/* placed - notes the state of each file that a rollback places, to detect later edits. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/buf.h"

struct journal;
struct object;

/*
 * While a rollback or restore runs, other processes may write to a file as soon as it has its name.
 * So the state of each file is noted before the file gets the name; if its attributes are set
 * later, the note has the state that they should lead to. When the after-image is written, a file
 * that differs from its note is an external edit. So is a file without a note, unless it is known:
 * a rollback knows the files that were born before it began, a restore the files that its step
 * found there or made. Directories are not noted: their entries are. Nothing counts as edited after
 * a rollback was turned round by an error, because that may have left a wrong note.
 *
 * A file takes 16 bytes, in a table that is at most three quarters full. Files of a rollback that
 * another process began and did not end have no notes: nothing is known of their edits.
 * Life, in struct journal: zeroed, nothing is noted -> placed_begin() -> placed_end(). One thread.
 */
struct placed {
	struct placed_file *slots;
	size_t n, cap;
	int64_t since_ns; /* wall clock, as the kernel's file times; 0: not begun */
};

void placed_begin(struct journal *j); /* forgets older notes */
void placed_end(struct journal *j);
/* Notes the file's state. placed_keep(): unless the file is noted already. */
void placed_note(struct journal *j, const struct object *o);
void placed_keep(struct journal *j, const struct object *o);
/* Notes the file at a name; does nothing if it cannot be read. */
void placed_note_at(struct journal *j, int dirfd, const char *name);
/*
 * Notes the file after its metadata was set to meta. before: its state before that; other processes
 * may have changed the bytes since. A file that was edited before that stays edited.
 */
void placed_dressed(struct journal *j, int fd, const struct object *before, struct span meta);
/* Notes the file after all its bytes were written, `size` of them. Without meta, the modification
 * time is that of the last write. */
void placed_written(struct journal *j, int fd, uint64_t size, struct span meta);
bool placed_has(const struct journal *j, const struct object *o);
/* Returns whether the file differs from its note. known: a file without a note is not an edit. */
bool placed_is_edited(const struct journal *j, const struct object *o, bool known);
/* Returns whether the file was born after placed_begin(), or just before: the clock of file times
 * ticks slowly. */
bool placed_is_young(const struct journal *j, const struct object *o);
