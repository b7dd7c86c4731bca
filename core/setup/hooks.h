/* hooks - adds cordon's hook to the JSON settings of an agent, and removes it. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/err.h"

struct setup_hook {
	const char *what;    /* "hook of Claude Code" */
	const char *event;   /* "PreToolUse" */
	const char *matcher; /* which tools; a pattern in the agent's own syntax */
	const char *command; /* "cordon hook --agent codex" */
	int timeout;	     /* in the agent's unit: seconds, or milliseconds */
	const char *after;   /* the user's next step, or NULL */
};

#define HOOKS_MAX_BYTES (4u << 20) /* of a settings file */

/*
 * Adds the hook. *ret: the settings with the hook, as text (heap); NULL: they have it already. text
 * NULL: there are no settings yet. Returns -EINVAL if text is not JSON, or not in the documented
 * form of the agent; err has the place.
 */
int hooks_merge(char **ret, const char *text, const struct setup_hook *hook, struct err *err)
	MUST_USE;
/* Removes all hooks that run `cordon hook`. *ret: the new settings, "{}" if none are left; NULL:
 * there was no hook. */
int hooks_remove(char **ret, const char *text, struct err *err) MUST_USE;
