/* watch - watches the working folders for external edits: reports and records them. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/keeper/watch/watch_tree.h"

struct keeper;

/*
 * Life:    watch_start() once the agent runs -> watch_turn() in each turn -> watch_stop().
 * Cost:    the folder's own directory is watched at once, those below in turns in which nobody
 *          wants anything: not while the agent changes things, and 250 a second while anything
 * runs. Limits:  where the kernel allows no more watches it says so once; an undo compares every
 * path with what the steps left there anyway.
 */
void watch_start(struct keeper *k);
void watch_stop(struct keeper *k);
/* What has been seen so far is judged now: before the journal's view of whose it is changes. */
void watch_drain(struct keeper *k);
/* The same, if there is anything: before a name leads to another file or a file is opened for
 * writing. An event has no more than a name, and who writes to the file is asked when it is judged.
 */
void watch_before(struct keeper *k);
/* What happens between these two is our own: rollbacks and restores. */
void watch_own_begin(struct keeper *k);
void watch_own_end(struct keeper *k);
void watch_busy(struct keeper *k);	    /* the agent changes something */
int64_t watch_next(const struct keeper *k); /* when watch_tick() is wanted, 0: never */
void watch_tick(struct keeper *k);
void watch_settle(struct keeper *k); /* tell and note what was collected, now */
