/* listed - a policy as lists, for a sandbox that is built once and cannot ask later. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/policy/policy.h"
#include "core/policy/rules/rules.h"

/*
 * Borrowed strings are valid until the policy is freed or its rules change.
 * Threads: as the policy.
 */

/* ---- built-in lists -------------------------------------------------------------------------- */

/* A name that is protected in every working folder, wherever it appears; folded. */
struct policy_name {
	const char *name; /* ".bashrc"; "lefthook.*": with any text after the dot */
	/* NULL: a file. Else a directory, and its protected paths, separated by blanks. "*" at the
	 * end of a component matches any ending; "" is the whole directory. */
	const char *below;
	bool keep;  /* it may not be removed either */
	bool plain; /* a plain file of that name is not protected */
};
/* Gets the i-th name. Returns false after the last one. Files that git reads are not among them
 * (git_paths.h). */
bool policy_name_at(size_t i, struct policy_name *ret);

/* Returns the i-th path in a working folder that the host runs or obeys, found by policy_learn()
 * and policy_protect(); NULL after the last one. */
const char *policy_guarded_at(const struct policy *p, size_t i);
/* Returns the git directories with other names than .git. */
size_t policy_git_dirs(const struct policy *p, const char *const **ret);
/* Returns the paths in gated trees that are open without a rule, existing or not. */
size_t policy_usual(const struct policy *p, const char *const **ret);
/* Divides the list of policy_hidden(): a rule about a path uncovers the first *ret_uncoverable
 * ones; those up to *ret_final stay hidden whatever rules say; the rest come from rules. */
void policy_hidden_parts(const struct policy *p, size_t *ret_uncoverable, size_t *ret_final);

/* ---- rules ----------------------------------------------------------------------------------- */

/* One pattern of one rule. */
struct policy_line {
	const struct rule *rule;
	char *pattern;	/* absolute */
	unsigned depth; /* components with a name */
	unsigned literals, min, max;
	bool deep;  /* a double asterisk precedes its last name: the depth is a minimum */
	bool final; /* of the organisation: overrides all others */
};
/*
 * Returns the rules about paths that are in effect, in an order in which the last match decides. If
 * the order depends on the path (`deep`), rules that allow come too early and others too late: the
 * result is never looser than the policy. Allow rules with an end date are left out, because the
 * list is read only once.
 */
size_t policy_lines(const struct policy *p, struct policy_line **ret) MUST_USE;
/* Returns the rules of an untrusted project file. None of them allows. */
size_t policy_untrusted_lines(const struct policy *p, struct policy_line **ret) MUST_USE;
void policy_lines_free(struct policy_line *list, size_t n);
