/* git_paths - classifies paths below a git directory by their use in git on the host. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/policy/policy.h"

/*
 * Paths here are relative to the git directory, folded: "hooks/pre-commit" for
 * ".git/hooks/pre-commit". "" is the git directory itself.
 * Threads: no state.
 */
enum git_rule {
	GIT_DATA,     /* allowed, except links and whole directories */
	GIT_ASK,      /* leads git to another path: asked */
	GIT_MAKES,    /* would make a git directory of references: asked, mkdir too */
	GIT_HOOK,     /* a program: asked, except samples */
	GIT_CONFIG,   /* names programs: vetted when it is renamed into place, else asked */
	GIT_INDEX,    /* names paths that git writes: the same */
	GIT_REBASE,   /* names commands: the same */
	GIT_STRATEGY, /* names a program: the same */
	GIT_OPTIONS,  /* may name that program: the same */
	GIT_RERERE,   /* names files that git copies: the same */
	GIT_OBJECTS,  /* names other directories of objects: the same */
	GIT_SHALLOW,  /* names commits whose history git ignores: the same */
};

/* Returns the strictest verdict for a path below a git directory, including repositories below
 * modules/ and worktrees/. Sets *ret_reason with every verdict but ALLOW. */
enum policy_verdict git_path_check(enum policy_act act, const char *rest, const char **ret_reason);
/* Returns the kind of content that policy_vet_change() checks in a file of that name. */
enum policy_content git_path_content(const char *rest);
/*
 * For a name that matters only in a git directory, in a directory of any name: returns how many
 * components at the end of `folded` are below the possible git directory. 0: none.
 */
unsigned git_path_suspect(const char *folded);
