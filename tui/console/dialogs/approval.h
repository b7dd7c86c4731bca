/* approval - facts, questions and choices that the dialogs about requests and held steps share. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "tui/console/frame/ui.h"

#define FACTS	12
#define LABEL_W 10

/* A sentence over the whole width, or a text with a label. */
struct fact {
	const char *label; /* NULL: a sentence */
	char *text;	   /* escaped, heap; "": left out */
	int rows;	   /* most rows, if there is room */
	int role;
};

/* approval_facts.c: returns the rows of a fact at this width. */
int approval_fact_rows(const struct fact *f, int cols);
/* Draws a fact from row y on, in `rows` rows; the last one is cut in the middle. Returns the next
 * row. */
int approval_draw_fact(struct surface *s, struct rect r, int y, const struct fact *f, int rows);
/* Makes a sentence of words: "Git runs it." for "git runs it"; escaped. */
char *approval_sentence(const char *raw) MUST_USE;

/* The answer "start again with a copy of the agent's settings": the first function returns whether
 * it fits this question, the second its description (heap; NULL if it does not fit), the third
 * gives it: the session is then about to end, or a message says why not. */
bool approval_offers_own(const struct ui *ui, const struct ask *ask);
char *approval_own_words(const struct ui *ui, const struct ask *ask) MUST_USE;
void approval_choose_own(struct ui *ui, const struct ask *ask);

/* approval_question.c: the facts about a request that a dialog shows. */
struct question {
	struct ui *ui;
	const struct ask *ask;
	uint64_t upto; /* newest request when the dialog was drawn first */
	bool whole;    /* show all known facts */
};
bool approval_is_bundle(const struct ask *ask);
/* Returns the number of further requests of the prompt: those up to `upto`, or (since) later
 * ones. */
size_t question_others(const struct question *q, bool since);
/* Returns how many directories up a tree begins that has all requests of the prompt, or an earlier
 * question's; -1: no such tree. */
int question_common_up(const struct question *q);
/* Returns the rows of the facts if each has its maximum. */
int question_rows(const struct question *q, int cols);
void question_draw(const struct question *q, struct surface *s, struct rect r);

/* approval_held.c: fills in the facts about a step that a safeguard holds; a narrow screen drops
 * facts from the end. whole: all known facts. */
void approval_held_facts(struct ui *ui, const struct ask *ask, bool whole, struct fact *f);
int approval_held_rows(const struct guard_report *held); /* rows of its answers */
/* Draws the answers in the last rows of r. */
void approval_held_verdicts(struct ui *ui, struct surface *s, struct rect r, bool armed,
			    const struct guard_report *held);

/* approval_again.c: remembers an answer. */
void approval_answered(struct ui *ui, const struct ask *ask, const struct answer *a);
/* Returns how many directories up a tree begins that this request shares with earlier answers: its
 * program asked in that tree a moment ago, or two requests in its own directory were allowed singly
 * (0). -1: no such tree. */
int approval_again_up(const struct ui *ui, const struct ask *ask);

/* approval_choice.c: the scope, extent and time of an answer; independent choices. */
struct choice {
	enum answer_scope scope;
	enum answer_extent extent;
	unsigned up; /* of a tree: directories above the request's */
	size_t time;
};
#define CHOICE_TIMES 4

/* Returns the first proposal: the narrowest choice, or all of a bundle for the session. */
struct choice choice_first(const struct ask *ask);
bool choice_possible(const struct choice *c, const struct model *m, const struct ask *ask);
/* Selects the next value that is possible with the other two choices. Returns false if there is
 * none. */
bool choice_next_scope(struct choice *c, const struct model *m, const struct ask *ask);
bool choice_next_extent(struct choice *c, const struct model *m, const struct ask *ask);
bool choice_next_time(struct choice *c, const struct model *m, const struct ask *ask);
const char *choice_time_name(size_t time);
struct answer choice_answer(const struct choice *c, bool allow);

/* approval_verdicts.c: draws the rows of the answers, and of the choices that change them. */
struct verdicts {
	const struct ask *ask;
	const struct choice *choice;
	const struct choice *offer; /* a wider answer with its own key; or NULL */
	const char *own;	    /* words for the answer "own settings"; or NULL */
	size_t others;		    /* further requests that the verdict decides */
	bool armed;
};
int verdicts_rows(struct ui *ui, struct rect in, const struct verdicts *v);
void verdicts_draw(struct ui *ui, struct surface *s, struct rect in, const struct verdicts *v);
