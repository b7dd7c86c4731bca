/* beside - files that are installed with this program. */
/* SPDX-License-Identifier: MIT */
#pragma once

/* Returns the real path of `given`; if that is NULL, of the file `name` beside this program or in
 * `dir`, a path relative to this program's directory. Heap; NULL: there is none. */
char *mac_beside(const char *given, const char *name, const char *dir);
