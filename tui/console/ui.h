/* ui - the console without a terminal: panes, popups, focus, keys to verbs. Tests drive it whole.
 */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <limits.h>

#include "core/session/model.h"
#include "tui/console/layouts.h"
#include "tui/console/list.h"
#include "tui/console/select.h"
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
	/* The n-th hunk (from 1) of that path in the step's diff, as it was before. NULL: not here.
	 */
	uint64_t (*restore_hunk)(void *data, int64_t step, const char *path, unsigned hunk);
	/* A file in the human's own editor, at a line (0: none). NULL: not here. */
	int (*edit)(void *data, const char *path, int line, struct err *err);
	/* The recording at a time of the clock, elsewhere or instead. NULL: there is none. */
	int (*moment)(void *data, int64_t wall_us, struct err *err);
	/* Another theme: to look at, or to keep in the settings (it is worn even where that fails);
	 * NULL: the one that was kept last. */
	int (*theme)(void *data, const char *name, bool keep, struct err *err);
	const char *(*theme_name)(void *data);	       /* the one that was kept; may be NULL */
	void (*themes)(void *data, struct buf *names); /* that there are, a line each */
	void (*stop)(void *data);		       /* the commands that run */
	void (*turn)(void *data); /* the human sent a line to the agent; may be NULL */
	void (*cancel)(void *data);
	/* Show another session, instead or beside. NULL: this console belongs to its own. */
	void (*attach)(void *data, const char *session);
	void (*leave)(void *data);   /* ends the agent when it still runs */
	void (*restart)(void *data); /* the same, and begin anew; NULL: not from here */
	/* The answer that begins anew with settings of its own; NULL: not from here. */
	int (*own_settings)(void *data, uint64_t ask, struct err *err);
	void (*suspend)(void *data);
	void (*redraw)(void *data);
	void (*bell)(void *data);
	/* Text for the human to paste; NULL: cannot be done. */
	int (*copy)(void *data, const char *text, size_t len, struct err *err);
	/* An address, by a command of the human's; 1: none is set. NULL: cannot be done. */
	int (*open)(void *data, const char *url, struct err *err);
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
	bool still;	       /* what blinks does not */
	struct replay *replay; /* a recording is shown; NULL: a session */
	bool attached;	       /* to a session that runs elsewhere: leaving ends nothing */
};

#define UI_POPUPS   4
#define BAR_BUTTONS 24
#define UI_SAID	    200
#define UI_ARM_US   500000 /* answers and confirmations count after this long without a key */

struct prompt {
	bool active;
	enum query what;
	struct view *view;
	char text[LIST_QUERY];
};

struct ui {
	struct ui_spec spec;
	struct layout layout;
	struct layout_wish wish; /* for this size */
	struct layouts layouts;	 /* for all of them */
	enum layout_border dragged;
	enum pane focus;
	bool zoom;
	struct view *panes[PANE_COUNT];
	struct view *popups[UI_POPUPS];
	size_t n_popups;
	struct view *shelf; /* moment.c: the popup that a replay has left for its moment, or NULL */
	struct keymap_state keys;
	struct prompt prompt;
	struct said {
		int64_t at_us;
		char *words;
	} said[UI_SAID]; /* ring of what ui_say() said */
	uint64_t n_said; /* ever */
	char message[512];
	char path[PATH_MAX + 3];			/* ui_path()'s */
	char answered[PATH_MAX], answered_by[PATH_MAX]; /* path and program of the last question */
	int64_t answered_us;
	int64_t message_until_us;
	struct bar_button {
		int x, w;
		enum action action;
	} buttons[BAR_BUTTONS]; /* of the hints, as they were drawn last */
	size_t n_buttons;
	char note[LIST_QUERY]; /* typed in the dialog, for the denial that follows */
	char *note_ready;      /* and what is pasted when the human says so; or NULL */
	struct export *export; /* a patch that is being written, or NULL */
	struct mouse pressed;  /* the newest press, for the second one */
	int64_t pressed_us;
	struct selection selection;
	struct sent {			 /* to the agent, since the last Enter */
		unsigned chars, answers; /* printable; of them digits, y and n */
		bool pasted;
	} sent;
	int64_t mark;	       /* a step that the human has marked, or 0 */
	uint64_t ask_seen;     /* the newest that rang the bell */
	uint64_t stopped_seen; /* steps that a safeguard stopped, told so far */
	struct clip {
		char *text; /* what the agent wants to copy; NULL: nothing */
		size_t len;
		int64_t shown_us, until_us;
	} clip;
	bool over;		  /* the agent has ended, and the human was not typing into it */
	int64_t now_us, input_us; /* monotonic: this turn, the newest key */
	int64_t over_us;	  /* when the agent's end has moved the focus; 0: it has not */
	int64_t wake_us;	  /* draw again then, though nothing happens; 0: never */
	bool dirty;
};

