/* own_settings - settings of an agent for one folder only: a copy, below its cache. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/buf.h"
#include "core/base/err.h"

/*
 * A profile may name the variable that moves its agent's settings (settings-variable) and the files
 * to begin with (settings). A user who wants no change in the home folder says so once for a
 * folder. The user's own settings of the folder record that (sandbox.own-settings, "PROFILE ID"):
 * from the next start on the variable leads to `own/PROFILE-ID` below the cache. The agent may
 * write there as it likes, and nothing on the host reads it. The copy is made at the first start
 * that finds none, before the agent runs. Files that the agent may not read are not copied, and
 * links are not followed. ID is random, chosen when the user answers, so no agent can have made the
 * directory before. Where many programs obey the variable (XDG_CONFIG_HOME/opencode), links beside
 * the copy lead to the settings of the other programs.
 */
struct config;
struct policy;

/* Returns whether the profile names a variable, there is a cache, and the settings are still
 * shared. */
bool own_settings_offered(const struct config *c);
/* Returns the directory below the cache; heap, NULL: the settings are shared. */
char *own_settings_dir(const struct config *c) MUST_USE;
/* Returns "NAME=$CORDON_CACHE/DIR", for env_set(). Heap. */
char *own_settings_env(const struct config *c, const char *dir) MUST_USE;
/* Makes the copy, unless it exists. Adds the files that were left out to `left`, separated by ",
 * ". */
int own_settings_make(const struct config *c, const struct policy *policy, const char *cache,
		      const char *dir, struct buf *left, struct err *err) MUST_USE;
/* Remembers the choice for the folder and the profile; config_home as in struct config_spec. */
int own_settings_save(const char *home, const char *config_home, const char *folder,
		      const char *profile, struct err *err) MUST_USE;
