/* git_paths - what git on the host does with each path below a git directory. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/policy/policy.h"

/*
 * Paths here are what follows the git directory, folded: "hooks/pre-commit" for
 * ".git/hooks/pre-commit". "" is the git directory itself.
 * Threads: no state.
 */
enum git_rule {
	GIT_DATA,     /* data: allowed, but neither links nor whole directories */
	GIT_ASK,      /* it leads git somewhere else: asked */
	GIT_MAKES,    /* it would make a git directory of references: asked, mkdir too */
	GIT_HOOK,     /* a program: asked, but for samples */
	GIT_CONFIG,   /* names programs: vetted when it is renamed into place, else asked */
	GIT_INDEX,    /* names paths that git writes: the same */
	GIT_REBASE,   /* names commands: the same */
	GIT_STRATEGY, /* names a program: the same */
	GIT_OPTIONS,  /* may name that program: the same */
	GIT_RERERE,   /* names files that git reads: the same */
};

/* The rule for a path of one git directory, and what git does with it. */
enum git_rule git_path_rule(const char *rest, const char **ret_does);
/* The strictest verdict for a path below a git directory; repositories below modules/ and
 * worktrees/ are looked at as well. *ret_reason is set with every verdict but ALLOW. */
enum policy_verdict git_path_check(enum policy_act act, const char *rest, const char **ret_reason);
/* What policy_vet_change() has to look at in a file of that name. */
enum policy_content git_path_content(const char *rest);
/*
 * A name that matters only in a git directory, in a directory whose name says nothing: returns how
 * many components of `folded`, from its end, are below what would be the git directory. 0: none.
 */
unsigned git_path_suspect(const char *folded);
