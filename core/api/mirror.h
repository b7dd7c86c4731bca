/* mirror - the model of a session that runs elsewhere, rebuilt from what its socket tells. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/api/link.h"
#include "core/session/model.h"

/*
 * Life:    mirror_open() takes the link over -> mirror_ready() when its descriptor is readable or,
 *          while mirror_wants_write(), writable -> mirror_close().
 * Threads: main loop only; never blocks.
 * The model has what the protocol tells: requests, answers that count, steps, connections, and what
 * happens, with the newest of what already did. Undo is the session's: its plan arrives in
 * model.plan, its progress and result in model.job, as with session_plan() and session_undo().
 */
struct mirror;

struct mirror *mirror_open(struct link *l) MUST_USE; /* l is empty afterwards */
void mirror_close(struct mirror *m);		     /* NULL is a no-op */
struct model *mirror_model(struct mirror *m);
const char *mirror_folder(const struct mirror *m); /* the session's first working folder */
int mirror_fd(const struct mirror *m);
bool mirror_wants_write(const struct mirror *m);
/* 0, or -EPIPE: the session has ended. */
int mirror_ready(struct mirror *m, bool readable, bool writable);
/* Words of the newest refusal, once; NULL: none. Heap. */
char *mirror_refusal(struct mirror *m) MUST_USE;
void mirror_answer(struct mirror *m, uint64_t ask, const struct answer *a);
/* As session_own_settings(), where model.own_offer is set. */
void mirror_own_settings(struct mirror *m, uint64_t ask);
void mirror_revoke(struct mirror *m, uint64_t rule);
/* mirror_net.c: close a connection, and deny its host, too; show a port that was offered. */
void mirror_disconnect(struct mirror *m, uint64_t connection, bool forbid);
void mirror_publish(struct mirror *m, uint16_t port);
/* mirror_undo.c. kind UNDO_PATHS: path, before step. The number of the request. */
struct undo_wish;
uint64_t mirror_plan(struct mirror *m, const struct undo_wish *w);
/* Performs what model.plan is about; flags may differ. */
uint64_t mirror_undo(struct mirror *m, unsigned flags);
void mirror_cancel(struct mirror *m);
void mirror_stop(struct mirror *m); /* the commands that run */
