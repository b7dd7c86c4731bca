/* load_priv - what reading `[rule]` sections of the settings and running the tests in them have in
 * common. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/buf.h"
#include "core/config/config.h"
#include "core/policy/policy_priv.h"
#include "core/policy/rules/pattern.h"

struct loader {
	const struct rules_scope *scope;
	rules_on_error on_error;
	void *data;
	struct links *links;
	bool changed;	     /* the project's file was trusted with another content */
	bool bundle_allowed; /* the section's ask lines (bundle.c) */
	size_t errors;
	struct rules *at; /* where the last pattern was placed, and what its base was */
	enum link_place what;
	struct buf whole;  /* a pattern behind a place */
	const char *place; /* that it begins with, quoted: so many bytes of it */
	size_t quoted;
};

/* Counts an error in a line of the settings, and hands it to the caller's function. */
void loader_complain(struct loader *l, const struct config_rule *at, const char *fmt, ...)
	PRINTF_LIKE(3, 4);

/* Returns a pattern behind a place that is taken literally and stays where it is while l is used.
 * The loader owns the result, until the next call. */
const char *loader_behind(struct loader *l, const char *place, const char *rest);

typedef bool (*on_pattern)(void *data, const char *pattern, const char **why);

/* Calls on() for each pattern that a leading `~`, variable or double asterisk stands for. Returns
 * false, with *why, if there is no such variable or on() returns false. */
bool loader_expand(struct loader *l, const char *text, on_pattern on, void *data, const char **why);
