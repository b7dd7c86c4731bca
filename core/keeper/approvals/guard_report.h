/* guard_report - limits of the safeguards, and the report of a step that is held. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/journal/journal.h"
#include "core/keeper/wire.h"

/*
 * Before each operation, the keeper counts for its step the files that existed before the step and
 * that the operation deletes or overwrites. The call that would bring a count to its limit is held,
 * and every later change of that step; other steps continue. If the user allows it, all of them
 * continue. If it is denied, or not answered in time, the step's processes are killed, their held
 * calls return EPERM, and the step is rolled back (redo restores it).
 */
struct guard_limits {
	uint64_t most[LOSS_KINDS]; /* the number of losses that is held; 0: off */
	uint64_t overwrite_bytes;  /* smaller files may be overwritten */
	uint32_t timeout_s;	   /* denied after this time; 0: waits for ever */
};

#define GUARD_SAMPLES 8	    /* shown paths of performed changes, and of held ones */
#define GUARD_HELD    10000 /* held calls of all steps; further ones fail with ENOSPC */

/* What a denial kills. */
enum guard_ends {
	GUARD_ENDS_COMMAND, /* the processes of the command */
	GUARD_ENDS_RUN,	    /* everything: the whole run is one step */
	GUARD_ENDS_STRAYS,  /* its left-over processes; the agent itself continues */
};

/* Why a step was stopped. */
enum guard_why {
	GUARD_DENIED,
	GUARD_TIMED_OUT,
	GUARD_HEADLESS, /* no user to ask */
};

/* WIRE_HELD, for the dialog. Strings are raw agent bytes. */
struct guard_report {
	uint64_t ask;
	int64_t step;
	int64_t pid; /* the process that reached the limit */
	enum loss what;
	enum guard_ends ends;
	bool by_line;	/* the command line can be remembered */
	bool partial;	/* a part of the step was not captured: its rollback is incomplete */
	uint64_t count; /* losses of this kind that were performed; LOSS_BEYOND: bytes */
	uint64_t held;	/* calls that wait */
	uint32_t timeout_s;
	char *command;
	size_t n_was, n_would;
	char *was[GUARD_SAMPLES];   /* paths */
	char *would[GUARD_SAMPLES]; /* paths of the calls that wait */
	char *ops[GUARD_SAMPLES];   /* their names */
};

void guard_report_put(struct buf *out, const struct guard_report *r);
/* Reads a report. Sets in->bad as other messages do. Free it with guard_report_free(). */
struct guard_report *guard_report_get(struct wire_in *in) MUST_USE;
struct guard_report *guard_report_copy(const struct guard_report *r) MUST_USE;
void guard_report_free(struct guard_report *r); /* NULL is a no-op */

/* Return "safeguard.deletes" and "delete", for messages. */
const char *guard_setting(enum loss what);
const char *guard_verb(enum loss what);
