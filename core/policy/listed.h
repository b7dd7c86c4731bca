/* listed - a policy as lists, for a floor that is built once and can neither ask nor look again. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/policy/policy.h"
#include "core/policy/rules.h"

/*
 * What is lent lives as long as the policy does and its rules stay the same.
 * Threads: as the policy.
 */

/* ---- what is built in ------------------------------------------------------------------------ */

/* A name that is protected in every working folder, wherever it appears; folded. */
struct policy_name {
	const char *name;  /* ".bashrc"; "lefthook.*": and whatever follows the dot */
	const char *below; /* NULL: a file. Else a directory, and what of it is protected: paths
			    * separated by blanks, where "*" at the end of a component is any rest
			    * of it; "" is all of it */
	bool keep;	   /* nor is it taken away */
	bool plain;	   /* a plain file of that name is nothing to it */
};
/* False behind the last one. What git reads is not among them (git_paths.h). */
bool policy_name_at(size_t i, struct policy_name *ret);

/* Places in working folders that the host runs or obeys, found by policy_learn() and
 * policy_protect(). NULL behind the last one. */
const char *policy_guarded_at(const struct policy *p, size_t i);
/* Git directories that are not called so. */
size_t policy_git_dirs(const struct policy *p, const char *const **ret);
/* Open in gated trees without a rule, present or not. */
size_t policy_usual(const struct policy *p, const char *const **ret);
/* Of what policy_hidden() returns: the first ones, which a rule about the place uncovers, and
 * behind which those are that stay hidden whatever rules say. */
void policy_hidden_parts(const struct policy *p, size_t *ret_uncoverable, size_t *ret_final);

/* ---- rules ----------------------------------------------------------------------------------- */

/* One pattern of one rule. */
struct policy_line {
	const struct rule *rule; /* */
	char *pattern;		 /* absolute */
	unsigned depth;		 /* components that name something */
	unsigned literals, min, max;
	bool deep;  /* a double asterisk before its last name: the depth is the least one */
	bool final; /* the organisation's: decides over all others */
};
/*
 * The rules about paths that count now, in an order in which the last one that matches decides.
 * Where the order depends on the path (`deep`), rules that allow stand too far at the front and
 * others too far at the end: what comes of it is never looser than the policy. Allow rules that
 * end some day are left out: who reads the list does not look again.
 */
size_t policy_lines(const struct policy *p, struct policy_line **ret) MUST_USE;
/* The same of an untrusted project: nothing in it allows. */
size_t policy_untrusted_lines(const struct policy *p, struct policy_line **ret) MUST_USE;
void policy_lines_free(struct policy_line *list, size_t n);
