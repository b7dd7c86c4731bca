/* hooks - cordon's hook in an agent's JSON settings: merged into them, and taken out. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/err.h"

struct setup_hook {
	const char *what;    /* "hook of Claude Code" */
	const char *event;   /* "PreToolUse" */
	const char *matcher; /* which tools; a pattern in the agent's own syntax */
	const char *command; /* "cordon hook --agent codex" */
	int timeout;	     /* in the agent's unit: seconds, or milliseconds */
	const char *after;   /* what the user does then, or NULL */
};

#define HOOKS_MAX_BYTES (4u << 20) /* of a settings file */

/*
 * *ret: the settings with the hook, as text (heap); NULL: it is there already. text NULL: there are
 * no settings yet. -EINVAL: not JSON, or not of the form that the agent documents; err says where.
 */
int hooks_merge(char **ret, const char *text, const struct setup_hook *hook, struct err *err)
	MUST_USE;
/* The settings without any hook that runs `cordon hook`. *ret NULL: there was none. "{}" is left of
 * settings that hold nothing else. */
int hooks_remove(char **ret, const char *text, struct err *err) MUST_USE;
