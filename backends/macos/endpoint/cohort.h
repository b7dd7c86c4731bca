/* cohort - the set of processes inside the sandbox, by process number, version and start. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "backends/macos/endpoint/es_seam.h"

/*
 * The set begins with the agent. A child of a process inside is inside, whatever program it runs:
 * exec(2) gives a process a later version of the same number, and if two threads call it at once,
 * the next version cannot be predicted. So all versions of a number from the first are inside
 * until the process's exit is reported or the number appears with another start. If neither is
 * reported and another process gets the number, that process counts as inside: the error refuses
 * too much, never too little. An unknown process is inside if its parent is: the message of a fork
 * may be dropped, or come after the child's first action.
 *
 * Bounded by the number of process numbers. Threads: one owner.
 */
struct cohort;

struct cohort *cohort_new(void);
void cohort_free(struct cohort *c); /* NULL is a no-op */
void cohort_add(struct cohort *c, struct es_id id);
void cohort_remove(struct cohort *c, struct es_id id); /* no-op if it is not inside */
bool cohort_has(const struct cohort *c, struct es_id id);
/* Returns whether a message's process is inside. Adds it if only its parent is known. */
bool cohort_sees(struct cohort *c, const struct es_message *m);
size_t cohort_size(const struct cohort *c);

/* Returns whether the process or an ancestor of it, by the system's table, is inside; for when
 * messages were dropped. If so, adds the process and the ancestors between. A process with
 * COHORT_DEPTH or more ancestors counts as inside. */
#define COHORT_DEPTH 128
bool cohort_trace(struct cohort *c, const struct es_table *t, int32_t pid);
/* Removes members for which is_there() returns false. Returns the number that is left. */
size_t cohort_keep(struct cohort *c, bool (*is_there)(void *data, struct es_id id), void *data);
