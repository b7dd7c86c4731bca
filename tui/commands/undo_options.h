/* undo_options - what `cordon undo` and `cordon redo` are asked for, and which steps that means. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/journal/journal.h"
#include "tui/commands/options.h"

enum undo_how {
	UNDO_NEWEST, /* no option: the newest step */
	UNDO_COUNT,  /* -n N */
	UNDO_TO,     /* --to STEP: all that are newer */
	UNDO_TURN,   /* --turn: all since the human last said something to the agent */
	UNDO_STEP,   /* --step STEP [-- PATH...]: that one alone */
};

struct undo_options {
	enum undo_kind kind;
	enum undo_how how;
	size_t count;	/* -n */
	int64_t step;	/* --to, --step */
	unsigned flags; /* UNDO_* */
	bool dry_run, help;
	uint64_t saved;	      /* redo --saved; 0: not given */
	struct strings given; /* after -- */
	/* Filled by undo_options_find(): */
	size_t n;	/* the newest so many of all steps that are kept */
	int64_t oldest; /* the last of them, 0: whichever that is by then */
};

/* What follows the name. -EINVAL: err says which option is wrong. Free given in any case. */
int undo_options_parse(struct undo_options *o, int argc, char **argv, struct err *err) MUST_USE;
void undo_options_help(enum undo_kind kind);
/*
 * Counts the steps in the folder's history. Steps that changed nothing in a working folder do not
 * count unless UNDO_ALL_PLACES is set: they go along with older ones. -ENOENT: there are not so
 * many, or no such step.
 */
int undo_options_find(struct undo_options *o, const char *folder, const char *state_dir,
		      struct err *err) MUST_USE;
