/* windows_overlay - modes and symbolic links of a folder whose file system has none. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <sys/types.h>

#include "core/base/buf.h"
#include "core/base/hash.h"

/*
 * A table from paths, relative to the folder, to what the guest has set. It is kept outside the
 * folder as lines of text, one for each path:
 *
 *   m 0755 bin/tool
 *   l 0777 lib/current -> v2
 *
 * Bytes below 33, '%' and '>' are written as %XX. Paths are found as Windows finds names: letters
 * of both cases are the same.
 */
struct windows_entry {
	char *key;  /* folded */
	char *path; /* as it was set */
	mode_t mode;
	char *target; /* of a symbolic link; NULL: none */
	UT_hash_handle hh;
};

struct windows_overlay {
	struct windows_entry *by_key;
	size_t n;
};

#define WINDOWS_ENTRIES_MAX 1000000

void windows_overlay_done(struct windows_overlay *o);
/* -EILSEQ, -ENOSPC. target NULL: it is no link. */
int windows_overlay_set(struct windows_overlay *o, const char *path, mode_t mode,
			const char *target);
/* NULL: nothing was set, windows_default_mode() says. Valid until the next change. */
const struct windows_entry *windows_overlay_get(const struct windows_overlay *o, const char *path);
/* The path and all below it. */
void windows_overlay_remove(struct windows_overlay *o, const char *path);
int windows_overlay_rename(struct windows_overlay *o, const char *from, const char *to);
void windows_overlay_format(const struct windows_overlay *o, struct buf *out);
/* Adds what the text says. -EBADMSG: a line is none; *ret_line is its number, from 1. */
int windows_overlay_parse(struct windows_overlay *o, const char *text, size_t *ret_line);
