/* tool_homes - directories of the home folder in which tools keep caches, settings and programs. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stddef.h>

#include "core/base/util.h"

struct config;
struct rules;
struct rules_scope;

/*
 * A value of sandbox.tool-home:
 *
 *   ~/.cargo CARGO_HOME=$CORDON_CACHE/cargo   the directory, and the variable that moves it
 *   ~/.rustup                                 a tool that no variable moves
 *   ~/.cache/ XDG_CACHE_HOME=$CORDON_CACHE/xdg  a directory of many programs
 *   ~/.tool/store +TOOL_STORE=$CORDON_CACHE/tool  a variable that names the directory in any case,
 *                                             for a tool that would choose another one inside
 *
 * A variable that the user has set to an absolute path replaces the directory of its row.
 */
struct tool_home {
	char *path;	     /* absolute and clean; heap */
	const char *setting; /* "NAME=VALUE", or NULL; borrowed from the configuration */
	bool shared;	     /* used by many programs: empty at first inside */
	bool named;	     /* its variable is set even if the directory is not moved */
};

/* Reads the rows. Returns their number; *ret is heap, for tool_homes_free(). */
size_t tool_homes_read(const struct config *c, const char *home, struct tool_home **ret);
void tool_homes_free(struct tool_home *list, size_t n);
/* Adds a rule for each existing directory: it may be read and run, with all below it. A link to
 * another place of the user is followed, unless it leads into a working folder. */
void tool_homes_grant(struct rules *r, const struct config *c, const struct rules_scope *scope);
