/* ui - the console without a terminal: panes, popups, focus, keys to verbs. Tests drive it whole.
 */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <limits.h>

#include "core/session/model.h"
#include "tui/console/layout.h"
#include "tui/console/list.h"
#include "tui/console/view.h"
#include "tui/look/keymap.h"
#include "tui/look/theme.h"

struct term;
struct replay;

/* What the console can do to the world; the loop binds it to a session, tests to a recorder. */
struct ui_verbs {
	int (*answer)(void *data, uint64_t ask, const struct answer *a, struct err *err);
	void (*revoke)(void *data, uint64_t rule);
	int (*forget)(void *data, size_t i, struct err *err); /* model.lasting[i] */
	/* Close a connection; forbid: deny it for the session, too. NULL: cannot be done. */
	void (*disconnect)(void *data, uint64_t id, bool forbid);
	/* Show a port of the sandbox on the host's loopback. NULL: cannot be done. */
	void (*publish)(void *data, uint16_t port);
	uint64_t (*plan)(void *data, enum undo_kind kind, size_t n, unsigned flags);
	uint64_t (*undo)(void *data, enum undo_kind kind, size_t n, unsigned flags);
	/* One path of a step; plan: only what would change. 0: it cannot be sent. */
	uint64_t (*restore)(void *data, bool plan, int64_t step, const char *path, unsigned flags);
	void (*stop)(void *data); /* the commands that run */
	void (*turn)(void *data); /* the human said something to the agent; may be NULL */
	void (*cancel)(void *data);
	/* Show another session instead. NULL: this console belongs to its own. */
	void (*attach)(void *data, const char *session);
	void (*leave)(void *data); /* ends the agent when it still runs */
	void (*suspend)(void *data);
	void (*redraw)(void *data);
	void (*bell)(void *data);
	void (*alert)(void *data); /* something waits: bell and notification, not too often */
	/* work() runs on a worker, then done() on the loop; at once in tests. */
	void (*submit)(void *data, void (*work)(void *job), void (*done)(void *job), void *job);
};

struct ui_spec {
	const struct model *model;
	const struct keymap *keymap;
	struct term *term; /* may be NULL in tests */
	const struct ui_verbs *verbs;
	void *data;		    /* for verbs */
	const char *folder;	    /* paths below it are shown without it; may be NULL */
	const char *const *folders; /* all of them; for the step view, as state_dir; may be NULL */
	const char *state_dir;
	bool mouse;
	struct replay *replay; /* a recording is shown; NULL: a session */
	bool attached;	       /* to a session that runs elsewhere: leaving ends nothing */
};

#define UI_POPUPS 4
#define UI_ARM_US 500000 /* answers and confirmations count after this long without a key */

struct prompt {
	bool active;
	enum query what;
	struct view *view;
	char text[LIST_QUERY];
};

struct ui {
	struct ui_spec spec;
	struct layout layout;
	enum pane focus;
	bool zoom;
	struct view *panes[PANE_COUNT];
	struct view *popups[UI_POPUPS];
	size_t n_popups;
	struct keymap_state keys;
	struct prompt prompt;
	char message[512];
	char path[PATH_MAX + 3];			/* ui_path()'s */
	char answered[PATH_MAX], answered_by[PATH_MAX]; /* path and program of the last question */
	int64_t answered_us;
	int64_t message_until_us;
	uint64_t ask_seen;	  /* the newest that rang the bell */
	uint64_t stopped_seen;	  /* steps that a safeguard stopped, told so far */
	bool over;		  /* the agent has ended, and the human was not typing into it */
	int64_t now_us, input_us; /* monotonic: this turn, the newest key */
	int64_t wake_us;	  /* draw again then, though nothing happens; 0: never */
	bool dirty;
};

struct ui *ui_new(const struct ui_spec *spec) MUST_USE;
void ui_free(struct ui *ui);
/* Lays out for this size; the agent's pane is returned so that its pty can follow. */
struct rect ui_resize(struct ui *ui, int w, int h);
void ui_event(struct ui *ui, const struct event *ev, int64_t now_us);
void ui_changed(struct ui *ui); /* the model is newer */
void ui_draw(struct ui *ui, struct surface *s, int64_t now_us);

