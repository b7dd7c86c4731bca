/* mask - replaces secrets in a stream of bytes by stars. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/buf.h"

/*
 * The length stays, so the lengths in heads and chunks stay valid. A secret may be split anywhere:
 * final bytes that may begin one are held back until more bytes come, or mask_end(). If the rest
 * comes after that, the rest is starred. Other forms of a secret (compressed, encoded, in pieces)
 * are not found.
 *
 * Life: all zeros, with held = BUF_INIT -> mask_feed()... -> mask_done().
 */
struct mask {
	struct buf held;
	size_t past; /* bytes at the front of it that have passed */
};

/* Appends the bytes that may pass to out. secrets: n strings; NULL: unknown. Returns the number of
 * starred secrets. */
size_t mask_feed(struct mask *m, const char *const *secrets, size_t n, const char *data, size_t len,
		 struct buf *out);
bool mask_holds(const struct mask *m);		/* bytes that have not passed */
void mask_end(struct mask *m, struct buf *out); /* call it at the end of the bytes, or at a pause */
void mask_done(struct mask *m);
