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
	GIT_DATA,     /* data: allowed, but neither links nor whole directories */
	GIT_ASK,      /* it leads git to another place: asked */
	GIT_MAKES,    /* it would make a git directory of references: asked, mkdir too */
	GIT_HOOK,     /* a program: asked, but for samples */
	GIT_CONFIG,   /* names programs: vetted when it is renamed into place, else asked */
	GIT_INDEX,    /* names paths that git writes: the same */
	GIT_REBASE,   /* names commands: the same */
	GIT_STRATEGY, /* names a program: the same */
	GIT_OPTIONS,  /* may name that program: the same */
	GIT_RERERE,   /* names files that git reads: the same */
	GIT_OBJECTS,  /* names other directories of objects: the same */
	GIT_SHALLOW,  /* names commits before which git finds no history: the same */
};

/* Returns the rule for a path of one git directory, and its use by git. */
enum git_rule git_path_rule(const char *rest, const char **ret_does);
/* Returns the strictest verdict for a path below a git directory, repositories below modules/ and
 * worktrees/ included. *ret_reason is set with every verdict but ALLOW. */
enum policy_verdict git_path_check(enum policy_act act, const char *rest, const char **ret_reason);
/* Returns the kind of content that policy_vet_change() checks in a file of that name. */
enum policy_content git_path_content(const char *rest);
/*
 * For a name that matters only in a git directory, in a directory with any name: returns how many
 * components at the end of `folded` are below the possible git directory. 0: none.
 */
unsigned git_path_suspect(const char *folded);
