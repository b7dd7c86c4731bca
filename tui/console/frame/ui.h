/* ui - the console without a terminal: panes, popups, focus, and the verbs of keys. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <limits.h>

#include "core/diff/reviewed.h"
#include "core/session/model.h"
#include "core/session/branch.h"
#include "tui/console/frame/layouts.h"
#include "tui/console/views/list.h"
#include "tui/console/frame/select.h"
#include "tui/console/views/view.h"
#include "tui/look/keymap.h"
#include "tui/look/theme.h"

struct term;
struct replay;

/* Actions outside the ui. The loop binds them to a session, tests to a recorder. */
struct ui_verbs {
	int (*answer)(void *data, uint64_t ask, const struct answer *a, struct err *err);
	void (*revoke)(void *data, uint64_t rule);
	int (*forget)(void *data, size_t i, struct err *err); /* model.lasting[i] */
	/* Closes a connection; forbid: denies it for the session, too. NULL: not available. */
	void (*disconnect)(void *data, uint64_t id, bool forbid);
	/* Publishes a port of the sandbox on the host's loopback. NULL: not available. */
	void (*publish)(void *data, uint16_t port);
	uint64_t (*plan)(void *data, enum undo_kind kind, size_t n, unsigned flags);
	uint64_t (*undo)(void *data, enum undo_kind kind, size_t n, unsigned flags);
	/* Restores one path of a step; plan: only asks for the plan. Returns 0 if the request
	 * cannot be sent. */
	uint64_t (*restore)(void *data, bool plan, int64_t step, const char *path, unsigned flags);
	/* Restores the n-th hunk (from 1) of that path in the step's diff. NULL: not available. */
	uint64_t (*restore_hunk)(void *data, int64_t step, const char *path, unsigned hunk);
	/* Opens a file in the user's editor, at a line (0: none). NULL: not available. */
	int (*edit)(void *data, const char *path, int line, struct err *err);
	/* Shows the recording at a wall clock time, in a new pane or here. NULL: no recording. */
	int (*moment)(void *data, int64_t wall_us, struct err *err);
	/* Changes the theme, and with `keep` saves it in the settings; a failure to save does not
	 * undo the change. name NULL: the theme that was saved last. */
	int (*theme)(void *data, const char *name, bool keep, struct err *err);
	const char *(*theme_name)(void *data);	       /* the saved theme; may be NULL */
	void (*themes)(void *data, struct buf *names); /* lists all themes, a line each */
	void (*stop)(void *data);		       /* stops the running commands */
	void (*turn)(void *data); /* the user sent a line to the agent; may be NULL */
	/* Returns the news for the agent (model.notices) and clears them; heap. May be NULL. */
	char *(*notices)(void *data);
	/* The review (core/session/session.h). These six are NULL if there is none. */
	const struct reviewed *(*reviewed)(void *data);
	void (*review)(void *data, enum review_verb verb, const struct hunk *const *list, size_t n);
	void (*comment)(void *data, const struct hunk *h, int line, const char *text);
	void (*review_sent)(void *data);
	bool (*tell)(void *data, const char *text); /* to an agent without a terminal; escaped */
	void (*reopen)(void *data, unsigned round, unsigned number); /* a handled point */
	/* A key that may answer the agent's own question was sent. May be NULL. */
	void (*answered)(void *data);
	void (*cancel)(void *data);
	/* Opens the user's shell beside the agent, in a new pane or on this terminal. NULL: not
	 * available. */
	int (*shell)(void *data, struct err *err);
	/* Shows another session, here or in a new pane. NULL: this console has its own session. */
	void (*attach)(void *data, const char *session);
	/* Runs cordon with these words, in a new pane or on this terminal. NULL: not available. */
	int (*cordon)(void *data, const char *const *words, size_t n, struct err *err);
	void (*leave)(void *data);   /* ends the agent if it still runs */
	void (*detach)(void *data);  /* closes the console only; NULL: not available */
	void (*restart)(void *data); /* ends the agent and starts it again; NULL: not available */
	/* Answers by a restart with a copy of the agent's settings; NULL: not available. */
	int (*own_settings)(void *data, uint64_t ask, struct err *err);
	void (*suspend)(void *data);
	void (*redraw)(void *data);
	void (*bell)(void *data);
	/* Copies text to the clipboard; NULL: not available. */
	int (*copy)(void *data, const char *text, size_t len, struct err *err);
	/* Opens an address by the user's command; 1: none is set. NULL: not available. */
	int (*open)(void *data, const char *url, struct err *err);
	void (*alert)(void *data); /* a request waits: bell and notification, at a limited rate */
	/* Runs work() on a worker, then done() on the loop; at once in tests. */
	void (*submit)(void *data, void (*work)(void *job), void (*done)(void *job), void *job);
};

