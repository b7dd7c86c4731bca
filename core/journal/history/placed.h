/* placed - the files that a rollback has put somewhere, as it left them. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/buf.h"

struct journal;
struct obj;

/*
 * While a rollback runs, or single paths are restored, others may write to what it brings back from
 * the moment on in which that has a name. So each file is noted as it is before it gets the name,
 * and where its attributes are set afterwards, as these say it has to be. When the after-image is
 * written, a file that is not as noted is an edit from outside, and so is one that nobody has noted
 * or knows: to a rollback one that was born since the beginning, to a restore one that its step
 * neither found there nor made. Directories are not noted: their entries speak for themselves. Nor
 * is anything told once a rollback has been turned round by an error, which may have left a note
 * that does not hold.
 *
 * 16 bytes a file, in a table that is at most three quarters full. Files of a rollback that another
 * process began, and did not end, are not known: of them nothing is told.
 * Life, in struct journal: zeroed, nothing is noted -> placed_begin() -> placed_end(). One thread.
 */
struct placed {
	struct placed_file *slots;
	size_t n, cap;
	int64_t since_ns; /* wall clock, as the kernel's file times; 0: not begun */
};

void placed_begin(struct journal *j); /* forgets what was noted before */
void placed_end(struct journal *j);
/* As it is, and may be from now on. placed_keep(): unless it is noted already. */
void placed_note(struct journal *j, const struct obj *o);
void placed_keep(struct journal *j, const struct obj *o);
/* The same of what is at a name; nothing if it cannot be looked at. */
void placed_note_at(struct journal *j, int dirfd, const char *name);
/*
 * The metadata has been applied to the file of this descriptor, which was as `before`, with bytes
 * that others may have changed since. An edit that was there before that stays one.
 */
void placed_dressed(struct journal *j, int fd, const struct obj *before, struct span meta);
/* The same where all of its bytes were written, size of them. */
void placed_written(struct journal *j, int fd, uint64_t size, struct span meta);
/* The same where the time is that of the last byte. */
void placed_filled(struct journal *j, int fd, uint64_t size);
bool placed_has(const struct journal *j, const struct obj *o);
/* Is it not as it was noted? known: it is the steps' own though it was not noted. */
bool placed_is_edited(const struct journal *j, const struct obj *o, bool known);
/* Was it born since the beginning? The clock of files ticks slowly: or right before. */
bool placed_is_young(const struct journal *j, const struct obj *o);
