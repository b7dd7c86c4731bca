/* steplist - the list of steps as a tree, on the screen (view_steps.c, steplist_*.c only). */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "tui/console/step_stats.h"
#include "tui/console/ui.h"

/*
 * A turn (one prompt) has its steps below it, a step its files. A turn has a row of its own where
 * its prompt is known or it has several steps: in a shell each command is a row. What the agent
 * changed outside the working folders by itself, its notes, is one row of the turn.
 */
enum line_kind {
	LINE_STEP,    /* at is an index into model.steps */
	LINE_EDIT,    /* into model.edits */
	LINE_FILE,    /* sub: of the step's files */
	LINE_NOTES,   /* of a turn; at, sub: its steps from, upto */
	LINE_TURN,    /* at: into model.turns; sub: its first step */
	LINE_SESSION, /* a heading, never selected: into model.turns */
	LINE_OLDER,   /* a heading of sessions that left no mark; at is its first step */
};

struct line {
	enum line_kind kind;
	unsigned depth;
	size_t at, sub;
};

struct line_key { /* of a line that stays the same when others come and go */
	enum line_kind kind;
	int64_t id;
	size_t sub;
};

struct opened {
	struct line_key key;
	bool open;
};

struct view_steps {
	struct view v;
	struct list list;
	struct line *shown;
	size_t n, cap;
	struct line_key at;   /* the cursor's, when it was chosen */
	struct opened *opens; /* what the human has folded or opened */
	size_t n_opens;
	bool places;		     /* notes are steps like others */
	int state_cols;		     /* what became of each, at the right: as wide as its widest */
	struct step_stats *stats;    /* NULL: there is no history to read */
	struct view *preview, *next; /* of the selected row; next: is still read */
	struct line_key preview_of;
	bool preview_places;
};

/* steplist_lines.c */
void steplist_collect(struct view_steps *p);
bool steplist_is_heading(const struct view_steps *p, size_t i);
struct line_key steplist_key(const struct view_steps *p, const struct line *l);
bool steplist_is_open(const struct view_steps *p, const struct line *l);
void steplist_open(struct view_steps *p, const struct line *l, bool open);
const struct step_row *steplist_step(const struct view_steps *p, size_t i); /* NULL: another row */
const struct barrier *steplist_edit(const struct view_steps *p, size_t i);
size_t steplist_turn_at(const struct model *m, size_t step); /* into turns; SIZE_MAX: not known */
void steplist_text(const struct view_steps *p, const struct line *l, struct buf *out);
/* Of a turn's line: after its last step. */
size_t steplist_turn_end(const struct model *m, size_t first);
bool steplist_is_note(const struct step_row *st);
/* The agent whose session a turn is of. */
const char *steplist_agent(const struct view_steps *p, size_t turn);
const struct step_stat *steplist_stat(const struct view_steps *p, const struct step_row *st);
/* steplist_draw.c */
void steplist_draw(struct view *v, struct surface *s, struct rect r, bool focused);