/* For views. */
void ui_push(struct ui *ui, struct view *v);  /* takes it over */
void ui_pop(struct ui *ui);		      /* frees the top popup */
void ui_close(struct ui *ui, struct view *v); /* frees this popup, wherever it stands */
void ui_say(struct ui *ui, const char *fmt, ...) PRINTF_LIKE(2, 3);
void ui_focus(struct ui *ui, enum pane p);
struct view *ui_top(const struct ui *ui); /* who gets the keys */
/* What was shown first at shown_us may be answered now; asks for a wake-up otherwise. */
bool ui_armed(struct ui *ui, int64_t shown_us);
bool ui_global(struct ui *ui, enum action a);
void ui_undo(struct ui *ui, enum undo_kind kind, int64_t step);
void ui_restore(struct ui *ui, int64_t step, const char *path);
const char *ui_keys(struct ui *ui, enum place place, enum action a, char *out, size_t size);
/* A path as the human knows it: relative to the working folder when it lies inside, or to `~`.
 * Borrowed until the next call. */
const char *ui_path(struct ui *ui, const char *path);
/* "openat" -> "write", "unlinkat" -> "delete": what a call means to the human. Escaped. */
void ui_op(const char *op, char *out, size_t size);
/* The same of a request: a directory is not read but listed. */
void ui_wish(const struct ask *ask, char *out, size_t size);
/* A double-lined box with a title, cleared inside; returns the inside. */
struct rect ui_modal(struct surface *s, struct rect r, const char *title, bool danger);
/* How much of an escaped text goes on a row of so many columns: as many words as fit, or as much of
 * one; *next: where the next row begins. */
size_t ui_fitting(const char *text, int cols, const char **next);
int ui_modal_cols(int w); /* how wide the inside of one is that is w wide */
/* A role of the lists on the ground of a box. */
int ui_modal_text(struct surface *s, int x, int y, int cols, int role, const char *text);
void ui_row_style(struct surface *s, struct rect row, bool selected, bool focused);
/* The line that a search has found, in text whose colours mean something: they stay. */
void ui_row_point(struct surface *s, struct rect row);
/* Marks each place where the row, as it is drawn, has these words; "": none. */
void ui_mark(struct surface *s, struct rect row, const char *needle);

/* bars.c */
void bars_draw_hints(struct ui *ui, struct surface *s, struct rect r);
void bars_draw_status(struct ui *ui, struct surface *s, struct rect r);
void bars_draw_tabs(struct ui *ui, struct surface *s, struct rect r);

/* The views. */
struct view *view_terminal_new(struct ui *ui) MUST_USE;
struct view *view_audit_new(struct ui *ui) MUST_USE;
struct view *view_steps_new(struct ui *ui) MUST_USE;
struct view *view_step_new(struct ui *ui, int64_t step) MUST_USE;
struct view *view_edits_new(struct ui *ui, const struct barrier *edits) MUST_USE; /* copies it */
/* What the plan merges, before it is written; confirming goes on to the dialog below. */
struct view *view_merge_new(struct ui *ui, const struct undo_plan *plan) MUST_USE;
struct view *view_help_new(struct ui *ui, enum place place) MUST_USE;
struct view *view_rules_new(struct ui *ui) MUST_USE;
struct view *view_connections_new(struct ui *ui) MUST_USE;
struct view *view_sessions_new(struct ui *ui) MUST_USE;
struct view *dialog_approval_new(struct ui *ui) MUST_USE;
struct view *dialog_plan_new(struct ui *ui, enum undo_kind kind, int64_t step) MUST_USE;
struct view *dialog_restore_new(struct ui *ui, int64_t step, const char *path) MUST_USE;
/* words: what is in the way of an undo or redo that was asked for. */
struct view *dialog_busy_new(struct ui *ui, enum undo_kind kind, int64_t step, const char *words)
	MUST_USE;
struct view *dialog_progress_new(struct ui *ui, uint64_t request) MUST_USE;
struct view *dialog_leave_new(struct ui *ui) MUST_USE;