struct ui_spec {
	const struct model *model;
	const struct keymap *keymap;
	struct term *term; /* may be NULL in tests */
	const struct ui_verbs *verbs;
	void *data;		    /* for verbs */
	const char *folder;	    /* paths in it are shown relative to it; may be NULL */
	const char *const *folders; /* all folders, for the step view, as state_dir; may be NULL */
	const char *state_dir;
	bool mouse;
	bool agent;	       /* a coding agent runs in the terminal */
	bool still;	       /* no blinking */
	bool headless;	       /* keys do not reach the agent: its terminal is elsewhere */
	bool prints;	       /* headless, but a pane shows the agent's output */
	struct replay *replay; /* the shown recording; NULL: a session */
	bool read_only;	       /* no input to the agent, no undo */
	bool board;	       /* shows the list of all sessions instead of one */
};

#define UI_POPUPS   4
#define BAR_BUTTONS 24
#define UI_SAID	    200
#define UI_SINGLES  16
#define UI_ARM_US   500000 /* answers and confirmations count after so long without a key */

#define PROMPT_TEXT 600 /* bytes: a comment is the longest */

struct prompt {
	bool active;
	enum query what;
	struct view *view;
	char text[PROMPT_TEXT];
};

struct ui {
	struct ui_spec spec;
	struct layout layout;
	struct layout_wish wish; /* for this size */
	struct layouts layouts;	 /* for all sizes */
	enum layout_border dragged;
	enum pane focus;
	bool zoom;
	struct view *panes[PANE_COUNT];
	struct view *popups[UI_POPUPS];
	size_t n_popups;
	struct line_blame *blaming; /* line_blame.c: being read by a worker; or NULL */
	struct view *shelf;	    /* moment.c: the popup to return to after a moment, or NULL */
	struct keymap_state keys;
	struct prompt prompt;
	struct said {
		int64_t at_us;
		char *words;
	} said[UI_SAID]; /* ring of ui_say()'s messages */
	uint64_t n_said; /* messages so far */
	char message[512];
	char path[PATH_MAX + 3];			/* for ui_path() */
	char answered[PATH_MAX], answered_by[PATH_MAX]; /* path and program of the last question */
	int64_t answered_us;
	struct single {	   /* requests in a directory that were allowed singly */
		char *dir; /* NULL: none */
		enum rule_kind kind;
		unsigned n;
	} singles[UI_SINGLES];
	unsigned next_single; /* the oldest is replaced */
	int64_t message_until_us;
	struct bar_button {
		int x, w;
		enum action action;
	} buttons[BAR_BUTTONS]; /* of the hints, at the last drawing */
	size_t n_buttons;
	struct branch branch;
	char note[LIST_QUERY]; /* typed in the dialog, for the next denial */
	uint64_t noticed;      /* model.noticed at the last message */
	char *note_ready;      /* text that the user may paste into the agent's prompt, or NULL */
	struct export *export; /* a patch that a worker is writing, or NULL */
	struct mouse pressed;  /* the last press, for double clicks */
	int64_t pressed_us;
	struct selection selection;
	struct sent {			 /* sent to the agent since the last Enter */
		unsigned chars, answers; /* printable ones; of these, digits, y and n */
		bool pasted;
	} sent;
	int64_t mark;	       /* the step that the user has marked, or 0 */
	uint64_t ask_seen;     /* newest request for which the bell rang */
	int64_t offered;       /* newest step of the last turn in offer_review() */
	uint64_t stopped_seen; /* number of reported steps that a safeguard stopped */
	struct clip {
		char *text; /* text that the agent wants to copy; NULL: none */
		size_t len;
		int64_t shown_us, until_us;
	} clip;
	bool over;		  /* the agent has ended, and the user was not typing into it */
	int64_t now_us, input_us; /* monotonic: this turn, the last key */
	int64_t over_us;	  /* when the agent's end has moved the focus; 0: it has not */
	/* A dialog closed by itself: keys meant for it are dropped, until a pause after the screen
	 * without it was drawn. */
	bool swallows;
	int64_t gone_us; /* when that screen was drawn; 0: not yet */
	int64_t wake_us; /* when to draw again without an event; 0: never */
	bool dirty;
};

