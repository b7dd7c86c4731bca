/* steplist - the list of steps as a tree, on the screen (view_steps.c, steplist_*.c only). */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "tui/console/views/step_stats.h"
#include "tui/console/frame/ui.h"

/*
 * A turn (one prompt) has its steps below it, a step its files. A turn has a row of its own if its
 * prompt is known or it has several steps: in a shell each command is a row. The agent's notes (its
 * own changes outside the working folders) are one row of the turn.
 */
enum line_kind {
	LINE_STEP,    /* at is an index into model.steps */
	LINE_EDIT,    /* into model.edits */
	LINE_FILE,    /* sub: of the step's files */
	LINE_GIT,     /* sub: of the words about git's own files */
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

struct line_key { /* identifies a line while others are added and removed */
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
	struct line_key at;   /* the cursor's line, when the user chose it */
	struct opened *opens; /* lines that the user has folded or opened */
	size_t n_opens;
	bool places;		     /* notes are shown as steps */
	int state_cols;		     /* width of the right column, the steps' states */
	struct step_stats *stats;    /* NULL: there is no history to read */
	struct view *preview, *next; /* of the selected row; next: is still being read */
	struct line_key preview_of;
};

/* steplist_sum.c: lets the worker read the statistics of each step of the session. */
void steplist_read_all(struct view_steps *p);
/* Returns how many files the agent's steps of a turn changed, as far as they are read, and adds
 * their lines. Steps that are undone do not count. */
size_t steplist_turn_sum(const struct view_steps *p, size_t first, size_t *added, size_t *deleted);

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
/* Returns the index after the last step of a turn. */
size_t steplist_turn_end(const struct model *m, size_t first);
bool steplist_is_note(const struct step_row *st);
/* Returns the agent of a turn's session. */
const char *steplist_agent(const struct view_steps *p, size_t turn);
/* Returns how many files the steps of a line of notes changed; 0 while none of them has ended. */
size_t steplist_note_files(const struct view_steps *p, const struct line *l);
const struct step_stat *steplist_stat(const struct view_steps *p, const struct step_row *st);
/* steplist_draw.c */
void steplist_draw(struct view *v, struct surface *s, struct rect r, bool focused);
