/* source - finds the text of a theme or keymap. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/buf.h"
#include "core/base/err.h"

/*
 * The user's own files come before built-in ones of the same name. A file in a working folder is
 * refused whatever its name: the agent can write it, and a keymap binds the keys that answer
 * questions about the agent.
 */
struct look_where {
	const char *dir; /* $XDG_CONFIG_HOME/cordon, or NULL: built-in ones alone */
	const char *const
		*folders; /* working folders, absolute and clean; NULL-terminated or NULL */
};

/* Appends the names of a kind, a line each: built-in ones, then the user's in dir/kinds/. */
void look_list(const char *kind, const struct look_where *where, struct buf *out);
/* Returns a number that changes when one of the user's themes or keymaps is changed, made or
 * removed. */
uint64_t look_signature(const struct look_where *where);
/* Reads a theme or keymap. kind: "theme" or "keymap". `name` is NAME of dir/kinds/NAME.ext or
 * dir/NAME.ext, a built-in one, or a path with a slash. *ret_file: its name for messages. Both are
 * on the heap. */
int look_source(const char *kind, const char *name, const struct look_where *where, char **ret,
		size_t *ret_len, char **ret_file, struct err *err) MUST_USE;
