/* nearest - finds the known name that is most similar to a mistyped one. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stddef.h>

/*
 * Life: nearest_to() with the word, nearest_try() with each name. Then .best is the nearest name,
 * the first of equals, or NULL if none is near. Names are not copied. A missing, extra or wrong
 * letter, and two swapped ones, are one slip each. A third of the word's letters may be slips. A
 * word or name of more than 63 bytes is near nothing.
 */
struct nearest {
	const char *word, *best;
	size_t least; /* slips of the best one so far, or the limit */
};

struct nearest nearest_to(const char *word);
void nearest_try(struct nearest *n, const char *name);
/* Adds a name with a number of slips that the caller knows. */
void nearest_take(struct nearest *n, const char *name, size_t away);
