/* steps - begins, commits and aborts the steps of a journal. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <sys/types.h>

#include "core/base/err.h"

struct change;
struct journal;
struct step;

enum step_kind {
	STEP_COMMAND,
	STEP_AMBIENT, /* outside every command; in stores of version 0.1 its id is negative */
	STEP_API,
};

/*
 * Begins a step. Its id is chosen here: positive and growing, for all kinds. Captures again the
 * files that an earlier step opened for writing and that still have a writer.
 */
int journal_begin(struct journal *j, enum step_kind kind, const char *command, struct step **ret,
		  struct err *err) MUST_USE;
/*
 * Begins the part of the same step in another folder. A step has one part in each journal (struct
 * journal_spec, `with`), all with one id. Commit, abort and other functions on a step apply to all
 * its parts.
 */
int journal_begin_part(struct journal *j, struct step *of, struct step **ret, struct err *err)
	MUST_USE;
struct step *step_part(struct step *s, const struct journal *j); /* or NULL */
/* Renames an open step, when an exec after its first change shows a better name. */
void step_set_command(struct step *s, const char *command);
/*
 * Notes that a change of this step could not be captured: a rollback will not restore the whole
 * state before it. why: raw bytes, one line. Written to the log at once and to the summary; several
 * reasons are joined.
 */
void step_mark_incomplete(struct step *s, const char *why);
const char *step_why(const struct step *s); /* "" unless marked; borrowed */
/* Marks a file that was too large to capture as unprotected if it was written (step/unkept.h). Call
 * it when the step's processes have ended; journal_commit() calls it as well. */
void step_settle(struct step *s);
int64_t step_id(const struct step *s);
size_t step_paths(const struct step *s); /* paths touched so far */
/* Forgets all files that may be open for writing: no process that could write to them is left. */
void journal_no_writers(struct journal *j);
/* Writes after-images and the summary, and commits with one rename. Returns the number of paths
 * that the step changed in the end, at least 1; or 0 if it changed none and was removed. */
int journal_commit(struct step *s, int exit_status, struct err *err) MUST_USE;
/* Rolls an open step back and drops it. */
int journal_abort(struct step *s, struct err *err) MUST_USE;
/* Rolls an open step back as if it had been committed and undone: redo restores it. Other steps may
 * be open: if they captured its changes as their before-state, their later rollback restores these
 * changes. On failure the step is committed as it stands, if possible (err says so); s is freed. */
int journal_roll_back(struct step *s, struct err *err) MUST_USE;

/* Checks whether the open step can be rolled back now. Returns 0, or -EBUSY and the reason in err:
 * a file that it opened is still open for writing, or the rollback would have to replace a file
 * that a process may still write to by a new one. */
int journal_check_held(struct step *s, struct err *err) MUST_USE;
/* Checks whether the paths that the open step changed are as it left them, as far as is known.
 * Returns 0, or -ESTALE if a path was edited from outside and a rollback would skip it; err names
 * the path. */
int journal_check_edited(struct step *s, struct err *err) MUST_USE;
/* Notes that this process lives. Call it every two seconds while a step is open, and at its end.
 * After a crash, a file changed more than that after the last call counts as edited from
 * outside. */
void journal_live(struct journal *j);
/*
 * Gives this step the files that are still open for writing and belong to no other open step, as if
 * its own processes had opened them. Returns their number; a second call returns how many still
 * are.
 */
size_t step_adopt_writers(struct step *s);

/* Losses: an operation removes or replaces content that existed before its step began. */
enum loss {
	LOSS_DELETE, /* a name with its object */
	/* the content of a file: truncated, or first opened for writing in this step */
	LOSS_OVERWRITE,
	LOSS_REPLACE, /* an object that another one is renamed over */
	/* content that the limits leave no room to capture: the loss cannot be undone */
	LOSS_BEYOND,
	LOSS_KINDS,
};

/*
 * Asks before an operation with such a loss; size is the file's. A negative result becomes the
 * operation's result, and nothing is changed. NULL: never ask.
 */
typedef int (*step_on_loss)(void *data, enum loss what, uint64_t size);
void step_ask_before(struct step *s, step_on_loss fn, void *data);
/* Lifts the limits of the step, also for LOSS_BEYOND: it captures everything from now on. */
void step_raise(struct step *s);

/*
 * Observes a commit. change() is called for each net change in every folder (base is set where the
 * path is not in the first folder). Then name() may give the step a better name (NULL: no; borrowed
 * until journal_commit() returns), and granted() sets step_info.granted. If a failed commit is
 * retried, begin() and the rest are called again.
 */
struct step_witness {
	void (*begin)(void *data);
	void (*change)(void *data, const struct change *c); /* valid during the call */
	const char *(*name)(void *data);
	bool (*granted)(void *data);
};
void step_watch_end(struct step *s, const struct step_witness *w, void *data);
