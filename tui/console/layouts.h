/* layouts - what the human has made of each size of the terminal, kept between sessions. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "tui/console/layout.h"

/*
 * Life:  layouts_load() -> layouts_put() ... -> layouts_save(). A file that cannot be read or makes
 *        no sense is none: a layout is no reason to stop.
 * Bound: LAYOUTS_MAX sizes, the oldest makes room.
 */
#define LAYOUTS_MAX 16

struct layouts {
	struct layouts_entry {
		int w, h;
		struct layout_wish wish;
	} list[LAYOUTS_MAX]; /* newest first */
	size_t n;
	struct layout_wish otherwise; /* of sizes of which nothing was made; zero is by size */
	bool changed;
};

void layouts_load(struct layouts *l, const char *file);
int layouts_save(const struct layouts *l, const char *file); /* -errno */
/* Of this size, else of the newest that would have the same layout by itself, else `otherwise`. */
struct layout_wish layouts_get(const struct layouts *l, int w, int h);
void layouts_put(struct layouts *l, int w, int h, const struct layout_wish *wish);
