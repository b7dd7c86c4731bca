/* folders - the places that the keeper may change: working folders and granted directories. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <sys/stat.h>

#include "core/base/err.h"

struct folder; /* a working folder, or a directory outside that a human granted */
struct keeper;

/* The folder that holds this absolute clean path, *below = rest of it; NULL: outside of all. */
struct folder *folders_find(struct keeper *k, const char *path, const char **below);
struct folder *folders_at(struct keeper *k, size_t i); /* NULL past the last */
const char *folder_path(const struct folder *f);       /* absolute */
int folder_fd(const struct folder *f);		       /* our O_PATH directory, borrowed */
int folder_root(const struct folder *f);	       /* for struct at */
uint64_t folder_dir_moves(const struct folder *f);     /* grows when directories are renamed */
int folder_store_fd(const struct folder *f);	       /* its undo store, borrowed */
/* After the human allowed it: the directory as a folder of its own (journaled, undoable). */
int folder_grant(struct keeper *k, const char *dir, struct folder **ret);

/* ---- for the keeper -------------------------------------------------------------------------- */

int folders_init(struct keeper *k, struct err *err) MUST_USE;
void folders_done(struct keeper *k);
const char *alias_of(const struct keeper *k, const struct stat *st); /* protected path or NULL */
/* The protected path (absolute, copied) leads to a file of several names. Of more than 256 those
 * that were found first are known. */
void alias_learn(struct keeper *k, const char *path, const struct stat *st);
size_t alias_room(const struct keeper *k); /* so many more */
void keeper_tidy(struct keeper *k);	   /* the stores, while nobody waits */
void keeper_news(struct keeper *k);	   /* what the journal has to say */
