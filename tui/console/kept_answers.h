/* kept_answers - answers for this session, over a restart of the agent. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/session/model.h"

/*
 * A restart begins a new session in the same process (exec), which is the same session to the user.
 * Answers for the session are carried over in an unlinked file, whose descriptor number is in the
 * environment. When a question comes again, its kept answer is given as if by the user: with the
 * same refusals and the same line in the audit log.
 * Life: kept_answers_open(), before the host is forked -> in the host kept_answers_find() for each
 * question, kept_answers_write() at the end -> in its client kept_answers_leave() before exec.
 */
#define KEPT_MAX 256

struct kept_answers;
/* Reads the former program's answers, and makes the file for the next program; exec closes it. */
struct kept_answers *kept_answers_open(void) MUST_USE;
void kept_answers_free(struct kept_answers *k); /* NULL is a no-op */
/* Returns whether this question has a kept answer, in *ret. */
bool kept_answers_find(const struct kept_answers *k, const struct ask *ask, struct answer *ret);
void kept_answers_write(const struct kept_answers *k, const struct model *m);
/* Passes the file to the next program that this process executes. */
void kept_answers_leave(const struct kept_answers *k);
