/* replay_story - a recording as a list of turns, steps, questions and answers. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "tui/commands/replay_diffs.h"

enum story_kind {
	STORY_TURN,
	STORY_STEP, /* by its last name; without an agent's notes */
	STORY_QUESTION,
	STORY_ANSWER,
	STORY_OTHER, /* an external edit, or another program's mark */
	STORY_KINDS,
};

struct story_entry {
	int64_t t_us;
	enum story_kind kind;
	char *words;	       /* escaped */
	struct step_diff diff; /* of a step */
};

struct story {
	struct story_entry *list; /* in order of time */
	size_t n, count[STORY_KINDS];
};

/*
 * Life:    replay_story_read() -> replay_story_done().
 * Threads: like the recording.
 */
/* diffs may be NULL. */
void replay_story_read(struct story *s, struct recording *rec, struct replay_diffs *diffs);
void replay_story_done(struct story *s);
