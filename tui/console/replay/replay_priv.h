/* replay_priv - state that replay.c and replay_find.c share. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "tui/console/replay/replay.h"

/* A position in the recording, and the terminal at that position. */
struct spot {
	struct recording *rec;
	struct term *term;
	struct batch batch;
	size_t block, next; /* the next event is batch.list[next] of this block */
	bool loaded;
};

void spot_done(struct spot *s);
/* Opens the nearest snapshot of the terminal before t_us. */
void spot_open(struct spot *s, int64_t t_us);
/* Returns the next event without consuming it; NULL at the end. */
const struct moment *spot_peek(struct spot *s);
/* Consumes the next event, and feeds it to the terminal if it is output or a resize. */
void spot_take(struct spot *s);

struct find {
	char needle[LIST_QUERY];
	bool active, next, was_there;
	bool unseen; /* output came after the last check of the screen */
	enum replay_found told;
	struct spot spot;
	int64_t from_us, checked_us, last_hit_us;
	struct buf screen;
};

struct replay {
	struct recording *rec;
	struct past *past;
	struct model model;
	struct spot spot;
	int64_t at_us, base_us, base_mono_us;
	int64_t idle_us;
	int64_t quiet_us, next_us; /* between these times there is no event */
	double speed;
	bool playing;
	struct find find;
};

/* replay_find.c */
void find_done(struct find *f);
bool find_tick(struct replay *r, int64_t now_us);
