/* learned - what a run has asked for, put together into rules for a human to look through. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/buf.h"
#include "core/session/model.h"

/*
 * Life:    learned_new() -> learned_note() for every request -> learned_rules() -> learned_free().
 * Threads: one owner.
 * Bounds:  LEARNED_MAX places; what comes later is only counted.
 */
#define LEARNED_MAX 20000

struct learned;

/* home: absolute; rules say `~/` for it. command: what is learned about. Both are copied. */
struct learned *learned_new(const char *home, const char *command) MUST_USE;
void learned_free(struct learned *l); /* NULL is a no-op */

/* Reading and running what is no secret is let through while it is learned; the rest is only noted:
 * changes elsewhere, and sockets of the host, are not for a machine to allow. */
bool learned_allows(const struct ask *ask);
void learned_note(struct learned *l, const struct ask *ask);
size_t learned_count(const struct learned *l);
/* A settings file: one rule for what was let through, with whole directories where several files
 * of one were read, and comments about what was not. */
void learned_rules(struct learned *l, struct buf *out);
