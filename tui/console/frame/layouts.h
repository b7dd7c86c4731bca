/* layouts - stores the user's layout for each size of the terminal. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "tui/console/frame/layout.h"

/*
 * Life:  layouts_load() -> layouts_put() ... -> layouts_save(). An unreadable or invalid file is
 *        ignored: a layout is no reason to fail.
 * Bound: LAYOUTS_MAX sizes; the oldest is replaced.
 */
#define LAYOUTS_MAX 16

struct layouts {
	struct layouts_entry {
		int w, h;
		struct layout_wish wish;
	} list[LAYOUTS_MAX]; /* newest first */
	size_t n;
	struct layout_wish otherwise; /* for sizes without an entry; zeroed: by size */
	bool changed;
};

void layouts_load(struct layouts *l, const char *file);
int layouts_save(const struct layouts *l, const char *file); /* -errno */
/* Returns the wish for this size; else the newest entry's with the same default layout; else
 * `otherwise`. */
struct layout_wish layouts_get(const struct layouts *l, int w, int h);
void layouts_put(struct layouts *l, int w, int h, const struct layout_wish *wish);
