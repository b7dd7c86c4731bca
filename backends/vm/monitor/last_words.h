/* last_words - the last output of a guest's console and of QEMU, made readable for the user. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/buf.h"

/* Keeps the last bytes of the output. Zero-initialised but for text = BUF_INIT. */
struct last_words {
	struct buf text;
};

void last_words_add(struct last_words *w, const char *bytes, size_t len);
/* Writes the line of a kernel panic, or the last lines with content, joined by " | ", without
 * terminal control sequences. out is empty if there are none. */
void last_words_format(const struct last_words *w, char *out, size_t size);