struct ui *ui_new(const struct ui_spec *spec) MUST_USE;
void ui_free(struct ui *ui);
/* Lays out for this size; the agent's pane is returned so that its pty can follow. */
struct rect ui_resize(struct ui *ui, int w, int h);
void ui_relayout(struct ui *ui, int w, int h); /* with the wish that there is */
void ui_event(struct ui *ui, const struct event *ev, int64_t now_us);
void ui_set_keymap(struct ui *ui, const struct keymap *km);
void ui_changed(struct ui *ui); /* the model is newer */
void ui_draw(struct ui *ui, struct surface *s, int64_t now_us);

/* For views. */
void ui_push(struct ui *ui, struct view *v);  /* takes it over */
void ui_pop(struct ui *ui);		      /* frees the top popup */
void ui_close(struct ui *ui, struct view *v); /* frees this popup, wherever it stands */
void ui_say(struct ui *ui, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* Says that it did, or why not. */
bool ui_copy(struct ui *ui, const char *text, size_t len);
void ui_focus(struct ui *ui, enum pane p);
struct view *ui_top(const struct ui *ui); /* who gets the keys */
/* What was shown first at shown_us may be answered now; asks for a wake-up otherwise. */
bool ui_armed(struct ui *ui, int64_t shown_us);
bool ui_global(struct ui *ui, enum action a);
/* By the view that has the keys, else everywhere. */
void ui_do(struct ui *ui, enum action a);
/* Does the action mean anything in this view? By its own keys, its `does`, or everywhere. */
bool ui_is_general(enum action a); /* it is the same in every view */
bool ui_holds(const struct ui *ui, const struct view *v, enum action a);
void ui_undo(struct ui *ui, enum undo_kind kind, int64_t step);
/* Back to before the newest step that is not undone yet; false: there is none. */
bool ui_undo_newest(struct ui *ui);
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

/* since.c: DIFF_SESSION, DIFF_TURN, MARK (the newest step), DIFF_MARK. false: another action. */
bool ui_since(struct ui *ui, enum action a);
void ui_mark_step(struct ui *ui, int64_t step);

void ui_export_abandon(struct ui *ui); /* the ui goes while a patch is being written */

/* panes.c: layouts, borders, which panes there are. */
void panes_load(struct ui *ui);
void panes_save(struct ui *ui);
bool panes_act(struct ui *ui, enum action a);
bool panes_mouse(struct ui *ui, const struct mouse *m); /* a border is dragged */
enum pane panes_next(const struct ui *ui, bool back);
void panes_show(struct ui *ui, enum pane p); /* it is hidden no longer */

/* note.c: what the human tells the agent about a denial. */
bool note_act(struct ui *ui, enum action a);
void note_typed(struct ui *ui, const char *text);
void note_denied(struct ui *ui, const struct ask *ask); /* NULL: allowed */

/* ui_mouse.c */
void ui_mouse(struct ui *ui, const struct mouse *m);
/* clipboard.c: the agent has sent a text for the human's clipboard */
void clipboard_request(struct ui *ui, const char *text, size_t len, int64_t now_us);
void clipboard_allow(struct ui *ui); /* by the human's key */
void clipboard_done(struct ui *ui);

/* bars.c */
void bars_draw_hints(struct ui *ui, struct surface *s, struct rect r);
void bars_draw_status(struct ui *ui, struct surface *s, struct rect r);
void bars_draw_tabs(struct ui *ui, struct surface *s, struct rect r);

/* The views. */
struct view *view_terminal_new(struct ui *ui) MUST_USE;
struct view *view_audit_new(struct ui *ui) MUST_USE;
void view_audit_quiet(struct view *v); /* an agent runs: no system calls of its own, at first */
/* A row of the activity, whole; copies what it shows. */
struct activity_item;
struct view *view_detail_new(struct ui *ui, const struct row *r, const struct activity_item *item)
	MUST_USE;
struct view *view_steps_new(struct ui *ui) MUST_USE;
struct view *view_step_new(struct ui *ui, int64_t step) MUST_USE;
/* What that step and all newer ones changed together; words are static. */
struct view *view_range_new(struct ui *ui, int64_t from, const char *words) MUST_USE;
/* What the steps from one to another, of one turn, changed together; words: its prompt, or NULL. */
struct view *view_turn_new(struct ui *ui, int64_t from, int64_t to, const char *words) MUST_USE;
/* The diff of the row that is selected in the list of steps; NULL: it has none. Borrowed. */
struct view *view_steps_preview(struct view *steps);
struct view *view_edits_new(struct ui *ui, const struct barrier *edits) MUST_USE; /* copies it */
/* What the plan merges, before it is written; confirming goes on to the dialog below. */
struct view *view_merge_new(struct ui *ui, const struct undo_plan *plan) MUST_USE;
struct view *view_help_new(struct ui *ui, const struct view *of) MUST_USE;
struct view *view_palette_new(struct ui *ui, const struct view *of) MUST_USE;
struct view *view_log_new(struct ui *ui) MUST_USE;
struct view *view_resources_new(struct ui *ui) MUST_USE;
struct view *view_themes_new(struct ui *ui) MUST_USE;
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
/* again: the agent is started anew. */
struct view *dialog_leave_new(struct ui *ui, bool again) MUST_USE;
