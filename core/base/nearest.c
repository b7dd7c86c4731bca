/* nearest - computes the edit distance of two short words; swapped neighbours count as one edit. */
/* SPDX-License-Identifier: MIT */
#include "core/base/nearest.h"

#include <string.h>

#include "core/base/util.h"

#define WORD_MAX 63

/* Fills the row for the first i letters of a, from the rows for i - 1 and i - 2. */
static void fill_row(size_t *row, const size_t *above, const size_t *second, const char *a,
		     size_t i, const char *b)
{
	row[0] = i;
	for (size_t j = 1; b[j - 1]; j++) {
		size_t change = above[j - 1] + (a[i - 1] != b[j - 1]);

		row[j] = MIN(change, MIN(above[j], row[j - 1]) + 1);
		if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
			row[j] = MIN(row[j], second[j - 2] + 1);
	}
}

static size_t slips(const char *a, const char *b)
{
	size_t rows[3][WORD_MAX + 1] = {{0}}, la = strlen(a), lb = strlen(b);

	if (la > WORD_MAX || lb > WORD_MAX)
		return SIZE_MAX;
	for (size_t j = 0; j <= lb; j++)
		rows[0][j] = j;
	for (size_t i = 1; i <= la; i++)
		fill_row(rows[i % 3], rows[(i + 2) % 3], rows[(i + 1) % 3], a, i, b);
	return rows[la % 3][lb];
}

struct nearest nearest_to(const char *word)
{
	return (struct nearest){.word = word, .least = MAX(strlen(word) / 3, (size_t)1) + 1};
}

void nearest_take(struct nearest *n, const char *name, size_t away)
{
	if (away >= n->least)
		return;
	n->least = away;
	n->best = name;
}

void nearest_try(struct nearest *n, const char *name)
{
	nearest_take(n, name, slips(n->word, name));
}
