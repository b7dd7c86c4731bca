/* written - the places that rules and answers let the agent write, for programs outside. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/err.h"
#include "core/policy/answer.h"

struct config;
struct rules_scope;

/*
 * A program that runs outside the sandbox must not be a file of the agent's (core/base/external.h).
 * Rules and answers change during a session, and a file that the agent wrote stays when the rule is
 * gone: so a place counts from the first rules that let the agent write it until the process ends.
 *
 * The processes of a session share a log in a file without a name. The keeper appends rules and
 * answers before they have an effect; cordon, the broker and the approver read it at each question.
 * A process that cannot read or append takes each place for a written one from then on.
 *
 * Restrictions of settings count, and decide as rules.h says. Those of an untrusted file, of an
 * answer, or with an end do not, because the agent may write there later.
 *
 * Life:    the process's. Threads: one.
 */

/* Makes the log, once: before the fork of a process that asks or appends. */
int written_share(struct err *err) MUST_USE;
/* Returns the log's descriptor, for processes that close all others; -1: there is none. */
int written_fd(void);

/* Adds the rules of settings. Leaves out wrong ones. */
int written_add_rules(const struct config *c, const struct rules_scope *scope, struct err *err)
	MUST_USE;
/* Adds an answer about answer_object(). Any other object is no path, and is left out. */
int written_add_answer(const char *object, enum answer_extent extent, struct err *err) MUST_USE;
/* Adds absolute patterns; NULL-terminated. */
int written_add_patterns(const char *const *patterns, struct err *err) MUST_USE;

/* Returns whether the agent may write this path, or could earlier. Absolute and clean. */
bool written_by_agent(const char *path);
