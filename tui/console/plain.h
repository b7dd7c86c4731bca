/* plain - prints a session's activity as lines of text, for screen readers and logs. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/session/model.h"

/* Life: plain_new() -> plain_tell() after each change of the model -> plain_free(). */
struct plain;

struct plain *plain_new(void) MUST_USE;
void plain_free(struct plain *p); /* NULL is a no-op */
/* Appends lines about changes of the model, about max bytes. Returns true if there are more. */
bool plain_tell(struct plain *p, const struct model *m, size_t max, struct buf *out);
