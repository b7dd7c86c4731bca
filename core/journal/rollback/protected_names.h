/* protected_names - names that a rollback must not change, followed back through renames. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/journal/log/undo_log.h"

struct protected_name;
struct passing;

/* Each is called as it was at the record that is looked at: a directory that a record moved takes
 * what is below it along. Life: a zeroed struct is empty -> protected_done(), which leaves it so.
 */
struct protected_set {
	struct protected_name *names; /* hash */
	struct passing *passing;
	size_t n_passing;
};

/* tree: and all that is below it. exists: the directories above it must stay. */
void protected_add(struct protected_set *s, int root, const char *path, bool tree, bool exists);
/* It is one of them, or in one of the trees; trees_only: the latter, be it as the top. */
bool protected_covers(const struct protected_set *s, int root, const char *path, bool trees_only);
/* Is one of them, which exists, below it? */
bool protected_holds(const struct protected_set *s, int root, const char *path);
/* A directory goes back from (root2, p2) to (root1, p1). */
void protected_carry(struct protected_set *s, int root2, const char *p2, int root1, const char *p1);
/* Two that changed places: each one's names go where the other's were. */
void protected_carry_both(struct protected_set *s, const struct rec *r);

/* A tree that nobody may change up to the record of that number, and what ends with that. */
void protected_pass(struct protected_set *s, int root, const char *path, uint64_t last);
bool protected_passes(const struct protected_set *s, int root, const char *path);
void protected_passed(struct protected_set *s, uint64_t seq);

void protected_done(struct protected_set *s);
