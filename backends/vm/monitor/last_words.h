/* last_words - the end of what a guest's console and QEMU said, for people. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/buf.h"

/* Keeps the last bytes of what comes; zero-initialised but for text = BUF_INIT. */
struct last_words {
	struct buf text;
};

void last_words_add(struct last_words *w, const char *bytes, size_t len);
/* The line of a kernel's panic, or the last lines that say something, joined by " | ", without what
 * a terminal would obey. out is empty when there are none. */
void last_words_format(const struct last_words *w, char *out, size_t size);
