/* sockets - well-known control sockets of a host, and the power that each one gives. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/util.h"

/* Returns what a process can do that connects to this path, in words for a warning; NULL: unknown.
 * Also knows sockets that this process's environment names. */
const char *sockets_words(const char *path);

/* Variables that name a socket: "SSH_AUTH_SOCK"... Ends with NULL. */
extern const char *const sockets_variables[];
/* Returns the path in the value of such a variable. Heap, absolute, clean; NULL: none. */
char *sockets_named(const char *variable, const char *value) MUST_USE;
/* Returns "VARIABLE=value" that names this path; heap. */
char *sockets_setting(const char *variable, const char *value, const char *path) MUST_USE;

/* Calls fn(data, path, words) for every known socket that exists. */
void sockets_each(void (*fn)(void *data, const char *path, const char *words), void *data);
