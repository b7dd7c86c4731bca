/* u64_set - a set of numbers: filled, sorted once, then searched. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Life: a zeroed struct is empty -> numbers_add()... -> numbers_sort(), unless they came in order
 * -> numbers_have()... -> numbers_done(), which leaves it empty. */
struct numbers {
	uint64_t *list;
	size_t n;
};

void numbers_add(struct numbers *s, uint64_t number);
void numbers_sort(struct numbers *s);
bool numbers_have(const struct numbers *s, uint64_t number);
void numbers_done(struct numbers *s);
