/* p9_wire - the fields of 9P messages: little-endian numbers, and strings with a length. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <limits.h>

#include "core/base/buf.h"

/* Reading: what is beyond the end is 0 or "", and `bad` is set. */
struct p9_in {
	const uint8_t *at, *end;
	bool bad;
};

uint8_t p9_u8(struct p9_in *in);
uint16_t p9_u16(struct p9_in *in);
uint32_t p9_u32(struct p9_in *in);
uint64_t p9_u64(struct p9_in *in);
/* At most size - 1 bytes, none of them NUL; else bad. */
void p9_str(struct p9_in *in, char *out, size_t size);
/* The bytes themselves; NULL: there are fewer. */
const void *p9_bytes(struct p9_in *in, size_t len);

void p9_put_u8(struct buf *out, uint8_t v);
void p9_put_u16(struct buf *out, uint16_t v);
void p9_put_u32(struct buf *out, uint32_t v);
void p9_put_u64(struct buf *out, uint64_t v);
void p9_put_str(struct buf *out, const char *text); /* at most 65535 bytes of it */
