/* redact - replaces secrets by stars before text is written. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/err.h"

/*
 * Patterns: extended regular expressions (regex(7)), matched in each line; well-known tokens are
 *           built in. Every byte of a match becomes '*', so that columns stay.
 * Colours:  sequences (SGR) in the middle of a match stay, and the rest is starred.
 * Secrets:  whole texts that are added later, at most 64.
 * Life:     redact_new() -> redact_free(). In between one thread may add secrets; any may use it.
 * Cost:     a pattern that begins with four or more plain characters is tried only where they are.
 */
struct redact;

int redact_new(struct redact **ret, const char *const *patterns, struct err *err) MUST_USE;
void redact_free(struct redact *r); /* NULL is a no-op */
/* Adds a secret; ignores one below 6 bytes, which would star out words. Returns false if the list
 * is full. */
bool redact_secret(struct redact *r, const char *text);
/* Stars out text in place; s[len] must be writable, and is left unchanged. */
void redact_text(const struct redact *r, char *s, size_t len);
/* Returns a starred copy; r NULL: a plain copy. Heap. */
char *redact_copy(const struct redact *r, const char *s) MUST_USE;
/* Returns how many bytes at the end may become a secret with the next text: hold them back. */
size_t redact_open(const struct redact *r, const char *s, size_t len);
