/* undo_options - the options of `cordon undo` and `cordon redo`, and the steps that they select. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/journal/journal.h"
#include "tui/commands/options.h"

enum undo_how {
	UNDO_NEWEST,  /* no option: the newest step */
	UNDO_COUNT,   /* -n N */
	UNDO_TO,      /* --to STEP: all newer steps */
	UNDO_TO_MARK, /* --to-mark NAME: all steps after that restore point */
	UNDO_TURN,    /* --turn: all steps after the user's last prompt to the agent */
	UNDO_STEP,    /* --step STEP [-- PATH...]: that step only */
};

struct undo_options {
	enum undo_kind kind;
	enum undo_how how;
	size_t count;	  /* -n */
	int64_t step;	  /* --to, --step */
	const char *mark; /* --to-mark */
	unsigned flags;	  /* UNDO_* */
	bool dry_run, help;
	uint64_t saved;	      /* redo --saved; 0: not given */
	struct strings given; /* after -- */
	/* Filled by undo_options_find(): */
	size_t n;	/* number of steps to undo, from the newest one on */
	int64_t oldest; /* last of these steps; 0: only the newest when the undo begins */
};

/* Parses the arguments after the name. -EINVAL: err names the wrong option. The caller frees
 * `given`, also after a failure. */
int undo_options_parse(struct undo_options *o, int argc, char **argv, struct err *err) MUST_USE;
void undo_options_help(enum undo_kind kind);
/* Counts the steps in the folder's history. Steps without a change in a working folder do not count
 * unless UNDO_ALL_PLACES is set; they are undone with older ones. -ENOENT: fewer steps, or no such
 * step. */
int undo_options_find(struct undo_options *o, const char *folder, const char *state_dir,
		      struct err *err) MUST_USE;
