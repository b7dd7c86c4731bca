/* protect_names - names of files that programs of the host run or obey later. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/*
 * An agent that cannot leave its sandbox can still leave a file that the host runs for it: a git
 * hook, a start-up file, an editor's task. These names are protected wherever they appear, whether
 * they exist or not. Files that run only at an explicit command of the user (Makefile,
 * package.json) are left out on purpose: protecting them would stop the agent's work.
 */
/* A name that is protected as a last component, at any depth. One that ends in ".*" stands for any
 * text after its first inner dot. */
struct protect_leaf {
	const char *name;
	const char *reason;
};

enum {
	PROTECT_KEEP = 1, /* removing it loosens a restriction too */
	PROTECT_WORKTREES =
		/* Each directory in its worktrees/ is treated as a working folder of its own. */
		2,
	PROTECT_LINKS = 4, /* links to programs of the host are harmless (policy_vet_link()) */
};

/*
 * A directory name below which paths are protected. below: paths separated by blanks. Each protects
 * itself, all paths under it, and (against being moved into place as a whole) its parents; "*" at
 * the end of a component matches any ending; "" protects everything. If below is not "" and the
 * tree has no PROTECT_KEEP, the program ignores a plain file of that name.
 */
struct protect_tree {
	const char *name;
	const char *below;
	int flags; /* PROTECT_* */
	const char *reason;
};

/* Reasons for names that are recognised by their form. */
extern const char protect_editor[], protect_interpreter[];

/* Return the entry of a component (n bytes, need not end there), or NULL. */
const struct protect_leaf *protect_find_leaf(const char *c, size_t n);
const struct protect_tree *protect_find_tree(const char *c, size_t n);
/* Returns the entry "mise.*" for "mise.local.toml", or NULL. */
const struct protect_leaf *protect_find_begun(const char *leaf);
/* Returns whether removing the file loosens a restriction, too. */
bool protect_leaf_keeps(const struct protect_leaf *l);
/* Returns whether the program ignores a plain file of that name. */
bool protect_tree_is_plain(const struct protect_tree *t);
