/* diff_words - marks the words in which a changed line differs from the line that it replaces. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Marks (1) the bytes of each line that the other does not have, by words. Returns false and marks
 * nothing if the lines have too little in common.
 * Cost: at most WORDS_MAX words of each line are compared; the rest counts as changed.
 */
#define WORDS_MAX 160

bool diff_words(const char *old, size_t old_len, const char *new, size_t new_len,
		uint8_t *old_marks, uint8_t *new_marks);
/* Returns whether the texts differ only in blanks and tabs. */
bool diff_same_blank(const char *a, size_t a_len, const char *b, size_t b_len);
