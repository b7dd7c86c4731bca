/* steplist - the list of steps as a tree, on the screen (view_steps.c, steplist_*.c only). */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "tui/console/views/step_stats.h"
#include "tui/console/frame/ui.h"

/* A turn (one prompt) has its steps below it, a step its files. A turn has a row of its own if its
 * prompt is known or it has several steps: in a shell each command is a row. Notes
 * (changes outside the working folders) are one row of the session. */
enum line_kind {
	LINE_STEP,    /* at: index into model.steps */
	LINE_EDIT,    /* at: index into model.edits */
	LINE_FILE,    /* sub: index of the step's file */
	LINE_GIT,     /* sub: index of the words about git's own files */
	LINE_NOTES,   /* of a session; at, sub: its steps from, upto */
	LINE_TURN,    /* at: index into model.turns; sub: the turn's first step */
	LINE_SESSION, /* a heading, never selected; at: index into model.turns */
	LINE_OLDER,   /* the heading of sessions without a mark; at: their first step */
};

struct line {
	enum line_kind kind;
	unsigned depth;
	size_t at, sub;
};

struct line_key { /* identifies a line when others are added or removed */
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
	struct line_key at;   /* the cursor's line, if the user selected it */
	struct opened *opens; /* lines folded or opened by the user */
	size_t n_opens;
	bool places;		     /* notes are shown as steps */
	int state_cols;		     /* width of the steps' states at the right */
	struct step_stats *stats;    /* NULL: no history */
	struct view *preview, *next; /* of the selected row; next: not read yet */
	struct line_key preview_of;
};

/* steplist_sum.c: lets the worker read the statistics of each step of the session. */
void steplist_read_all(struct view_steps *p);
struct turn_sum {
	size_t files, added, deleted;
	bool commits; /* a step made a commit */
	bool undone;  /* all of it is undone */
};
/* Counts what the agent's steps of a turn changed, according to the statistics read so far. Undone
 * steps do not count. */
struct turn_sum steplist_turn_sum(const struct view_steps *p, size_t first);

/* steplist_lines.c */
void steplist_collect(struct view_steps *p);
bool steplist_is_heading(const struct view_steps *p, size_t i);
struct line_key steplist_key(const struct view_steps *p, const struct line *l);
bool steplist_is_open(const struct view_steps *p, const struct line *l);
void steplist_open(struct view_steps *p, const struct line *l, bool open);
const struct step_row *steplist_step(const struct view_steps *p, size_t i); /* NULL: no step */
const struct barrier *steplist_edit(const struct view_steps *p, size_t i);
size_t steplist_turn_at(const struct model *m, size_t step); /* index in turns; SIZE_MAX: unknown */
void steplist_text(const struct view_steps *p, const struct line *l, struct buf *out);
/* Returns the index after the last step of a turn. */
size_t steplist_turn_end(const struct model *m, size_t first);
/* Returns how many files the steps of a line of notes changed; 0 until one of them has ended. */
size_t steplist_note_files(const struct view_steps *p, const struct line *l);
const struct step_stat *steplist_stat(const struct view_steps *p, const struct step_row *st);
/* steplist_draw.c */
void steplist_draw(struct view *v, struct surface *s, struct rect r, bool focused);
