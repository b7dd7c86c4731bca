/* hook_steps - handles events of an agent's hook: prompts, and begin and end of edits. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/buf.h"
#include "core/base/err.h"

struct keeper;

/*
 * The commands of an agent are steps by themselves. Its own writes are divided into steps by time
 * alone, unless its hook reports the end of each edit: then each edit is a step with a name, "Edit
 * main.c". Reports are not trusted, because any process inside can send them. They only name and
 * end steps of the agent itself, and a prompt begins a turn only after the user sent a line: so the
 * agent cannot end the turn that `undo --turn` reverts. Reports are ignored while a group is open,
 * in a run that is one step, and when the history is full. Functions return 0, or negative errno if
 * a step could not be kept.
 */
int hook_turn(struct keeper *k, const char *prompt);
/* Called when the user sent a line to the agent: begins a turn, or leaves that to the prompt that
 * the hook reports next. A second line without a prompt between them always begins one. */
void hook_spoke(struct keeper *k);
/* Reports that the agent waits for an answer in its own terminal. Has no other effect. */
int hook_asks(struct keeper *k);
/*
 * Notices for the agent about actions of the user, a line each: hook_notice() adds one, "" drops
 * all; hook_notices() returns and drops them. A line that does not fit into HOOK_NOTICES bytes is
 * dropped.
 */
#define HOOK_NOTICES 1800
void hook_notice(struct keeper *k, struct span line);
int hook_notices(struct keeper *k, struct buf *words);
/* Finds an open point of the review that was sent, and reports to cordon that the agent has handled
 * it. Returns 0, or negative errno with a message for the agent. */
int hook_point(struct keeper *k, const char *name, struct buf *words, struct err *err);
/* Ends the turn of the agent until a prompt or an edit comes. */
int hook_rests(struct keeper *k);
int hook_before_edit(struct keeper *k);
int hook_after_edit(struct keeper *k, const char *what, struct buf *words);
