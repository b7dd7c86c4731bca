/* hook_steps - what an agent's hook says: a prompt, an edit of its own begins and ends. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/buf.h"

struct keeper;

/*
 * The commands of an agent are steps by themselves. What the agent writes itself is told apart by
 * time alone, unless its hook says where one edit ends: then each is a step with the edit's name,
 * "Edit main.c". Nothing of it is trusted: any process inside may say so. Such a request names and
 * ends steps of its own, and a prompt begins a turn only after the human sent a line: the agent
 * cannot end the turn that `undo --turn` takes back. Nothing happens while a group is open, in a
 * run that is one step, or when the history is full. 0, or negative errno: a step could not be
 * kept.
 */
int hook_turn(struct keeper *k, const char *prompt);
/* The human sent a line to the agent: a turn begins, or the hook's prompt that follows begins it.
 * A second line without a prompt between them begins one in any case. */
void hook_spoke(struct keeper *k);
int hook_before_edit(struct keeper *k);
int hook_after_edit(struct keeper *k, const char *what, struct buf *words);
