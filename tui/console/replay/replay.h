/* replay - plays a recording: makes the terminal and the model of any moment in it. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/record/past.h"
#include "tui/console/frame/ui.h"
#include "tui/term/term.h"

/*
 * Life:    replay_new() takes the recording over -> replay_tick() while it plays -> replay_free().
 * Owns:    the terminal and the model, which change with the position. A seek makes a new terminal:
 *          call replay_term() again.
 * Threads: main loop. The only wait is for a block of the file.
 */
struct replay;

struct replay *replay_new(struct recording *rec) MUST_USE;
void replay_free(struct replay *r); /* NULL is a no-op */
struct term *replay_term(const struct replay *r);
struct model *replay_model(struct replay *r);
struct recording *replay_recording(const struct replay *r);

int64_t replay_position(const struct replay *r);
bool replay_playing(const struct replay *r);
double replay_speed(const struct replay *r);
int64_t replay_idle(const struct replay *r); /* longest pause in microseconds; 0: as recorded */
void replay_play(struct replay *r, bool on, int64_t now_us);
void replay_set_speed(struct replay *r, double speed, int64_t now_us);
void replay_set_idle(struct replay *r, int64_t limit_us, int64_t now_us);
/* Plays the events that are due. Returns whether the terminal or the model has changed. */
bool replay_tick(struct replay *r, int64_t now_us);
void replay_seek(struct replay *r, int64_t t_us, int64_t now_us);
/* Seeks to the next or the previous output of the terminal. */
void replay_frame(struct replay *r, bool next, int64_t now_us);
/* Seeks to the next or previous mark of a kind (MARK_KINDS: any). Returns it, or NULL. */
const struct mark *replay_to_mark(struct replay *r, enum mark_kind kind, bool next, int64_t now_us);
/* Returns when a step wrote a path, or (path NULL) began; -1: unknown. */
int64_t replay_when(struct replay *r, int64_t step, const char *path);

/* Begins a search in the recorded screens and the activity; replay_tick() continues it. */
void replay_find(struct replay *r, const char *needle, bool next);
enum replay_found {
	FIND_NONE, /* no search */
	FIND_SEARCHING,
	FIND_HIT, /* the replay is at the hit */
	FIND_NO_HIT,
};
/* Returns the state of the search; *ret_us: the time reached. Returns a result once. */
enum replay_found replay_finding(struct replay *r, int64_t *ret_us);

/* replay_view.c: the pane and the time line. */
struct view *view_replay_new(struct ui *ui) MUST_USE;
void replay_draw_bar(struct ui *ui, struct surface *s, struct rect r);
void replay_click(struct ui *ui, int x, struct rect bar);
/* replay_keys.c: returns false if the action is not a replay's. */
bool replay_act(struct ui *ui, enum action a);
void replay_prompt(struct ui *ui, enum query what, const char *text); /* Enter in a prompt */
void replay_news(struct ui *ui);				      /* after a new position */
