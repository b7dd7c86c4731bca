/* approval - what the dialog about requests and the one about held steps share. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "tui/console/ui.h"

#define FACTS	6
#define LABEL_W 10

struct fact {
	const char *label;
	char *text; /* escaped, heap; "": left out */
	int rows;   /* it may take, when there is room */
};

char *approval_text(const char *raw) MUST_USE; /* escaped; NULL is "" */
void approval_choice(struct ui *ui, struct surface *s, struct rect cell, bool armed, enum action a,
		     const char *words);

/* A step that a safeguard holds, in the order in which a narrow screen drops it from the end. */
void approval_held_facts(const struct ui *ui, const struct ask *ask, struct fact *f);
/* The last two rows of r. */
void approval_held_choices(struct ui *ui, struct surface *s, struct rect r, bool armed,
			   const struct guard_report *held);
