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
		 struct err *err) MUST_USE; /* empty at first, unless the text inherits */
/* Replaces the file's prefix; *km is unchanged on failure. */
int keymap_set_prefix(struct keymap *km, const char *keys, struct err *err) MUST_USE;
void keymap_free(struct keymap *km);

struct keymap_state {
	struct keys typed;
};

enum keymap_result {
	KEYMAP_NONE,	/* the keys have no action here; the state is reset */
	KEYMAP_PENDING, /* the keys begin a longer sequence */
	KEYMAP_FOUND,	/* *ret_action */
};

/* In PLACE_TERMINAL a key outside a sequence that is not the prefix returns KEYMAP_NONE: it is the
 * agent's. */
enum keymap_result keymap_feed(const struct keymap *km, struct keymap_state *st, enum place place,
			       struct key key, enum action *ret_action);

/* Returns the action of this one key in the place itself; ACTION_NONE if it has none or begins a
 * longer sequence. */
enum action keymap_single(const struct keymap *km, enum place place, struct key key);
/* Writes the first keys of an action as seen from a place: "g g", "C-] a". Returns false if it has
 * none. */
bool keymap_keys_of(const struct keymap *km, enum place place, enum action a, char *out,
		    size_t size);
/* Returns whether the place itself has keys for the action. */
bool keymap_binds(const struct keymap *km, enum place place, enum action a);
/* Returns whether the action is an answer, a confirmation or an end. These are never on a key that
 * users type by reflex. */
bool keymap_is_grave(enum action a);
/* Write keys as text ("C-x", "S-Tab", "F5"), and parse it. */
void keys_format(const struct keys *keys, char *out, size_t size);
int keys_parse(struct keys *ret, const char *text, const struct key *prefix);
