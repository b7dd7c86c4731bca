/* redact - secrets are starred out before anything is written. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/err.h"

/*
 * Patterns: extended regular expressions (regex(7)), matched in each line; those of well-known
 *           tokens are built in. Every byte of a match becomes '*', so that columns stay.
 * Secrets:  whole texts that become known later, 64 of them.
 * Life:     redact_new() -> redact_free(). In between one thread may add secrets; any may use it.
 * Cost:     a pattern that begins with four or more plain characters is tried only where they are.
 */
struct redact;

int redact_new(struct redact **ret, const char *const *patterns, struct err *err) MUST_USE;
void redact_free(struct redact *r); /* NULL is a no-op */
/* Of 6 bytes or more: less would star out words. A full list keeps the newest out: false. */
bool redact_secret(struct redact *r, const char *text);
/* In place; s[len] must be writable and is left as it was. */
void redact_text(const struct redact *r, char *s, size_t len);
/* How many bytes at the end may become a secret with what follows: hold them back. */
size_t redact_open(const struct redact *r, const char *s, size_t len);
