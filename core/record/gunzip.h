/* gunzip - a gzip file's bytes; libz is opened when it is first needed. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/buf.h"
#include "core/base/err.h"

/* Append what of [s, s+len) can be unpacked, at most max bytes. Positive: it is cut or damaged. */
int gunzip(const char *s, size_t len, size_t max, struct buf *out, struct err *err) MUST_USE;
