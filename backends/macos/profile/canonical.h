/* canonical - the kernel's path of a file, also of one that does not exist yet. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "backends/macos/os.h"

/*
 * Resolves all links of a path. Seatbelt compares the path of the object, never the one that the
 * program wrote: a rule about /tmp has no effect, because /tmp is a link to /private/tmp. The part
 * of the path after the last existing directory stays as it is. /tmp, /var and /etc count as links
 * even if they cannot be read.
 *
 * path: absolute. Heap string, clean. -ELOOP: links form a loop; -EINVAL: path is not absolute.
 * os NULL: only /tmp, /var and /etc are resolved.
 */
int canonical_path(const struct mac_os *os, const char *path, char **ret) MUST_USE;
/* Makes a NULL-terminated list of canonical paths, sorted, none twice and none beneath another. If
 * a path cannot be resolved, returns its -errno. list may be NULL. util_free_list() of *ret. */
int canonical_list(const struct mac_os *os, const char *const *list, char ***ret, struct err *err)
	MUST_USE;
