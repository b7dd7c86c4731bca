/* path - functions on paths as text; none reads a file system. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/util.h"

/* Returns "a/b/c" for "a//b/./c/". Removes ".." as text; "/.." is "/". Heap; "" becomes ".". */
char *path_clean(const char *path) MUST_USE;
/* Returns dir + "/" + name, or name alone if it is absolute. Not cleaned. Heap string. */
char *path_join(const char *dir, const char *name) MUST_USE;
/* Returns whether path is dir or is below it. Both are absolute and clean. */
bool path_is_beneath(const char *path, const char *dir);
/* Returns the part of path below dir: "" for dir itself, NULL if path is not in it. Points into
 * path. */
const char *path_below(const char *path, const char *dir);
/* Returns whether path is below dir. Returns false for dir itself, and for every path if dir is
 * "/". */
bool path_is_inside(const char *path, const char *dir);
/* Renames *path, a heap string, if it is `from` or below it: `from` becomes `to`. Returns whether
 * it is. */
bool path_carry(char **path, const char *from, const char *to);
/* Returns whether path is one of the list or below one. The list ends with NULL, or is NULL. */
bool path_is_in(const char *path, const char *const *list);
/* Returns whether path is one of the list, or below or above one. */
bool path_meets(const char *path, const char *const *list);
/* For qsort(): entries of a directory come before it. "" and "." are above all relative paths. */
int path_deeper(const char *a, const char *b);
unsigned path_depth(const char *path); /* number of components of an absolute path */
/* Returns whether path begins with this component. */
bool path_begins(const char *path, const char *component);
/* Returns the directory that contains an absolute path; "/" for "/". Heap. */
char *path_dir(const char *path) MUST_USE;
/* Returns the last component (path has no trailing slashes). Points into path. */
const char *path_base(const char *path);
/* Returns the length of the saved file's path if path is a temporary name of a save ("x.tmp.123",
 * "x.tmp", "x~" for x); else 0. */
size_t path_saved_as(const char *path);
/* Returns "$HOME/x" for "~/x", and replaces a leading "~"; else a copy. Heap. */
char *path_expand_home(const char *path, const char *home) MUST_USE;
/* Returns a name for files about a place: its last component, made harmless, and a hash. Heap. */
char *path_label(const char *path) MUST_USE;
