/* limits - limits of an open step: bytes that it may copy and hold while it is protected. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "core/base/util.h"

struct journal;
struct step;

/*
 * Decides whether to capture a change, with so many bytes. Copied bytes count against
 * journal.step-size, bytes of objects moved into the store against journal.size only. Returns 1, or
 * 0 if the step is unprotected, perhaps from this change on: perform the change and record nothing.
 * Else a negative result for the operation: the user has not allowed to go on unprotected.
 */
int step_protects(struct step *s, const char *op, const char *path, uint64_t bytes, bool copied)
	MUST_USE;
bool step_has_room(const struct step *s, uint64_t bytes, bool copied);
/* Asks before the step goes beyond its limits. Returns 1 if there is room now, 0 if the step may go
 * on unprotected, or the operation's negative result. */
int step_go_beyond(struct step *s, uint64_t bytes, bool copied) MUST_USE;
void step_holds_more(struct step *s, uint64_t bytes, bool copied);
void step_unprotect(struct step *s, const char *op, const char *path, uint64_t bytes);
