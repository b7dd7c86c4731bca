/* gif - writes an animated GIF, a picture at a time. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/err.h"
#include "tui/look/surface.h"

/*
 * Life:   gif_new() -> gif_frame() ... -> gif_free(), which ends the file.
 * Time:   of a picture: microseconds from the start, growing. GIF counts hundredths of a second;
 * the rounding error is added to the next picture. Colour: up to 256 in a picture are exact; with
 * more, each is the nearest of xterm's. Errors: negative errno of a write; all later calls return
 * the same.
 */
struct gif;

/* w, h: size of all pictures, at most 65535 each; fd: borrowed. */
struct gif *gif_new(int fd, int w, int h) MUST_USE;
/* Sets the pixels of r (0xRRGGBB, row by row) from t_us on. */
int gif_frame(struct gif *g, int64_t t_us, struct rect r, const uint32_t *rgb) MUST_USE;
size_t gif_bytes(const struct gif *g); /* written so far */
/* Ends the file: the last picture stays until t_us, then the animation restarts. Frees g. */
int gif_end(struct gif *g, int64_t t_us) MUST_USE;
