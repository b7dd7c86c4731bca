/* gunzip - unpacks gzip files; libz is opened when needed. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/buf.h"
#include "core/base/err.h"

/* Appends the unpacked bytes of [s, s+len), at most max. Returns a positive number if the data is
 * cut or damaged. */
int gunzip(const char *s, size_t len, size_t max, struct buf *out, struct err *err) MUST_USE;