/* Returns whether the agent's output is shown. */
static inline bool ui_has_terminal(const struct ui *ui)
{
	return !ui->spec.headless || ui->spec.prints;
}

struct ui *ui_new(const struct ui_spec *spec) MUST_USE;
void ui_free(struct ui *ui);
/* Lays out for this size. Returns ui_agent_pane(). */
struct rect ui_resize(struct ui *ui, int w, int h);
/* Returns the agent's pane, for the size of its pty: hidden, it keeps the size that it has when it
 * is shown, so that programs do not draw for a terminal of nothing. */
struct rect ui_agent_pane(const struct ui *ui);
void ui_relayout(struct ui *ui, int w, int h); /* with the current wish */
void ui_event(struct ui *ui, const struct event *ev, int64_t now_us);
void ui_set_keymap(struct ui *ui, const struct keymap *km);
void ui_changed(struct ui *ui); /* after a change of the model */
void ui_tick(struct ui *ui);	/* once a second */
void ui_draw(struct ui *ui, struct surface *s, int64_t now_us);

/* For views. */
void ui_push(struct ui *ui, struct view *v);  /* takes ownership */
void ui_pop(struct ui *ui);		      /* frees the top popup */
void ui_close(struct ui *ui, struct view *v); /* frees this popup, at any depth */
/* Closes a dialog for which the user may be pressing a key. */
void ui_vanish(struct ui *ui, struct view *v);
/* Begins to drop keys, which were meant for a dialog that has closed, until a pause. */
void ui_swallow(struct ui *ui);
void ui_say(struct ui *ui, const char *fmt, ...) PRINTF_LIKE(2, 3);
void ui_hush(struct ui *ui); /* ends an earlier message, which hides the hints */
/* Copies a text, and shows a message about the result. */
bool ui_copy(struct ui *ui, const char *text, size_t len);
void ui_focus(struct ui *ui, enum pane p);
void ui_drop(struct view *v);		  /* by the view's free(); NULL is a no-op */
struct view *ui_top(const struct ui *ui); /* the view that gets the keys */
/* Returns whether a dialog that was drawn first at shown_us accepts answers; else requests a
 * wake-up. */
bool ui_armed(struct ui *ui, int64_t shown_us);
bool ui_global(struct ui *ui, enum action a);
/* Performs an action: in the view with the focus, else in the console. */
void ui_do(struct ui *ui, enum action a);
/* Returns whether the action has an effect in this view: by its keys, its `does`, or everywhere. */
bool ui_holds(const struct ui *ui, const struct view *v, enum action a);
/* Starts cordon with these words, on this terminal or in a new pane; shows a message on failure. */
void ui_cordon(struct ui *ui, const char *const *words, size_t n);
void ui_undo(struct ui *ui, enum undo_kind kind, int64_t step);
/* Undoes the newest step that is not undone yet. Returns false if there is none. */
bool ui_undo_newest(struct ui *ui);
/* Undoes the session's newest turn, or its newest step if no turn is known: shows the plan, or a
 * message if there is none. */
void ui_undo_turn(struct ui *ui);
void ui_restore(struct ui *ui, int64_t step, const char *path);
const char *ui_keys(struct ui *ui, enum place place, enum action a, char *out, size_t size);
/* Returns a path for display: relative to the working folder if inside, else to `~`. Borrowed until
 * the next call. */
