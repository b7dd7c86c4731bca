/* folders - the places that the keeper may change: working folders and granted directories. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <sys/stat.h>

#include "core/base/err.h"

struct folder; /* a working folder, or a directory outside that the user granted */
struct keeper;

/* Returns the folder that contains this absolute clean path, and the rest of the path in *below;
 * NULL if no folder does. */
struct folder *folders_find(struct keeper *k, const char *path, const char **below);
struct folder *folders_at(struct keeper *k, size_t i); /* NULL past the last */
const char *folder_path(const struct folder *f);       /* absolute */
int folder_fd(const struct folder *f);		       /* the keeper's O_PATH directory, borrowed */
int folder_root(const struct folder *f);	       /* for struct at */
uint64_t folder_dir_moves(const struct folder *f);     /* grows when directories are renamed */
int folder_store_fd(const struct folder *f);	       /* its undo store, borrowed */
/* Makes a directory that the user granted a folder of its own (journaled, undoable). */
int folder_grant(struct keeper *k, const char *dir, struct folder **ret);

/* ---- for the keeper -------------------------------------------------------------------------- */

int folders_init(struct keeper *k, struct err *err) MUST_USE;
void folders_done(struct keeper *k);
/* Returns a protected name of this inode, or NULL. */
const char *alias_of(const struct keeper *k, const struct stat *st);
/* Notes that the protected path (absolute, copied) is one of several names of a file. Keeps only
 * the first 256. */
void alias_learn(struct keeper *k, const char *path, const struct stat *st);
size_t alias_room(const struct keeper *k); /* how many more names can be kept */
void keeper_tidy(struct keeper *k);	   /* tidies the stores, called when idle */
/* The timer that prunes the stores while the agent runs, and the rest of the pruning, at once. */
int64_t prune_next(const struct keeper *k);
void prune_tick(struct keeper *k);
void keeper_prune(struct keeper *k);
void keeper_news(struct keeper *k); /* reports the messages of the journal */
