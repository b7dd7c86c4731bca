/* load_priv - shared by the code that reads `[rule]` sections of the settings, and their tests. */
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
	bool changed;	     /* the project's file has changed after it was trusted */
	bool bundle_allowed; /* answer for the section's ask lines (bundle.c) */
	size_t errors;
	struct rules *at; /* set of the last placed pattern, and type of its directory */
	enum link_place what;
	struct buf whole;  /* the result of loader_behind() */
	const char *place; /* its first part, quoted: `quoted` bytes of it */
	size_t quoted;
};

/* Counts an error in a line of the settings, and passes it to the caller's function. */
void loader_complain(struct loader *l, const struct config_rule *at, const char *fmt, ...)
	PRINTF_LIKE(3, 4);

/* Returns a pattern below a literal path. The path must stay valid while l is used. The loader owns
 * the result, until the next call. */
const char *loader_behind(struct loader *l, const char *place, const char *rest);

typedef bool (*on_pattern)(void *data, const char *pattern, const char **why);

/* Calls on() for each pattern that a leading `~`, variable or double asterisk expands to. Returns
 * false, with *why, if there is no such variable or on() returns false. */
bool loader_expand(struct loader *l, const char *text, on_pattern on, void *data, const char **why);
