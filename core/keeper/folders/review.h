/* review - what a change of git's own files keeps from the human who looks with git. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/buf.h"
#include "core/policy/policy.h"

struct keeper;

/*
 * The human looks at what an agent did with `git status` and `git diff`, too. What makes these show
 * less is allowed, for people and tools do it, and said: once for each file and way, at the first
 * time. Nobody is asked.
 */

/* A change that is allowed is about to be made: info/exclude, info/attributes, refs/replace. */
void review_change(struct keeper *k, enum policy_act act, const char *path);
/* A configuration or an index was looked at, and passes; old NULL: there is none. */
void review_config(struct keeper *k, const char *path);
void review_index(struct keeper *k, const char *path, struct span now, struct span old);
void review_done(struct keeper *k);