const char *ui_path(struct ui *ui, const char *path);
const char *ui_home_path(struct ui *ui, const char *path); /* like ui_path(), but never relative */
/* Returns words for an external edit: "git branch main" for a file of git's, else the path.
 * Borrowed until the next call. */
const char *ui_edited(struct ui *ui, const char *path);
/* Writes the agent's name, "claude" for "/opt/bin/claude --continue"; escaped. */
void ui_agent(const struct ui *ui, char *out, size_t size);
char *ui_escaped(const char *raw) MUST_USE; /* NULL is "" */
/* "vim wants to write .git/hooks/pre-commit": escaped. */
char *ui_headline(struct ui *ui, const struct ask *ask) MUST_USE;
/* Writes a verb for a system call: "openat" -> "write", "unlinkat" -> "delete". Escaped. */
void ui_op(const char *op, char *out, size_t size);
/* Writes the verb of a request: a directory is listed, not read. */
void ui_wish(const struct ask *ask, char *out, size_t size);
/* Draws a double-lined box with a title, cleared inside. Returns the inside. */
struct rect ui_modal(struct surface *s, struct rect r, const char *title, bool danger);
/* Returns how many bytes of an escaped text fit on a row: whole words, or a part of one. *next: the
 * start of the next row. */
size_t ui_fitting(const char *text, int cols, const char **next);
int ui_modal_cols(int w); /* inner width of a box of width w */
/* Draws text in a role of the lists on the background of a box. */
int ui_modal_text(struct surface *s, int x, int y, int cols, int role, const char *text);
void ui_row_style(struct surface *s, struct rect row, bool selected, bool focused);
/* Highlights the line that a search found, without changing its colours. */
void ui_row_point(struct surface *s, struct rect row);
/* Marks each occurrence of these words in the drawn row; "": none. */
void ui_mark(struct surface *s, struct rect row, const char *needle);

/* since.c: DIFF_SESSION, DIFF_TURN, MARK (the newest step), DIFF_MARK. Returns false for another
 * action. */
bool ui_since(struct ui *ui, enum action a);
void ui_mark_step(struct ui *ui, int64_t step);

void ui_export_abandon(struct ui *ui);	/* when the ui is freed while a patch is being written */
void line_blame_abandon(struct ui *ui); /* views/line_blame.c: drops the worker's result */

/* panes.c: layouts, borders, visible panes. */
void panes_load(struct ui *ui);
void panes_save(struct ui *ui);
bool panes_act(struct ui *ui, enum action a);
bool panes_mouse(struct ui *ui, const struct mouse *m); /* drags a border */
enum pane panes_next(const struct ui *ui, bool back);
void panes_show(struct ui *ui, enum pane p); /* shows a hidden pane */

/* note.c: the user's note to the agent about a denial. */
bool note_act(struct ui *ui, enum action a);
/* Pastes a text into the agent's prompt, closes popups and focuses its pane. note_can_paste()
 * returns false and shows a message if that is impossible. */
bool note_can_paste(struct ui *ui);
void note_paste(struct ui *ui, const char *text);
void note_typed(struct ui *ui, const char *text);
/* Adds the key that tells the agent to the last message, if no hook does so. */
void note_offer(struct ui *ui);
void note_denied(struct ui *ui, const struct ask *ask); /* NULL: allowed */

/* ui_mouse.c */
void ui_mouse(struct ui *ui, const struct mouse *m);
/* clipboard.c: for a text that the agent sends to the user's clipboard. */
void clipboard_request(struct ui *ui, const char *text, size_t len, int64_t now_us);
void clipboard_allow(struct ui *ui); /* by the user's key */
void clipboard_done(struct ui *ui);

/* bars.c */
void bars_draw_hints(struct ui *ui, struct surface *s, struct rect r);
void bars_draw_status(struct ui *ui, struct surface *s, struct rect r);
void bars_draw_tabs(struct ui *ui, struct surface *s, struct rect r);

/* The views. */
struct view *view_terminal_new(struct ui *ui) MUST_USE;
struct view *view_audit_new(struct ui *ui) MUST_USE;
void view_audit_quiet(struct view *v); /* an agent runs: hides its own system calls at first */
/* All facts of a row of the activity, copied. */
struct activity_item;
struct view *view_detail_new(struct ui *ui, const struct row *r, const struct activity_item *item)
	MUST_USE;
