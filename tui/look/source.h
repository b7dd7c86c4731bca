/* source - where the text of a theme or keymap comes from. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/buf.h"
#include "core/base/err.h"

/*
 * The human's own files come before the built-in ones of the same name. What lies in a working
 * folder is refused whatever its name: the agent can write there, and a keymap is what answers
 * questions about the agent.
 */
struct look_where {
	const char *dir; /* $XDG_CONFIG_HOME/cordon, or NULL: built-in ones alone */
	const char *const
		*folders; /* working folders, absolute and clean; NULL-terminated or NULL */
};

/* Names of a kind that there are, a line each: what is shipped, then those in dir/kinds/. */
void look_list(const char *kind, const struct look_where *where, struct buf *out);
/* Another number when a theme or keymap of the human's was changed, made or removed. */
uint64_t look_signature(const struct look_where *where);
/*
 * kind: "theme" or "keymap". `name` is NAME of dir/kinds/NAME.ext or dir/NAME.ext, a built-in one,
 * or a path with a slash. *ret_file is what messages call it. Both on the heap.
 */
int look_source(const char *kind, const char *name, const struct look_where *where, char **ret,
		size_t *ret_len, char **ret_file, struct err *err) MUST_USE;
