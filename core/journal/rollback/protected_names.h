/* protected_names - names that a rollback must not change, followed back through renames. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct protected_name;
struct passing;
struct rec;

/* Each name is kept as it was called at the current record: when a record renamed a directory, the
 * names below it follow. Life: a zeroed struct is empty -> protected_done(), which leaves it so. */
struct protected_set {
	struct protected_name *names; /* hash */
	struct passing *passing;
	size_t n_passing;
};

/* Adds a name. tree: with all names below it. exists: the directories above it must stay. */
void protected_add(struct protected_set *s, int root, const char *path, bool tree, bool exists);
/* Returns whether the path is one of the names, or is in one of the trees; trees_only: only whether
 * it is in a tree, or is its top. */
bool protected_covers(const struct protected_set *s, int root, const char *path, bool trees_only);
/* Returns whether a name with `exists` lies below the path. */
bool protected_holds(const struct protected_set *s, int root, const char *path);
/* Renames the names below a directory, which goes back from (root2, p2) to (root1, p1). */
void protected_carry(struct protected_set *s, int root2, const char *p2, int root1, const char *p1);
/* Swaps the names below two directories that changed places. */
void protected_carry_both(struct protected_set *s, const struct rec *r);

/* Protects a tree until protected_passed() is called for record `last`. */
void protected_pass(struct protected_set *s, int root, const char *path, uint64_t last);
bool protected_passes(const struct protected_set *s, int root, const char *path);
void protected_passed(struct protected_set *s, uint64_t seq);

void protected_done(struct protected_set *s);
