/* env - the environment that the agent gets: an allow list, not the human's own. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/util.h"

/*
 * Variables carry tokens, sockets of agents and code for interpreters to run, so only names that
 * are known to be harmless pass, with values that are plain text. `extra` (may be NULL,
 * NULL-terminated) names more: "NAME", or "PREFIX_*". Added: CORDON=1 and CORDON_SESSION. Heap,
 * NULL-terminated; free each string and the array.
 */
char **env_scrub(char *const *environ, const char *const *extra, const char *session) MUST_USE;
/*
 * `settings` (NULL-terminated, or NULL) are "NAME=VALUE": put into env, as env_scrub() made it,
 * instead of what has that name. With a cache CORDON_CACHE is set too, and "$CORDON_CACHE" at the
 * head of a value stands for it; without one such settings are left out.
 */
char **env_set(char **env, const char *const *settings, const char *cache) MUST_USE;
/* Front ends for find, rm and the like, first in PATH (tools.safe); dir NULL: none. Takes env over.
 */
char **env_add_tools(char **env, const char *dir, const char *mode, const char *const *folders)
	MUST_USE;
/*
 * For an agent whose terminal is the console's pane: TERM says what that understands, and what
 * names or measures the terminal around it is taken out. Takes env, gives it back.
 */
char **env_in_pane(char **env) MUST_USE;
/* Is this name on the allow list? */
bool env_name_passes(const char *name, size_t len, const char *const *extra);
