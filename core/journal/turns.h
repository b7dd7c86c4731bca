/* turns - where sessions and turns of an agent begin in the history. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "core/base/err.h"

struct journal;

/*
 * Where sessions and turns begin. A turn is the agent's work since the user's last prompt; a
 * session begins one, too. Kept in the first folder's store.
 */
struct turn_mark {
	/* Steps with a greater absolute number belong to this mark or a later one. */
	int64_t after;
	int64_t us; /* wall clock */
	bool session;
	bool batch;  /* of a session: its agent gets no prompts from the user, so it has no turns */
	char *agent; /* of a session; else NULL */
	/* the prompt, shortened, if the agent's hook or protocol reported it; else NULL */
	char *words;
};

/* Adds a mark for a session or, with agent NULL, for a turn. If no step has begun since the last
 * mark, a turn only replaces that mark's words. words: the prompt, or NULL. */
int journal_add_turn(struct journal *j, const char *agent, bool batch, const char *words,
		     struct err *err) MUST_USE;
/* Sets the words of the newest mark, which has none. */
int journal_name_turn(struct journal *j, const char *words, struct err *err) MUST_USE;
int journal_turns(struct journal *j, struct turn_mark **ret, size_t *ret_n, struct err *err)
	MUST_USE; /* oldest first; those of j's own store */
/* Returns the newest mark before a step, or NULL; list is ordered by after. */
const struct turn_mark *turn_mark_of(const struct turn_mark *list, size_t n, int64_t step);
void turn_marks_free(struct turn_mark *list, size_t n);
