/* approval - what the dialog about requests and the one about held steps share. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "tui/console/ui.h"

#define FACTS	10
#define LABEL_W 10

struct fact {
	const char *label;
	char *text; /* escaped, heap; "": left out */
	int rows;   /* it may take, when there is room */
};

/* approval_facts.c: rows that it takes on so many columns; over `rows` of them from y on, the last
 * cut in the middle. Gives the row behind. */
int approval_fact_rows(const struct fact *f, int cols);
int approval_draw_fact(struct surface *s, struct rect r, int y, const struct fact *f, int rows);
/* May this question be answered by a copy of the agent's settings? In words, heap; NULL: no. And
 * do it: the session is about to end, or the human is told why not. */
bool approval_offers_own(const struct ui *ui, const struct ask *ask);
char *approval_own_words(struct ui *ui, const struct ask *ask) MUST_USE;
void approval_choose_own(struct ui *ui, const struct ask *ask);

char *approval_text(const char *raw) MUST_USE; /* escaped; NULL is "" */
void approval_choice(struct ui *ui, struct surface *s, struct rect cell, bool armed, enum action a,
		     const char *words);

/* A step that a safeguard holds, in the order in which a narrow screen drops it from the end. */
void approval_held_facts(struct ui *ui, const struct ask *ask, struct fact *f);
/* The last two rows of r. */
void approval_held_choices(struct ui *ui, struct surface *s, struct rect r, bool armed,
			   const struct guard_report *held);

/* approval_choice.c: how long, how much and until when, chosen one by one; the narrowest first. */
struct choice {
	enum answer_scope scope;
	enum answer_extent extent;
	unsigned up; /* of a tree: so many directories further up */
	size_t time;
	int common; /* `up` of the tree that holds what was asked for with it, or just before; 0 or
		     * -1: nothing wider than its directory does */
};

/* What is proposed at first: the narrowest, or all of a bundle for the session. */
struct choice choice_first(const struct ask *ask);

/* The next of these that may be given for this request. */
void choice_next_scope(struct choice *c, const struct model *m, const struct ask *ask);
void choice_next_extent(struct choice *c, const struct model *m, const struct ask *ask);
void choice_next_time(struct choice *c);
struct answer choice_answer(const struct choice *c, bool allow);
/* The rows that the choices need: three or one, what may be allowed in full, and a denial. */
int choice_rows(struct ui *ui, struct rect in, const struct choice *c, const struct ask *ask,
		size_t others);
/* others: further requests of this prompt that the verdict decides, too. */
void choice_draw(struct ui *ui, struct surface *s, struct rect in, const struct choice *c,
		 const struct ask *ask, size_t others, bool armed);
