/* scene - a console over a model made by hand, with verbs that are only recorded. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/clock.h"
#include "tui/console/frame/ui.h"
#include "tui/term/term.h"

struct scene {
	struct model model;
	struct ui *ui;
	struct keymap *keymap;
	struct theme theme;
	struct surface surface;
	struct term *term;
	struct buf to_agent, said; /* bytes for the agent; verbs, one a line */
	int64_t now_us;
	uint64_t requests;
};

void scene_init(struct scene *s, int w, int h, enum depth depth);
void scene_done(struct scene *s);
/* For cmocka: *state is a filled scene of 120x40 in 256 colours, with nothing recorded yet. */
int scene_set_up(void **state);
int scene_tear_down(void **state);
void scene_theme(struct scene *s, const char *name, enum depth depth);
void scene_fill(struct scene *s); /* steps, rows, and a prompt in the agent's terminal */
void scene_ask(struct scene *s, uint64_t id, const char *path);
void scene_read(struct scene *s, uint64_t id, const char *path);
void scene_host(struct scene *s, uint64_t id); /* asks about a host */
void scene_connections(struct scene *s);       /* three connections, one of them closed */
/* Adds two answers in force, rules 41 and 42, a lasting one, and a rule of the organisation. */
void scene_given(struct scene *s);
void scene_refuse_plan(struct scene *s, int why, const char *words);
void scene_held(struct scene *s, uint64_t id, enum loss what);
void scene_plan(struct scene *s, bool conflict);
void scene_keys(struct scene *s, const char *keys); /* "C-] s j", with a blank between keys */
void scene_wait(struct scene *s, int64_t ms);	    /* lets time pass, and draws a frame */
void scene_draw(struct scene *s);
bool scene_shows(struct scene *s, const char *words); /* draws first */
/* Compares the screen with tests/golden/NAME-WxH-DEPTH.screen; UPDATE=1 rewrites that. */
void scene_golden(struct scene *s, const char *name, enum depth depth);
