/* mirror - the model of a session that runs elsewhere, rebuilt from what its socket tells. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/api/link.h"
#include "core/session/model.h"

/*
 * Life:    mirror_open() takes the link over -> mirror_ready() when its descriptor is readable or,
 *          while mirror_wants_write(), writable -> mirror_close().
 * Threads: main loop only; never blocks.
 * The model has what the protocol tells: requests, answers that count, steps, and what happens,
 * with the newest of what already did. Undo belongs to the session's own console.
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
void mirror_revoke(struct mirror *m, uint64_t rule);
