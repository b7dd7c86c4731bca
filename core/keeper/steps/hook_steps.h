/* hook_steps - what an agent's hook says: a turn has a name, an edit of its own begins and ends. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/buf.h"

struct keeper;

/*
 * The commands of an agent are steps by themselves. What the agent writes itself is told apart by
 * time alone, unless its hook says where one edit ends: then each is a step, named by the turn and
 * the edit: "turn 3: fix the parser: Edit main.c". Nothing of it is trusted: whoever is inside may
 * say so, and only names and ends steps of its own; where a turn begins, for `cordon undo --turn`,
 * the human says alone. Nothing happens while a group is open, in a run that is one step, or when
 * the history is full. 0, or negative errno: a step could not be kept.
 */
int hook_turn(struct keeper *k, const char *prompt);
int hook_before_edit(struct keeper *k);
int hook_after_edit(struct keeper *k, const char *what, struct buf *words);
