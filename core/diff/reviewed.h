/* reviewed - the user's review of the history: pieces kept or reverted, and comments. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/diff/hunks.h"

/*
 * Kept in the store's note "review", so the next review shows only new pieces. A comment that was
 * sent has a number: the round and the number in it, "3.2". The agent can only report that the
 * point of a number is handled.
 *
 * Life:    reviewed_load() -> reviewed_save() after each change -> reviewed_done().
 * Threads: one.
 * Bounds:  REVIEWED_MAX entries and REVIEWED_BYTES of the note; the oldest quarter makes room.
 *          POINTS_MAX comments; the oldest one that is handled makes room, else one that was sent.
 */
#define REVIEWED_MAX   20000
#define REVIEWED_BYTES ((size_t)16 << 20)
#define POINTS_MAX     1000
#define POINT_BYTES    1000 /* of a comment */

enum review_state {
	PIECE_OPEN,
	PIECE_KEPT,
	PIECE_QUEUED, /* to be reverted */
	PIECE_TAKEN,
};

/* The actions of the user; core/session/review.c performs them. */
enum review_verb {
	REVIEW_KEEP,
	/* Reverts when the agent's turn ends, if its hook reports that; else at once. */
	REVIEW_TAKE_BACK,
	REVIEW_TAKE_BACK_NOW,
	REVIEW_BRING_BACK, /* reopens a kept, queued or reverted piece */
};

struct review_entry {
	int64_t step;
	unsigned number; /* of struct hunk */
	char *path;
	enum review_state is;
	int64_t by;	/* PIECE_TAKEN: the step that reverted it; 0: unknown */
	bool told;	/* PIECE_TAKEN: a message has told the agent */
	bool reverted;	/* PIECE_TAKEN: the reverting step is undone; see reviewed_settle() */
	bool committed; /* PIECE_KEPT: `cordon commit` saw it in HEAD */
	size_t older;	/* the entry before it with the same path: index + 1; 0: none */
};

struct point {
	unsigned round, number; /* 0: not sent yet */
	int64_t step;
	unsigned hunk;
	char *path, *text; /* text: one line */
	int line;
	bool done;
};

struct review_path;

struct reviewed {
	struct review_entry *list;
	size_t n;
	struct review_path *paths; /* a hash: the newest entry of each path */
	struct point *points;
	size_t n_points;
	unsigned rounds; /* sent so far */
};

/* Loads the review and which pieces are committed; replaces a damaged one by an empty one. */
void reviewed_load(struct reviewed *v, const struct journal *j);
int reviewed_save(const struct reviewed *v, const struct journal *j) MUST_USE;
void reviewed_done(struct reviewed *v);
/* Loads and saves which pieces are committed. They have their own note, as `cordon commit` writes
 * it while a session has the review. The first returns whether more are than before. */
bool reviewed_load_committed(struct reviewed *v, const struct journal *j);
int reviewed_save_committed(const struct reviewed *v, const struct journal *j) MUST_USE;
bool reviewed_committed(const struct reviewed *v, int64_t step, const char *path, unsigned number);
/* Returns the effective state. A piece is open again when the step that reverted it is undone. It
 * is also reverted if its whole file was, with the changes of later steps. */
enum review_state reviewed_state(const struct reviewed *v, int64_t step, const char *path,
				 unsigned number);
/* Returns the entry that reverted this piece: its own, or its file's; NULL: none. */
const struct review_entry *reviewed_taken(const struct reviewed *v, int64_t step, const char *path,
					  unsigned number);
/* Returns whether the user kept a later change of the file, which a revert of the whole file would
 * lose. */
bool reviewed_kept_later(const struct reviewed *v, int64_t step, const char *path);
/* Updates whether the steps that reverted pieces are undone. Call it after a load, an undo and a
 * redo. */
void reviewed_settle(struct reviewed *v, bool (*is_undone)(void *data, int64_t step), void *data);
void reviewed_set(struct reviewed *v, int64_t step, const char *path, unsigned number,
		  enum review_state is, int64_t by);
/* Returns an empty point, or NULL if POINTS_MAX comments wait to be sent. */
struct point *point_add(struct reviewed *v);
/* Adds a comment. Returns false if POINTS_MAX wait to be sent, or the text is empty. */
bool reviewed_comment(struct reviewed *v, const struct hunk *h, int line, const char *text);
/* Marks a point that was sent as handled. name: "3.2", from the agent. Returns the point; NULL: the
 * name is not valid, no such point was sent, or it is handled already; err says which are open. */
const struct point *reviewed_handle(struct reviewed *v, const char *name, struct err *err);
/* Reopens a handled point. Returns it, or NULL if there is none. */
const struct point *reviewed_reopen(struct reviewed *v, unsigned round, unsigned number);
/* Adds the message for the agent: the unsent comments, with the numbers that they will have, and
 * the pieces reverted since the last message. Adds nothing if there are none. Paths and comments
 * are escaped. */
void reviewed_message(const struct reviewed *v, struct buf *out);
void reviewed_sent(struct reviewed *v); /* marks the content of that message as sent */
