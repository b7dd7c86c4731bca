/* u64_set - a set of numbers: filled, sorted once, then searched. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Life: a zeroed struct is empty -> u64_set_add()... -> u64_set_sort(), unless they came in order
 * -> u64_set_have()... -> u64_set_done(), which leaves it empty. */
struct u64_set {
	uint64_t *list;
	size_t n;
};

void u64_set_add(struct u64_set *s, uint64_t number);
void u64_set_sort(struct u64_set *s);
bool u64_set_have(const struct u64_set *s, uint64_t number);
void u64_set_done(struct u64_set *s);
