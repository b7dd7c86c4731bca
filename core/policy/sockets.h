/* sockets - control sockets of a host that are known by name, and what each gives away. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/util.h"

/* What whoever connects to this path can do, in words for a warning; NULL: it is not known. Also
 * known is what a variable of this process's environment names. */
const char *sockets_words(const char *path);

/* The variables that tell programs where a socket is: "SSH_AUTH_SOCK"... Ends with NULL. */
extern const char *const sockets_variables[];
/* The path that such a variable's value names. Heap, absolute, clean; NULL: it names none. */
char *sockets_named(const char *variable, const char *value) MUST_USE;
/* "VARIABLE=value" that names this path; heap. */
char *sockets_setting(const char *variable, const char *value, const char *path) MUST_USE;

/* Every known socket that is there: fn(data, path, words). */
void sockets_each(void (*fn)(void *data, const char *path, const char *words), void *data);
