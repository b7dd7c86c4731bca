/* gate_shown - shows granted trees over the gate, and takes them away: asks the mounter. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/keeper/keeper.h"

struct shown;

struct gate_shown {
	struct keeper *k;
	int mounter;	    /* borrowed */
	uint32_t number;    /* of the last note that the mounter has to answer */
	struct shown *list; /* trees and files over a gate */
};

/* Notes a tree that is shown from the start. */
void gate_shown_add(struct gate_shown *s, const char *path);
void gate_shown_done(struct gate_shown *s);
/* For the operations of the door of the same names. */
void gate_shown_granted(struct gate_shown *s, enum rule_kind kind, const char *dir,
			const struct answer *a);
void gate_shown_cover(struct gate_shown *s, const char *path);
int gate_shown_tool_dir(struct gate_shown *s, const char *path);
/* Takes away the trees that the rules no longer allow as a whole: their opens are judged again.
 * Returns false if one stays shown. */
bool gate_shown_remove(struct gate_shown *s);
