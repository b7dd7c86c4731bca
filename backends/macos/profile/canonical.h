/* canonical - the name by which the kernel knows a place, also of one that is not there yet. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "backends/macos/os.h"

/*
 * Seatbelt compares the path of the object, never the one that the program wrote: a rule about /tmp
 * is about nothing, for /tmp is a link to /private/tmp. Every link on the way is followed; what
 * follows the last directory that is there stays as it is. /tmp, /var and /etc are known to be
 * links even where they cannot be looked at.
 *
 * path: absolute. Heap string, clean. -ELOOP: links lead to each other; -EINVAL: path is not
 * absolute. os NULL: only the links that are known.
 */
int canonical_path(const struct mac_os *os, const char *path, char **ret) MUST_USE;
/* A NULL-terminated list of them, sorted, nothing twice and nothing beneath another; what cannot be
 * named is -errno. list may be NULL. util_free_list() of *ret. */
int canonical_list(const struct mac_os *os, const char *const *list, char ***ret, struct err *err)
	MUST_USE;
