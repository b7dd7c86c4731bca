/* learned - turns the requests of a run into rules for the user to review. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/buf.h"
#include "core/session/model.h"

/*
 * Life:    learned_new() -> learned_note() for every request -> learned_rules() -> learned_free().
 * Threads: one owner.
 * Bounds:  LEARNED_MAX places; later ones are only counted.
 */
#define LEARNED_MAX 20000

struct learned;

/* home: absolute; rules write it as `~/`. command: the command of the run. Both are copied. */
struct learned *learned_new(const char *home, const char *command) MUST_USE;
void learned_free(struct learned *l); /* NULL is a no-op */

/* Returns whether a request is allowed while learning: reading or running a file that is not
 * secret. Changes elsewhere and sockets of the host are only noted; they need a person's answer. */
bool learned_allows(const struct ask *ask);
void learned_note(struct learned *l, const struct ask *ask);
size_t learned_count(const struct learned *l);
/* Appends a settings file: one rule for the allowed requests, with whole directories where several
 * files of one were read, and comments about the others. */
void learned_rules(struct learned *l, struct buf *out);
