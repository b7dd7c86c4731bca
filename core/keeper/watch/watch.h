/* watch - watches the working folders for external edits: reports and records them. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/keeper/watch/watch_tree.h"

struct folder;
struct keeper;

/*
 * Life:    watch_start() once the agent runs -> watch_turn() in each turn -> watch_stop().
 * Cost:    the folder's own directory is watched at once, directories below it in idle turns of the
 *          loop: none right after a change by the agent, and at most one percent of the time while
 * any other process runs. Limits:  if the kernel allows no more watches, that is reported once. An
 * undo compares every path with the state after its step in any case.
 */
void watch_start(struct keeper *k);
void watch_stop(struct keeper *k);
/* Judges the pending events, before the owner of a file changes in the journal. */
void watch_drain(struct keeper *k);
/* Like watch_drain(), if an event is pending. Called before a name leads to another file or a file
 * is opened for writing: an event has only a name, and the writer is determined when the event is
 * judged. */
void watch_before(struct keeper *k);
/* Watches a directory that the agent has just made, or moved to this name in dirfd, before a file
 * in it can be closed. path: absolute. Costs one call, and the listing of the parent is not needed.
 */
void watch_made(struct keeper *k, const struct folder *f, int dirfd, const char *path);
/* Watches the directory of a path that a step has just touched, with those above, if they are not
 * listed yet. path: absolute. Costs nothing once everything is listed, and little in the directory
 * of the path before. */
void watch_touched(struct keeper *k, const struct folder *f, const char *path);
/* Changes between these two calls are made by cordon: rollbacks and restores. */
void watch_own_begin(struct keeper *k);
void watch_own_end(struct keeper *k);
void watch_busy(struct keeper *k);	    /* the agent changes a file */
int64_t watch_next(const struct keeper *k); /* time of the next watch_tick(); 0: never */
void watch_tick(struct keeper *k);
void watch_settle(struct keeper *k); /* reports and records the collected edits at once */
