/* action - everything the user can do: one list for keymaps, help, hints and the manual. */
/* SPDX-License-Identifier: MIT */
#include "tui/look/action.h"

#include "core/base/util.h"

enum {
	LOCAL,
	GENERAL
};

static const struct {
	const char *name, *label, *help;
	bool general;
} actions[ACTION_COUNT] = {{"none", "", "", LOCAL},
#define X(id, name, where, label, help) {name, label, help, where},
			   ACTIONS(X)
#undef X
};

static const struct {
	const char *name, *title;
} places[PLACE_COUNT] = {
#define X(id, name, title) {name, title},
	PLACES(X)
#undef X
};

const char *action_name(enum action a)
{
	return actions[a].name;
}

const char *action_label(enum action a)
{
	return actions[a].label;
}

const char *action_help(enum action a)
{
	return actions[a].help;
}

bool action_is_general(enum action a)
{
	return actions[a].general;
}

enum action action_find(const char *name)
{
	for (int i = 1; i < ACTION_COUNT; i++) {
		if (str_eq(actions[i].name, name))
			return (enum action)i;
	}
	return ACTION_NONE;
}

const char *place_name(enum place p)
{
	return places[p].name;
}

const char *place_title(enum place p)
{
	return places[p].title;
}

int keys_place(const char *name)
{
	for (int i = 0; i < PLACE_COUNT; i++) {
		if (str_eq(places[i].name, name))
			return i;
	}
	return -1;
}
