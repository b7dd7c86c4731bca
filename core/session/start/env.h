/* env - builds the environment of the agent from an allow list. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/util.h"

/*
 * Variables contain tokens, sockets of agents and code for interpreters, so only names that are
 * known to be harmless pass, with values that are plain text. `extra` (may be NULL,
 * NULL-terminated) names more: "NAME", or "PREFIX_*". Adds CORDON=1 and CORDON_SESSION. Heap,
 * NULL-terminated; free each string and the array.
 */
char **env_scrub(char *const *environ, const char *const *extra, const char *session) MUST_USE;
/*
 * Puts `settings`, "NAME=VALUE" (NULL-terminated, or NULL), into env, as env_scrub() made it, in
 * place of variables of the same names. With a cache, also sets CORDON_CACHE, and replaces
 * "$CORDON_CACHE" in values; without one, settings with it are left out.
 */
char **env_set(char **env, const char *const *settings, const char *cache) MUST_USE;
/* Adds a setting for git (git-config(1), GIT_CONFIG_COUNT) after those in env, which overrides
 * every file. Takes env over and returns it. */
char **env_add_git(char **env, const char *key, const char *value) MUST_USE;
/* Puts the directory of front ends for find, rm and the like first in PATH (tools.safe); dir NULL:
 * none. Takes env over. */
char **env_add_tools(char **env, const char *dir, const char *mode, const char *const *folders)
	MUST_USE;
/*
 * For an agent in a pane of the console: sets TERM for the pane, and removes variables that name or
 * measure the terminal around it. Takes env over and returns it.
 */
char **env_in_pane(char **env) MUST_USE;
