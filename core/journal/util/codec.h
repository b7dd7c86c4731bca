/* codec - encodes and decodes numbers and strings, for log records and small files of a store. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "core/base/buf.h"

void codec_put_u32(struct buf *b, uint32_t v);
void codec_put_u64(struct buf *b, uint64_t v);
void codec_put_str(struct buf *b, const char *s, size_t len);
struct codec_reader {
	const char *p, *end;
	bool bad;
};
uint32_t codec_get_u32(struct codec_reader *g);
uint64_t codec_get_u64(struct codec_reader *g);
struct span codec_get_str(struct codec_reader *g); /* NUL-terminated in place */
