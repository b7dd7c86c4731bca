/* path - names of places as text; nothing here looks at a file system. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/util.h"

/* "a//b/./c/" -> "a/b/c"; ".." is folded lexically; "/.." is "/". Heap string; "" becomes ".". */
char *path_clean(const char *path) MUST_USE;
/* dir + "/" + name, or name alone when it is absolute. Not cleaned. Heap string. */
char *path_join(const char *dir, const char *name) MUST_USE;
/* True when path is dir or lies below it. Both absolute and clean. */
bool path_is_beneath(const char *path, const char *dir);
/* What of path lies below dir: "" for dir itself, NULL when it is not beneath. Borrowed. */
const char *path_below(const char *path, const char *dir);
/* Is path dir, "/" and more? dir itself is not, nor is anything of "/". */
bool path_is_inside(const char *path, const char *dir);
/* For qsort(): what lies in a directory comes before it. "" and "." are above all relative ones. */
int path_deeper(const char *a, const char *b);
/* Last component (no trailing slashes expected). Borrowed. */
const char *path_base(const char *path);
/* Of a name that only carries the save of another file ("x.tmp.123", "x.tmp", "x~" of x): the
 * length of that file's path; else 0. */
size_t path_saved_as(const char *path);
/* "~/x" -> "$HOME/x" for a leading "~" or "~/"; else a copy. Heap string. */
char *path_expand_home(const char *path, const char *home) MUST_USE;
/* A name for a place, for files about it: its last component, made harmless, and a hash. Heap
 * string. */
char *path_label(const char *path) MUST_USE;
