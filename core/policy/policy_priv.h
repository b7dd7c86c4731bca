/* policy_priv - between the files of core/policy. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/buf.h"
#include "core/policy/policy.h"

/* ---- names.c: names as the most forgiving file system compares them ----------------------- */

/* Append the folded form of one component. */
void names_fold(struct buf *out, const char *name, size_t len);
/* The whole path, component by component. */
void names_fold_path(struct buf *out, const char *path);

/* ---- protect.c: files that something on the host runs or obeys later ---------------------- */

/* False for nearly every path, at the cost of one pass over its bytes: nothing built in applies. */
bool protect_is_candidate(const char *path);
/* ALLOW, VET or ASK for a folded path; raw_leaf is the last component as it is. */
enum policy_verdict protect_check(enum policy_act act, const char *folded, const char *raw_leaf,
				  const char **ret_reason);

/* ---- vet.c ---------------------------------------------------------------------------------- */

/* Nothing in this git configuration can make git run or read something of the writer's choice,
 * apart from what `old` (may be NULL) has just so. */
bool vet_git_config(const char *data, size_t len, const char *old, size_t old_len);
/* The value of core.hooksPath in a git configuration as text; heap, NULL: not set. */
char *vet_find_hooks_path(const char *data, size_t len);
/* vet_keys.c: one setting, key in lower case but for the subsection. */
bool vet_key_is_inert(const char *section, const char *sub, const char *name, const char *value);
