/* note - small files beside the history, such as the user's review of the steps. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stddef.h>

#include "core/base/util.h"

struct journal;

/*
 * name: a file name in the store that nothing else uses ("review"). The file is replaced as a whole
 * (rename), and is removed with the history.
 * Threads: any handle of the folder, also a read-only one. The last writer wins: one process at a
 * time has the folder.
 */

/* Reads a note into *ret (heap). Returns 0, -ENOENT, or -EFBIG if it has more than max bytes. */
int journal_note_read(const struct journal *j, const char *name, size_t max, char **ret) MUST_USE;
int journal_note_write(const struct journal *j, const char *name, const char *text, size_t len)
	MUST_USE;