struct view *view_steps_new(struct ui *ui) MUST_USE;
struct view *view_step_new(struct ui *ui, int64_t step) MUST_USE;
/* The combined diff of that step and all newer ones; words must be static. */
struct view *view_range_new(struct ui *ui, int64_t from, const char *words) MUST_USE;
/* The combined diff of a range of steps of one turn; words: its prompt, or NULL. */
struct view *view_turn_new(struct ui *ui, int64_t from, int64_t to, const char *words) MUST_USE;
/* Like view_turn_new(), for another session, from the history of its folder: it cannot be undone
 * there. to 0: the newest; words: escaped. */
struct view *view_other_new(struct ui *ui, const char *folder, int64_t from, int64_t to,
			    const char *words) MUST_USE;
/* Returns the diff of the selected row in the list of steps, or NULL. Borrowed. */
struct view *view_steps_preview(struct view *steps);
/* Returns the statistics of a step; NULL until they are read. Borrowed. */
struct step_stat;
const struct step_stat *view_steps_stat(struct view *steps, int64_t id);
/* Appends "12 steps, 5 files changed (+40 -3)" for this session; lines are the sum over its steps.
 * Returns false if it has no step. */
bool view_steps_sum(struct view *steps, struct buf *out);
/* Returns how many files the newest turn has changed, and its newest step; 0: none, or not all of
 * its steps are read. */
size_t view_steps_turn(struct view *steps, int64_t *ret_newest);
/* The review of a range of steps; words: escaped, or NULL. Returns NULL and shows a message if
 * there is none. */
struct view *view_review_of(struct ui *ui, int64_t from, int64_t to, const char *words) MUST_USE;
struct view *view_edits_new(struct ui *ui, const struct barrier *edits) MUST_USE; /* copies it */
/* The result of the plan's merges, before it is written; a confirmation continues the dialog below
 * it. */
struct view *view_merge_new(struct ui *ui, const struct undo_plan *plan) MUST_USE;
/* Popups that an action opens on any view: ACTION_<action>, PLACE_<place> of its keys, and the
 * function that makes it. The function returns NULL and shows a message if there is nothing to
 * show. */
#define POPUPS(X)                                                                                  \
	X(HELP, HELP, view_help_new)                                                               \
	X(PALETTE, PALETTE, view_palette_new)                                                      \
	X(SHOW_RULES, RULES, view_rules_new)                                                       \
	X(SHOW_CONNECTIONS, CONNECTIONS, view_connections_new)                                     \
	X(SHOW_SESSIONS, SESSIONS, view_sessions_new)                                              \
	X(SHOW_RECORDINGS, RECORDINGS, view_recordings_new)                                        \
	X(SHOW_REVIEW, REVIEW, view_review_new)                                                    \
	X(SHOW_LOG, LOG, view_log_new)                                                             \
	X(SHOW_RESOURCES, RESOURCES, view_resources_new)                                           \
	X(SHOW_THEMES, THEMES, view_themes_new)
#define X(action, place, make) struct view *make(struct ui *ui) MUST_USE;
POPUPS(X)
#undef X
/* Dialogs about the oldest request of another session, and about its end. They copy the row. */
struct roster_row;
struct view *dialog_answer_new(struct ui *ui, const struct roster_row *row) MUST_USE;
struct view *dialog_end_new(struct ui *ui, const struct roster_row *row) MUST_USE;
struct view *dialog_approval_new(struct ui *ui) MUST_USE;
struct view *dialog_plan_new(struct ui *ui, enum undo_kind kind, int64_t step) MUST_USE;
struct view *dialog_restore_new(struct ui *ui, int64_t step, const char *path) MUST_USE;
/* words: why the undo or redo cannot begin. */
struct view *dialog_busy_new(struct ui *ui, enum undo_kind kind, int64_t step, const char *words)
	MUST_USE;
struct view *dialog_progress_new(struct ui *ui, uint64_t request) MUST_USE;
/* again: restarts the agent. */
struct view *dialog_leave_new(struct ui *ui, bool again) MUST_USE;
