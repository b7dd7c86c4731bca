/* protected_names - names that a rollback must not change, followed back through renames. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/journal/log/undo_log.h"

struct mine;
struct passing;

/* Each is called as it was at the record that is looked at: a directory that a record moved takes
 * what is below it along. Life: a zeroed struct is empty -> mine_done(), which leaves it so. */
struct mine_set {
	struct mine *names; /* hash */
	struct passing *passing;
	size_t n_passing;
};

/* tree: and all that is below it. exists: the directories above it must stay. */
void mine_add(struct mine_set *s, int root, const char *path, bool tree, bool exists);
/* It is one of them, or in one of the trees; trees_only: the latter, be it as the top. */
bool mine_covers(const struct mine_set *s, int root, const char *path, bool trees_only);
/* Is one of them, which exists, below it? */
bool mine_holds(const struct mine_set *s, int root, const char *path);
/* A directory goes back from (root2, p2) to (root1, p1). */
void mine_carry(struct mine_set *s, int root2, const char *p2, int root1, const char *p1);
/* Two that changed places: each one's names go where the other's were. */
void mine_carry_both(struct mine_set *s, const struct rec *r);

/* A tree that nobody may change up to the record of that number, and what ends with that. */
void mine_pass(struct mine_set *s, int root, const char *path, uint64_t last);
bool mine_passes(const struct mine_set *s, int root, const char *path);
void mine_passed(struct mine_set *s, uint64_t seq);

void mine_done(struct mine_set *s);
