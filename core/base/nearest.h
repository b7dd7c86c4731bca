/* nearest - finds the known name that is most similar to a mistyped one. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stddef.h>

/*
 * Life: nearest_to() the word, nearest_try() each name, then .best is the nearest of them, of
 * equals the first, or NULL when none is near. Names are borrowed. A missing, extra or wrong
 * letter, and two swapped ones, are one slip each; a third of the word's letters
 * may be slips. Words and names of more than 63 bytes are near nothing.
 */
struct nearest {
	const char *word, *best;
	size_t least; /* a nearer name has fewer slips */
};

struct nearest nearest_to(const char *word);
void nearest_try(struct nearest *n, const char *name);
/* Adds a name with a given number of slips, for a caller that knows better. */
void nearest_take(struct nearest *n, const char *name, size_t away);
