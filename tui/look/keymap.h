/* keymap - maps keys to actions, for each place. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/err.h"
#include "tui/look/action.h"
#include "tui/look/input.h"
#include "tui/look/source.h"

/*
 * Life:   keymap_load() -> keymap_free(). Read-only in between; the state of a half typed sequence
 *         is the caller's (struct keymap_state).
 * Guards: no file can bind in the terminal without the prefix, put an answer or a confirmation on
 *         Enter, Space or y, or make a lasting allow of fewer than two keys.
 * Clashes: two actions on the same keys, or one binding that is the head of another, in a place or
 *         between it and "global", are errors when the file is read. A place may take a whole key
 *         sequence of "global" for itself.
 * If a child file names an action in a place, the action loses all its inherited keys there.
 */
#define KEYS_MAX 4

struct keys {
	int n;
	struct key key[KEYS_MAX];
};

struct binding {
	enum place place;
	enum action action;
	struct keys keys;
};

struct keymap {
	struct key prefix;
	struct binding *list;
	size_t n, cap;
};

int keymap_load(struct keymap **ret, const char *name, const struct look_where *where,
		struct err *err) MUST_USE;
int keymap_parse(struct keymap **ret, const char *file, const char *text, size_t len,
		 struct err *err) MUST_USE; /* starts empty, unless the text inherits */
/* Sets another prefix than the file's; *km is untouched on failure. */
int keymap_set_prefix(struct keymap *km, const char *keys, struct err *err) MUST_USE;
void keymap_free(struct keymap *km);

struct keymap_state {
	struct keys typed;
};

enum keymap_result {
	KEYMAP_NONE,	/* these keys have no action here; the state is empty again */
	KEYMAP_PENDING, /* the head of a longer sequence */
	KEYMAP_FOUND,	/* *ret_action */
};

/* In PLACE_TERMINAL a key that is not the prefix, outside a sequence, is KEYMAP_NONE: the agent's.
 */
enum keymap_result keymap_feed(const struct keymap *km, struct keymap_state *st, enum place place,
			       struct key key, enum action *ret_action);

/* Returns the action of this one key in the place itself; ACTION_NONE: none, or the head of a
 * longer sequence. */
enum action keymap_single(const struct keymap *km, enum place place, struct key key);
/* Writes the first keys of an action as seen from a place: "g g", "C-] a"; false: it has none. */
bool keymap_keys_of(const struct keymap *km, enum place place, enum action a, char *out,
		    size_t size);
/* Returns whether the place itself has keys for the action. */
bool keymap_binds(const struct keymap *km, enum place place, enum action a);
/* Returns whether the action is an answer, a confirmation or an end: never on a key that users
 * type by reflex. */
bool keymap_is_grave(enum action a);
/* Writes keys as text: "C-x", "S-Tab", "F5"; and parses it. */
void keys_format(const struct keys *keys, char *out, size_t size);
int keys_parse(struct keys *ret, const char *text, const struct key *prefix);
