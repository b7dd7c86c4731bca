/* cohort - which processes are inside the sandbox, by process number, version and start. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "backends/macos/endpoint/es_seam.h"

/*
 * Begins with the agent. Who is forked by one inside is inside, whatever it runs: exec(2) gives a
 * process a later version of the same number, and of two threads that exec at once nobody can say
 * which version comes. So all versions of a number from the first are inside until its end is told,
 * or until the number is seen with another start. Where neither is told, and somebody else gets the
 * number, that one counts as inside: in doubt more is refused. A process that was not seen is
 * inside if its parent is: a fork may be dropped, too, or told after what the child does first.
 *
 * Bounded by how many process numbers there are. Threads: one owner.
 */
struct cohort;

struct cohort *cohort_new(void);
void cohort_free(struct cohort *c); /* NULL is a no-op */
void cohort_add(struct cohort *c, struct es_id id);
void cohort_remove(struct cohort *c, struct es_id id); /* nothing if it is not inside */
bool cohort_has(const struct cohort *c, struct es_id id);
/* The same of a message's process, which is remembered when its parent tells that it is inside. */
bool cohort_sees(struct cohort *c, const struct es_message *m);
size_t cohort_size(const struct cohort *c);

/* Messages were dropped. Is it inside, or is one that it descends from, as the system's table has
 * it? Then all of those between are remembered. A descent of COHORT_DEPTH counts as one. */
#define COHORT_DEPTH 128
bool cohort_trace(struct cohort *c, const struct es_table *t, int32_t pid);
/* Whoever is not there any more is no member. How many are. */
size_t cohort_keep(struct cohort *c, bool (*is_there)(void *data, struct es_id id), void *data);
