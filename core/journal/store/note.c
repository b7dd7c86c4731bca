/* note - small files beside the history, such as the user's review of the steps. */
/* SPDX-License-Identifier: MIT */
#include "core/journal/note.h"

#include "core/base/io.h"
#include "core/journal/store/store.h"

int journal_note_read(const struct journal *j, const char *name, size_t max, char **ret)
{
	return io_read_file(j->store, name, max, ret, NULL);
}

int journal_note_write(const struct journal *j, const char *name, const char *text, size_t len)
{
	return io_write_file(j->store, name, 0600, text, len, true);
}
